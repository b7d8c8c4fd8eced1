/** What must not be found: each secret as it is, and as others would write it. */
function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Whatever stands before it, one of three alignments is what base64 makes of its middle.
  const inBase64 = [0, 1, 2].map((shift) => bytes.subarray(shift, shift + 12).toString("base64"));
  const utf16 = Buffer.from(secret, "utf16le").toString("latin1");
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), utf16, ...inBase64];
}

/** The beginning of every JWT, {"… in base64url, and of every private key. */
const tokens = /eyJ[\w-]{8}/;
const keys = /-----BEGIN [A-Z ]*PRIVATE KEY/;

/** Where which secret stands in a text. */
export function search(where: string, text: string, secrets: ReadonlyMap<string, string>): readonly string[] {
  const found = [...secrets].flatMap(([name, secret]) =>
    spellings(secret).some((spelling) => text.includes(spelling)) ? [`${name} in ${where}`] : [],
  );
  if (tokens.test(text)) found.push(`a token in ${where}`);
  if (keys.test(text)) found.push(`a private key in ${where}`);
  return found;
}
