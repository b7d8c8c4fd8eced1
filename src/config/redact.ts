/** The replacement of a secret. */
const HIDDEN = "(hidden)";

/** Keys of the configuration whose values are secret, with everything inside. */
const secretKeys: ReadonlySet<string> = new Set(["apiKey", "secret", "password", "key"]);

/**
 * A configuration without secrets, for logs and `fleetgate check`: secrets are hidden, maps become objects,
 * and PEM texts are cut to their first line.
 */
export function redact(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(redact);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      secretKeys.has(String(key)) && inner !== null ? HIDDEN : redact(inner),
    ]),
  );
}

function redactText(text: string): string {
  if (text.startsWith("-----BEGIN ")) return text.split(/\r?\n/, 1)[0] ?? "";
  return text.replace(/^(\w+:\/\/)[^/@]*@/, `$1${HIDDEN}@`);
}

/** Keys with nothing secret inside: otherwise their words would be hidden in every text. */
const plainKeys: ReadonlySet<string> = new Set(["kind", "certificates"]);

/** The secrets of a configuration, to remove them from a text. */
export function secretsOf(value: unknown, isSecret = false): readonly string[] {
  if (typeof value === "string") return isSecret && value !== "" ? [value] : [];
  if (value === null || typeof value !== "object") return [];
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return entries.flatMap(([key, inner]) =>
    plainKeys.has(String(key)) ? [] : secretsOf(inner, isSecret || secretKeys.has(String(key))),
  );
}
