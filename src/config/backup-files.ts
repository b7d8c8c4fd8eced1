import { dirname, join, resolve } from "node:path";
import { type ReadFile, readPlainFile } from "../platform/plain-file.ts";
import { CREDENTIAL_PREFIX, dataDir, type Environment } from "./environment.ts";
import { ownAuthority } from "./key-pairs.ts";
import { namedPaths } from "./named-files.ts";
import { readConfigDocument } from "./read-document.ts";
import { configSchema } from "./schema.ts";

const MOST_BYTES = 65_536;

/** The paths in a configuration file, for a backup. */
export interface BackupFiles {
  readonly gatewayId: string;
  /** Absolute. */
  readonly dataDir: string;
  /** Absolute: every file that a key names, also systemd credentials, and the gateway's own CA. */
  readonly named: readonly string[];
  /** The paths of the systemd credentials among them, by the name in the configuration. */
  readonly credentials: Readonly<Record<string, string>>;
}

/** The files that belong to a configuration, or why they cannot be listed. Only the configuration is read. */
export async function readBackupFiles(
  path: string,
  env: Environment,
  readFile: ReadFile = readPlainFile,
): Promise<({ readonly ok: true } & BackupFiles) | { readonly ok: false; readonly problem: string }> {
  const read = await readConfigDocument(path, readFile);
  const wrong = `${path} has mistakes: fleetgate check --config ${path} names them`;
  if (!read.ok) {
    const [first] = read.problems;
    return { ok: false, problem: first === undefined ? wrong : `${path}: ${first.message}` };
  }
  const { value } = read.document;
  const section = typeof value === "object" && value !== null ? Reflect.get(value, "gateway") : null;
  const gateway = configSchema.shape.gateway.safeParse(section);
  if (!gateway.success) return { ok: false, problem: wrong };
  const named = namedPaths(configSchema, read.document, path, env);
  const unknown = named.find((each) => each.path === null);
  if (unknown !== undefined)
    return { ok: false, problem: `${unknown.name} is a credential of systemd: run this as root` };
  const found = named.flatMap(({ name, path: at }) => (at === null ? [] : [{ name, path: resolve(at) }]));
  const files = found.map((each) => each.path);
  return {
    ok: true,
    gatewayId: gateway.data.id,
    dataDir: resolve(dataDir({ gateway: gateway.data }, path, env)),
    named: [...new Set([...files, ...(await authorityBeside(files, readFile))])],
    credentials: Object.fromEntries(
      found.flatMap((each) => (each.name.startsWith(CREDENTIAL_PREFIX) ? [[each.name, each.path]] : [])),
    ),
  };
}

/** A CA lies in the folders of what it has signed. No key of the configuration names it. */
async function authorityBeside(files: readonly string[], readFile: ReadFile): Promise<readonly string[]> {
  const folders = new Set(files.map((path) => dirname(path)));
  const paths = [...folders].flatMap((folder) =>
    Object.values(ownAuthority).map((name) => join(folder, name)),
  );
  const isThere = (path: string) =>
    readFile(path, MOST_BYTES).then(
      () => true,
      // One that cannot be read is there: its backup fails.
      (error: unknown) => !(error instanceof Error && "code" in error && error.code === "ENOENT"),
    );
  const there = await Promise.all(paths.map(isThere));
  return paths.filter((_path, index) => there[index]);
}
