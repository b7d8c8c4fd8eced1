import { clip } from "../domain/clip.ts";

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
  return serviceText(text.replace(OPENSSL, "TLS: $1").replace(/\s+/g, " ").trim());
}

const HIDDEN = "(hidden)";
/** What follows the name of a scheme in an Authorization header; `<JWT>` in a sentence about it is none. */
const CREDENTIALS = /(Bearer|Basic)((?:\s|%20)+)[\w.~+/=-]+/gi;
/**
 * A JWT or the beginning of one: base64url of `{"`, `{ "` or `{` and a line's end, and what is joined to it.
 * No word's boundary before it: there may stand anything, `%20` too.
 */
const JWT = /e(?:yJ[\w-]|yAi|w0K|wo[gJK])[\w-]{7,}(?:\.[\w-]*)*/g;
/** As long as an outcome's message may be. */
const LONGEST = 1_000;
/** An error page may have megabytes; what is wanted stands at its beginning. */
const LONGEST_LOOKED_AT = 16 * LONGEST;

/**
 * What the other side says, as it may stand in the log, in health, in a reply and in the audit: a service, or
 * what stands before it, may repeat the request's Authorization header. Tokens and credentials are hidden,
 * also when they are cut short; it is one line, and no longer than people read.
 */
export function serviceText(text: string): string {
  const shown = clip(text, LONGEST_LOOKED_AT)
    .replace(CREDENTIALS, `$1$2${HIDDEN}`)
    .replace(JWT, HIDDEN)
    .replace(/[\p{Cc}\u2028\u2029]/gu, " ");
  return clip(shown, LONGEST);
}
