import { dirname, resolve } from "node:path";
import { fileProblem, readPlainFile } from "../platform/plain-file.ts";
import { LARGEST_CONFIGURATION_BYTES, readDocument } from "./document.ts";
import { dataDir, type Environment } from "./environment.ts";
import { controlSection, gatewaySection, socketPath } from "./sections/gateway.ts";

/** The path of a gateway's socket or folder, or why it is not known. */
export type PathResult =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly problem: string };

/**
 * The control socket of a configuration file. Only the two sections with its path are read: callers need not
 * be able to read the gateway's secrets.
 */
export async function readSocketPath(path: string, env: Environment): Promise<PathResult> {
  const folder = await readDataDir(path, env);
  if (!folder.ok) return folder;
  const control = controlSection.safeParse(await readSection(path, "control"));
  if (!control.success) return wrongFile(path);
  if (!control.data.enabled) return { ok: false, problem: `${path} says control.enabled: false` };
  return { ok: true, path: socketPath(control.data, dirname(resolve(path)), folder.path) };
}

/** The data folder of a configuration file, read like its control socket. */
export async function readDataDir(path: string, env: Environment): Promise<PathResult> {
  try {
    const gateway = gatewaySection.safeParse(await readSection(path, "gateway"));
    if (!gateway.success) return wrongFile(path);
    return { ok: true, path: dataDir({ gateway: gateway.data }, path, env) };
  } catch (error) {
    return { ok: false, problem: `${path} ${fileProblem(error)}` };
  }
}

/** Rejects when the file cannot be read. */
async function readSection(path: string, name: string): Promise<unknown> {
  const read = readDocument((await readPlainFile(path, LARGEST_CONFIGURATION_BYTES)).text);
  const value = read.ok ? read.document.value : null;
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : null;
}

function wrongFile(path: string): PathResult {
  return { ok: false, problem: `${path} has mistakes: fleetgate check --config ${path} names them` };
}
