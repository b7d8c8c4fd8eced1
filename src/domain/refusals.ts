import { clip, quoted } from "./clip.ts";
import { ending, type Outcome, refusal } from "./outcome.ts";

/** What is wrong with a request: where (a field path, or "") and what would be right. */
interface Fault {
  readonly path: string;
  readonly message: string;
}

const LONGEST_PATH = 200;

/** The refusal of a malformed request, in the same words for every protocol. */
export function badRequest({ path, message }: Fault): Outcome {
  return refusal(
    "MALFORMED",
    `${clip(path === "" ? "request" : `request.${path}`, LONGEST_PATH)}: ${message}`,
  );
}

export function unknownOperation(name: string): Outcome {
  return refusal("UNKNOWN_OPERATION", `there is no operation ${quoted(name)}`);
}

/** Quotes the name as it was written. */
export function unknownRobot(name: string): Outcome {
  return refusal("UNKNOWN_ROBOT", `robot ${quoted(name)} was never heard of`);
}

/** The same words for every protocol, with the id as its sender gave it. */
export function identityReused(requestId: string): Outcome {
  return refusal("IDENTITY_REUSED", `request id ${quoted(requestId)} was used before for another command`);
}

const notPlain = /[\p{Cc}\p{Surrogate}]/u;

/** Whether it can be a name or an id that a sender chose: text that a log and a topic can show. */
export function isPlainText(value: unknown, most: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= most && !notPlain.test(value);
}

const LONGEST_EXPIRY_MS = 86_400_000;

/** Whether it can be the expiry of a command. */
export function isExpiryTime(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= LONGEST_EXPIRY_MS;
}

export const expiryTimeFault = `expires_in_ms: must be a whole number of milliseconds, 1 to ${LONGEST_EXPIRY_MS}`;

/** In characters, for every protocol. */
const LONGEST_REQUEST_ID = 128;
const requestIdText = /^[\x20-\x7e]{1,128}$/;

export function isRequestId(id: unknown): id is string {
  return typeof id === "string" && requestIdText.test(id);
}

/** What is wrong with a value that is no request id. */
export function requestIdFault(id: unknown): string {
  if (id === undefined || id === null) return "id: is missing";
  return `id: must be 1 to ${LONGEST_REQUEST_ID} printable ASCII characters`;
}

/** A refusal of a message whose request id is that of an earlier command, which may have been sent. */
export function idStands({ code, message }: Outcome): Outcome {
  return refusal(
    code,
    `${message}; its id is an earlier command's, and this is not that one's outcome`,
    false,
  );
}

/**
 * A refusal before the gateway was asked, of a message whose sender chose its id: the id may be that of an
 * earlier command.
 */
export function idUnasked({ code, message }: Outcome): Outcome {
  return refusal(
    code,
    `${message}; nothing was sent, and no earlier command of its id was looked for`,
    false,
  );
}

/**
 * For the sender of a known command (in hand, or recorded) while too many wait. Not refused: it may have been
 * sent.
 */
export const tooManyAsk = ending(
  "unknown",
  "QUEUE_FULL",
  "the command is in hand or recorded, and too many wait for their outcome: ask again with the same id",
  false,
);

/**
 * For the sender of a known command (in hand, or recorded) that asks more often than its rate. Not refused:
 * it may have been sent.
 */
export const askedTooOften = ending(
  "unknown",
  "RATE_LIMITED",
  "the command is in hand or recorded, and this client sends too many messages: ask again with the same id",
  false,
);

/** What is wrong with a JSON text that could not be read. */
export function jsonFault(
  reading:
    | { readonly kind: "syntax"; readonly message: string }
    | { readonly kind: "repeated"; readonly path: readonly (string | number)[]; readonly key: string },
): Fault {
  if (reading.kind === "syntax") return { path: "", message: `is not JSON: ${reading.message}` };
  return {
    path: clip(reading.path.join("."), LONGEST_PATH),
    message: `has the key ${quoted(reading.key)} twice`,
  };
}
