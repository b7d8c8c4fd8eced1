import type { createGateway } from "../../src/composition/gateway.ts";
import type { loadConfig } from "../../src/config/load.ts";
import type { createCatalogue } from "../../src/fleet/operations.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createLog } from "../../src/platform/log.ts";
import type { Daemon } from "./daemon.ts";

interface Built {
  readonly createCatalogue: typeof createCatalogue;
  readonly createGateway: typeof createGateway;
  readonly loadConfig: typeof loadConfig;
}

/** Built, for a check of a store runs a file of `.build` as a process of its own. */
async function load(): Promise<Built> {
  const files = ["fleet/operations.js", "composition/gateway.js", "config/load.js"];
  const modules = files.map((file) => import(new URL(`../../.build/${file}`, import.meta.url).href));
  return Object.assign({}, ...(await Promise.all(modules)));
}

/**
 * Starts the built gateway in this process, and waits until it is ready. It is loaded and compiled once,
 * where a process takes seconds of a processor at each start.
 */
export async function startHere(configPath: string): Promise<Omit<Daemon, "pid" | "ended" | "says">> {
  const { createCatalogue, createGateway, loadConfig } = await load();
  const loaded = await loadConfig(configPath, {}, createCatalogue(), Date.now());
  if (!loaded.ok) throw new Error(`the configuration is wrong: ${JSON.stringify(loaded.problems)}`);
  const said: string[] = [];
  const destination = { write: (line: string) => void said.push(line) };
  const log = createLog("info", destination);
  const gateway = createGateway(loaded.config, { clock: systemClock, random: Math.random, log });
  const stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = gateway.run(stopping.signal, resolve);
    ended.catch(reject);
  });
  const stop = async () => {
    stopping.abort();
    await ended;
    return 0;
  };
  return { said: () => said.join(""), stop, kill: async () => void (await stop()) };
}
