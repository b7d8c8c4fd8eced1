import { X509Certificate } from "node:crypto";
import type { FileKind } from "../../config/fields.ts";
import { contentProblem, firstLine, LARGEST_FILE_BYTES } from "../../config/named-files.ts";
import { isPasswordHash } from "../../platform/password.ts";
import { fileProblem, readPlainFile } from "../../platform/plain-file.ts";
import { newPasswordProblem } from "../passwd.ts";

/** The text of a file in an answer, as the gateway would read it. */
export async function readSource(path: string): Promise<string> {
  return (await readPlainFile(path, LARGEST_FILE_BYTES)).text;
}

/** Why a file is no certificate of a CA, and cannot be copied; null: it can. */
export async function caFileProblem(path: string): Promise<string | null> {
  const problem = await problemOf(path, "certificate");
  if (problem !== null) return problem;
  const certificates = (await readSource(path)).match(CERTIFICATES) ?? [];
  const issuers: string[] = [];
  for (const pem of certificates) {
    const { ca, issuer, subject } = new X509Certificate(pem);
    // A self-signed certificate is its own CA.
    if (ca || issuer === subject) return null;
    issuers.push(/^CN=(.*)$/m.exec(issuer)?.[1] ?? issuer.replaceAll("\n", ", "));
  }
  return `${path} holds a server's own certificate: give that of the CA that issued it (${issuers.join(", ")})`;
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The same for an API key document. Its content is never quoted. */
export function keyFileProblem(path: string): Promise<string | null> {
  return problemOf(path, "apiKey");
}

/**
 * The same for a file whose first line is a password.
 *
 * @param mayBeHash whether a hash is allowed
 */
export async function passwordFileProblem(path: string, mayBeHash: boolean): Promise<string | null> {
  const problem = await problemOf(path, mayBeHash ? "userPassword" : "password");
  if (problem !== null) return problem;
  const password = firstLine(await readSource(path));
  if (mayBeHash && isPasswordHash(password)) return null;
  const wrong = newPasswordProblem(password);
  return wrong === null ? null : `the password in ${path} ${wrong}`;
}

async function problemOf(path: string, kind: FileKind): Promise<string | null> {
  let text: string;
  try {
    text = await readSource(path);
  } catch (error) {
    const isHidden = error instanceof Error && "code" in error && error.code === "EACCES";
    return `${path} ${isHidden ? "cannot be read by this user: use sudo" : fileProblem(error)}`;
  }
  const problem = contentProblem(kind, text);
  return problem === null ? null : `${path} ${problem}`;
}
