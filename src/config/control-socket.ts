import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { readDocument } from "./document.ts";
import { dataDir } from "./load.ts";
import { type Environment, fileProblem } from "./named-files.ts";
import { configSchema } from "./schema.ts";
import { socketPath } from "./sections/control.ts";

/** Where a gateway's socket is, or why that cannot be told. */
export type SocketResult =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly problem: string };

/**
 * The control socket of a configuration file. Only the two sections that name it are
 * read: whoever calls need not be able to read the gateway's secrets.
 */
export async function readSocketPath(path: string, env: Environment): Promise<SocketResult> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    return { ok: false, problem: `${path} ${fileProblem(error)}` };
  }
  const read = readDocument(text);
  const value = read.ok ? read.document.value : null;
  if (typeof value !== "object" || value === null) return wrongFile(path);
  const gateway = configSchema.shape.gateway.safeParse(Reflect.get(value, "gateway"));
  const control = configSchema.shape.control.safeParse(Reflect.get(value, "control"));
  if (!gateway.success || !control.success) return wrongFile(path);
  if (!control.data.enabled) return { ok: false, problem: `${path} says control.enabled: false` };
  const folder = dataDir({ gateway: gateway.data }, path, env);
  return { ok: true, path: socketPath(control.data, dirname(resolve(path)), folder) };
}

function wrongFile(path: string): SocketResult {
  return { ok: false, problem: `${path} has mistakes: fleetgate check --config ${path} names them` };
}
