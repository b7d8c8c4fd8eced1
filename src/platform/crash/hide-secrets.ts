const HIDDEN = "(hidden)";
/** A shorter one would hide parts of common words. */
const SHORTEST_SECRET = 4;

/** Patterns of secrets that no configuration holds: tokens of a run, and texts of libraries. */
const looks: ReadonlyArray<readonly [RegExp, string]> = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/\beyJ[\w-]+\.[\w-]+(\.[\w-]*)?/g, HIDDEN],
  [/\b(bearer|basic)\s+[^\s"'\\]+/gi, `$1 ${HIDDEN}`],
  [/(\b\w+:\/\/)[^/@\s"']*@/g, `$1${HIDDEN}@`],
  [
    /((?:password|passwd|secret|api_?key|authorization)\w*\\?["']?\s*[:=]\s*\\?["']?)[^\s"',;}\\]+/gi,
    `$1${HIDDEN}`,
  ],
  // A colon alone does not count: a log says that way why there is no token.
  [/(token\w*(?:=|\\?["']\s*:\s*\\?["']))[^\s"',;}\\]+/gi, `$1${HIDDEN}`],
];

/** Hides these secrets in a text, and whatever looks like a secret. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  let hidden = hideThese(text, secrets);
  for (const [look, shown] of looks) hidden = hidden.replace(look, shown);
  return hidden;
}

/** Hides these secrets alone, as they are or in JSON. */
export function hideThese(text: string, secrets: readonly string[]): string {
  let hidden = text;
  // Longest first: a secret may be the beginning of another, whose end would stay.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
    if (secret.length < SHORTEST_SECRET) continue;
    // As JSON, and as JSON inside of a JSON text.
    const quoted = JSON.stringify(secret).slice(1, -1);
    for (const each of [JSON.stringify(quoted).slice(1, -1), quoted, secret])
      hidden = hidden.replaceAll(each, HIDDEN);
  }
  return hidden;
}

/** The same for every text in a JSON value. */
export function hideSecretsIn(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return hideSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((each) => hideSecretsIn(each, secrets));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hideSecretsIn(each, secrets)]));
}
