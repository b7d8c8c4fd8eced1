import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigProblem } from "../../src/config/finding.ts";
import { type Config, type LoadResult, loadConfig } from "../../src/config/load.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";

/** The shortest configuration that loads. */
export const minimal = `
gateway: { id: plant1 }
fleet:
  grpc: { address: "localhost:7443" }
  https: https://localhost:7444
  credentials: api-key.json
  robots: [cart-1]
`;

/** The API key document that `minimal` names. */
export const apiKey = { api_key: "key-1", scope: "acme", secret: "s3cr3t-of-the-key" };

/** A folder with a configuration file in it, and what a test puts beside it. */
export interface ConfigFolder extends AsyncDisposable {
  readonly path: string;
  write(name: string, text: string): Promise<string>;
  load(text: string, env?: Readonly<Record<string, string>>): Promise<LoadResult>;
  /** The configuration; throws when there is a problem. */
  config(text: string, env?: Readonly<Record<string, string>>): Promise<Config>;
  /** The problems as a person sees them, in a file named `f`. */
  problems(text: string): Promise<readonly string[]>;
  warnings(text: string): Promise<readonly string[]>;
}

function lineOf({ path, line, message }: ConfigProblem): string {
  return `${line === null ? "f" : `f:${line}`}: ${path === "" ? "" : `${path}: `}${message}`;
}

/** A new folder that holds an API key document. */
export async function createConfigFolder(): Promise<ConfigFolder> {
  const path = await mkdtemp(join(tmpdir(), "fleetgate-config-"));
  const write = async (name: string, text: string) => {
    const file = join(path, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  const load: ConfigFolder["load"] = async (text, env = {}) =>
    loadConfig(await write("fleetgate.yaml", text), env, createCatalogue(), Date.now());
  await write("api-key.json", JSON.stringify(apiKey));
  return {
    path,
    write,
    load,
    async config(text, env) {
      const result = await load(text, env);
      if (!result.ok) throw new Error(result.problems.map((problem) => lineOf(problem)).join("\n"));
      return result.config;
    },
    async problems(text) {
      const result = await load(text);
      return result.ok ? [] : result.problems.map((problem) => lineOf(problem));
    },
    async warnings(text) {
      const result = await load(text);
      if (!result.ok) throw new Error("it did not load");
      return result.warnings.map((problem) => lineOf(problem));
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}
