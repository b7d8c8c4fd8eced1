import { dirname, isAbsolute, join, resolve } from "node:path";
import type { z } from "zod";
import { parsedJson } from "../platform/json.ts";
import { isPasswordHash, isUsableHash } from "../platform/password.ts";
import { fileProblem, type ReadFile, readPlainFile } from "../platform/plain-file.ts";
import { pngProblem } from "../platform/png.ts";
import {
  belongTogether,
  certificateProblem,
  type ListenerPair,
  privateKeyProblem,
  tlsProblem,
  validityProblem,
} from "../platform/tls-files.ts";
import type { ConfigDocument } from "./document.ts";
import { CREDENTIAL_PREFIX, type Environment } from "./environment.ts";
import { type FileKind, fileFields, places } from "./fields.ts";
import { type ConfigPath, type ConfigProblem, pathText } from "./finding.ts";
import { problemAt } from "./issues.ts";
import { applicationCertificateProblem, keyOf, revocationListProblem } from "./key-pairs.ts";

/** A file that the configuration names, read and of the right kind. */
export interface NamedFile {
  readonly path: string;
  readonly text: string;
}

/** The content of the files, by the path of the key that names each. */
export interface NamedFiles {
  readonly byKey: ReadonlyMap<string, NamedFile>;
  readonly problems: readonly ConfigProblem[];
  /** Problems that do not keep the gateway from starting. */
  readonly warnings: readonly ConfigProblem[];
  /** Certificates of the gateway that are not valid now: clients refuse them. */
  readonly outdated: readonly ConfigProblem[];
  /** Certificates that TLS does not accept at any time. */
  readonly unusable: readonly ConfigProblem[];
  /** Certificates of the gateway's own, and the CAs that it trusts. */
  readonly certificates: readonly OwnCertificate[];
}

/** A certificate that the gateway presents, or the CAs that it trusts. */
export interface OwnCertificate {
  /** The key of the configuration that names it. */
  readonly key: string;
  readonly path: string;
  readonly isCa?: boolean;
}

/** The limit of a file that the configuration names. */
export const LARGEST_FILE_BYTES = 1_000_000;
const secretKinds: ReadonlySet<FileKind> = new Set(["apiKey", "privateKey", "password", "userPassword"]);

/**
 * Reads every file that a key of the document names, also if the document is not valid: all problems belong
 * in one list.
 */
export async function readNamedFiles(
  schema: z.core.$ZodType,
  document: ConfigDocument,
  configPath: string,
  env: Environment,
  nowMs: number,
  readFile: ReadFile = readPlainFile,
): Promise<NamedFiles> {
  const byKey = new Map<string, NamedFile>();
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const read: ConfigPath[] = [];
  for (const place of places(schema, document.value)) {
    const kind = fileFields.get(place.schema)?.kind;
    if (kind === undefined || typeof place.value !== "string" || place.value === "") continue;
    const result = await readNamed(place.value, kind, { configPath, env, readFile });
    if ("message" in result) {
      problems.push(problemAt(document, place.path, result.message));
      continue;
    }
    byKey.set(pathText(place.path), result.file);
    read.push(place.path);
    if (result.warning !== null) warnings.push(problemAt(document, place.path, result.warning));
  }
  const certificates = certificatesOf(byKey, read);
  problems.push(...wrongPairs(certificates, document));
  const validity = validityFindings(certificates, document, nowMs);
  warnings.push(...validity.flatMap(({ isOutdated, problem }) => (isOutdated ? [] : [problem])));
  const outdated = validity.flatMap(({ isOutdated, problem }) => (isOutdated ? [problem] : []));
  const unusable = problems.length > 0 ? [] : unusablePairs(certificates, document);
  const own = certificates.map(({ at, file, isCa }) => ({ key: pathText(at), path: file.path, isCa }));
  return { byKey, problems, warnings, outdated, unusable, certificates: own };
}

/** The path of each file that a key of the document names; null: only systemd knows it. No file is read. */
export function namedPaths(
  schema: z.core.$ZodType,
  document: ConfigDocument,
  configPath: string,
  env: Environment,
): readonly { readonly name: string; readonly path: string | null }[] {
  return [...places(schema, document.value)].flatMap(({ schema: at, value: name }) =>
    fileFields.has(at) && typeof name === "string" && name !== ""
      ? [{ name, path: locate(name, resolve(configPath), env) }]
      : [],
  );
}

/** A certificate that the gateway presents has a key beside it; the CAs that it trusts have none. */
interface CertificateFile {
  readonly at: ConfigPath;
  readonly file: NamedFile;
  readonly isCa: boolean;
  readonly keyAt: ConfigPath;
  /** Null: it has none, or it could not be read. */
  readonly key: NamedFile | null;
}

function certificatesOf(
  byKey: ReadonlyMap<string, NamedFile>,
  read: readonly ConfigPath[],
): readonly CertificateFile[] {
  return read.flatMap((at) => {
    const file = byKey.get(pathText(at));
    const name = String(at.at(-1));
    const isCa = name === "ca";
    if (file === undefined || !(isCa || keyOf.has(name))) return [];
    const keyAt = [...at.slice(0, -1), keyOf.get(name) ?? ""];
    return [{ at, file, isCa, keyAt, key: byKey.get(pathText(keyAt)) ?? null }];
  });
}

function validityFindings(certificates: readonly CertificateFile[], document: ConfigDocument, nowMs: number) {
  return certificates.flatMap(({ at, file, isCa }) => {
    const found = isCa ? null : validityProblem(file.text, nowMs);
    if (found === null) return [];
    const problem = problemAt(document, at, `${file.path} ${found.message}`);
    return [{ isOutdated: found.isOutdated, problem }];
  });
}

/** OPC UA has its own rules. */
function unusablePairs(certificates: readonly CertificateFile[], document: ConfigDocument) {
  return certificates.flatMap(({ at, file, key }) => {
    if (key === null || at[0] === "opcua") return [];
    const problem = tlsProblem({ cert: file.text, key: key.text });
    return problem === null ? [] : [problemAt(document, at, `${file.path} ${problem}`)];
  });
}

/** Certificates with the key of another one: found here, and not by the first client that cannot connect. */
function wrongPairs(certificates: readonly CertificateFile[], document: ConfigDocument) {
  return certificates.flatMap(({ file, keyAt, key }) =>
    key === null || belongTogether(file.text, key.text)
      ? []
      : [problemAt(document, keyAt, `${key.path} is not the key of ${file.path}`)],
  );
}

/** The file that the key at `path` names, for a configuration without problems; null: the key is absent. */
export function fileAt(files: NamedFiles, ...path: ConfigPath): NamedFile | null {
  return files.byKey.get(pathText(path)) ?? null;
}

/** Certificate and key of the listener of a section; null: it has none. */
export function pairAt(files: NamedFiles, ...section: ConfigPath): ListenerPair | null {
  const cert = fileAt(files, ...section, "certificate");
  const key = fileAt(files, ...section, "key");
  if (cert === null || key === null) return null;
  return { cert: cert.text, key: key.text, paths: { cert: cert.path, key: key.path } };
}

type ReadResult =
  | { readonly file: NamedFile; readonly warning: string | null }
  | { readonly message: string };

interface NamedFrom {
  readonly configPath: string;
  readonly env: Environment;
  readonly readFile: ReadFile;
}

async function readNamed(
  name: string,
  kind: FileKind,
  { configPath, env, readFile }: NamedFrom,
): Promise<ReadResult> {
  const path = locate(name, configPath, env);
  if (path === null)
    return {
      message: `${name} needs systemd, which sets $CREDENTIALS_DIRECTORY; it is not set. As root, fleetgate check finds it in the LoadCredential= lines of an installed unit`,
    };
  try {
    // A picture is not text: each of its bytes stays a character.
    const encoding = kind === "drawing" ? "latin1" : "utf8";
    const { text, mode } = await readFile(path, LARGEST_FILE_BYTES, encoding);
    const wrong = contentProblem(kind, text);
    if (wrong !== null) return { message: `${path} ${wrong}` };
    const open = secretKinds.has(kind) && (mode & 0o004) !== 0;
    return {
      file: { path, text: kind === "password" || kind === "userPassword" ? firstLine(text) : text },
      warning: open ? `${path} can be read by every user of this machine; chmod o-r would keep it` : null,
    };
  } catch (error) {
    return { message: `${path} ${fileProblem(error)}` };
  }
}

function locate(name: string, configPath: string, env: Environment): string | null {
  if (!name.startsWith(CREDENTIAL_PREFIX)) {
    return isAbsolute(name) ? name : resolve(dirname(configPath), name);
  }
  const folder = env.CREDENTIALS_DIRECTORY;
  const ofUnit = env[name];
  if (folder === undefined && ofUnit !== undefined) return ofUnit;
  return folder === undefined ? null : join(folder, name.slice(CREDENTIAL_PREFIX.length));
}

/**
 * Why the text of a file is not what its key needs, as the end of a sentence. The content is never quoted.
 */
export function contentProblem(kind: FileKind, text: string): string | null {
  switch (kind) {
    case "apiKey":
      return apiKeyProblem(text);
    case "certificate":
      return certificateProblem(text);
    case "applicationCertificate":
      return applicationCertificateProblem(text);
    case "revocationList":
      return revocationListProblem(text);
    case "privateKey":
      return privateKeyProblem(text);
    case "password":
      return passwordProblem(firstLine(text));
    case "userPassword":
      return userPasswordProblem(firstLine(text));
    case "drawing":
      return pngProblem(Buffer.from(text, "latin1"));
  }
}

/**
 * An API key document has three fields (docs/internals/service.md, How deployed services behave). A message
 * never quotes its content.
 */
function apiKeyProblem(text: string): string | null {
  const parsed = parsedJson(text);
  if (parsed === undefined)
    return "is no JSON document: let it be the file that the fleet's operator handed out, as it is";
  if (parsed === null || typeof parsed !== "object")
    return "is no API key document: it must be a JSON object";
  const missing = ["api_key", "scope", "secret"].filter((field) => {
    const value: unknown = Reflect.get(parsed, field);
    return typeof value !== "string" || value === "";
  });
  return missing.length === 0 ? null : `is no API key document: ${missing.join(", ")} must be there, as text`;
}

const OUTER_SPACE = "has a space or tab at an end of its first line, which nobody sees: remove it";

/** Whether a password begins or ends with a character that editors do not show. */
export function hasOuterSpace(password: string): boolean {
  return password.trim() !== password;
}

/** Checks a password that the gateway sends to another server. */
function passwordProblem(password: string): string | null {
  if (password === "") return "is empty: its first line is the password";
  if (hasOuterSpace(password)) return OUTER_SPACE;
  return isUsableHash(password) ? "holds a hash; the gateway needs the password itself here" : null;
}

/** Checks a password by which users log on to the gateway. */
function userPasswordProblem(kept: string): string | null {
  if (kept === "") return "is empty: its first line is the password";
  if (hasOuterSpace(kept)) return OUTER_SPACE;
  return isPasswordHash(kept) && !isUsableHash(kept)
    ? "holds no password: a hash is scrypt:<salt base64>:<hash base64>, as fleetgate passwd prints it"
    : null;
}

export function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? "";
}
