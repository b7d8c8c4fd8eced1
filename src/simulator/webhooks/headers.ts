import { Refusal } from "../refusal.ts";

const MOST_HEADERS = 20;
const MOST_BYTES = 8_192;
const LEGAL_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LEGAL_VALUE = /^(?![ \t])[\t\x20-\x7e\x80-\xff]*(?<![ \t])$/;

/** Headers by which HTTP itself finds the end of a request and its destination. */
const reserved: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Checks custom delivery headers (docs/internals/service.md, WHK-45): at most 20 and 8 kB,
 * legal names and values, no name twice, none that HTTP needs for itself. Throws
 * INVALID_ARGUMENT.
 */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers);
  if (entries.length > MOST_HEADERS) throw invalid(`${entries.length} of them; at most ${MOST_HEADERS}`);
  const bytes = entries.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  if (bytes > MOST_BYTES) throw invalid(`${bytes} bytes in all; at most ${MOST_BYTES}`);
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (!LEGAL_NAME.test(name)) throw invalid(`${JSON.stringify(name)} is no header name`);
    if (!LEGAL_VALUE.test(value)) throw invalid(`${name} has a value that no header can have`);
    if (reserved.has(lower)) throw invalid(`${name} is not for clients to set`);
    if (seen.has(lower)) throw invalid(`${name} is there twice`);
    seen.add(lower);
  }
}

/** All headers of a delivery: the service's own win, in whatever case a custom one is written. */
export function deliveryHeaders(
  custom: Readonly<Record<string, string>>,
  subscriptionId: string,
  eventId: string,
): Record<string, string> {
  const own: Record<string, string> = {
    "X-Service-Webhook-Id": subscriptionId,
    "X-Service-Webhook-Event-Id": eventId,
    "Content-Type": "application/json",
  };
  const ownNames = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = Object.entries(custom).filter(([name]) => !ownNames.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...own };
}

function invalid(message: string): Refusal {
  return new Refusal("INVALID_ARGUMENT", `options.headers: ${message}`);
}
