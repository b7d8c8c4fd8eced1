import { clip } from "../domain/clip.ts";

/** OpenSSL's own form: `thread:error:code:library:function:reason:file:line:more`. */
const OPENSSL = /[0-9A-F]+:error:[0-9A-F]+:[^:\n]*:[^:\n]*:([^:\n]*):[^\n]*/gi;

/**
 * An error as one line for health and the log. OpenSSL's messages have a pointer, a source file and a line
 * end, and the pointer differs each time: only their reason is kept. Of several errors (a name with several
 * addresses) the first is enough.
 */
export function errorText(error: unknown): string {
  const one: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = one instanceof Error ? one.message : String(one);
  return serviceText(text.replace(OPENSSL, "TLS: $1").replace(/\s+/g, " ").trim());
}

const HIDDEN = "(hidden)";
/**
 * What follows the name of a scheme in an Authorization header; `<JWT>` in a sentence about it does not
 * match.
 */
const CREDENTIALS = /(Bearer|Basic)((?:\s|%20)+)[\w.~+/=-]+/gi;
/**
 * A JWT or its beginning: base64url of `{"`, `{ "` or `{` and a line end, and the characters after it.
 * Anything may stand before it, `%20` too, so there is no word boundary.
 */
const JWT = /e(?:yJ[\w-]|yAi|w0K|wo[gJK])[\w-]{7,}(?:\.[\w-]*)*/g;
/** The longest message of an outcome. */
const LONGEST = 1_000;
/** An error page may have megabytes; the useful part is at its beginning. */
const LONGEST_LOOKED_AT = 16 * LONGEST;

/**
 * A text from the other side for the log, health, a reply and the audit log. A service, or a proxy before it,
 * may repeat the request's Authorization header: tokens and credentials are hidden, also if they are cut
 * short. The result is one line of readable length.
 */
export function serviceText(text: string): string {
  const shown = clip(text, LONGEST_LOOKED_AT)
    .replace(CREDENTIALS, `$1$2${HIDDEN}`)
    .replace(JWT, HIDDEN)
    .replace(/[\p{Cc}\u2028\u2029]/gu, " ");
  return clip(shown, LONGEST);
}
