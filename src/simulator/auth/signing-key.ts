import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readIfThere } from "../../platform/kept-file.ts";
import { writeWhole } from "../data-file.ts";

/**
 * The key that signs tokens, kept in the data folder so that tokens outlive a restart, as those of a deployed
 * service do.
 */
export async function loadSigningKey(dataDir: string): Promise<Uint8Array> {
  const file = join(dataDir, "token.key");
  const stored = Buffer.from((await readIfThere(file)) ?? "", "base64url");
  if (stored.length === 32) return stored;
  const key = randomBytes(32);
  await writeWhole(file, key.toString("base64url"), "secret");
  return key;
}
