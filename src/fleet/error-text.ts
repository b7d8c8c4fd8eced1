/** OpenSSL's own form: `thread:error:code:library:function:reason:file:line:more`. */
const OPENSSL = /[0-9A-F]+:error:[0-9A-F]+:[^:\n]*:[^:\n]*:([^:\n]*):[^\n]*/gi;

/**
 * What an error says, as one line for health and the log. OpenSSL's carry a pointer, a source file and
 * a line's end, of which the pointer is another each time: of these, the reason alone is kept.
 * Of several errors (a name with several addresses) the first says enough.
 */
export function errorText(error: unknown): string {
  const one: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = one instanceof Error ? one.message : String(one);
  return text.replace(OPENSSL, "TLS: $1").replace(/\s+/g, " ").trim();
}
