import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems hand out for port 0, so that no other test is given one of them meanwhile.
 * Each worker of a run has a part of its own: no two find the same port free before either listens there.
 */
const LOWEST = 20_000;
const PORTS = 3_000;
const PARTS = 4;
const ATTEMPTS = 100;

const lowest = LOWEST + PORTS * (Number(process.env.VITEST_POOL_ID ?? 0) % PARTS);
/** Two runs on one machine begin at different places. */
let next = Math.floor(Math.random() * PORTS);

/** The first of `count` ports in a row that nobody listens on, and that nobody here was given lately. */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const base = lowest + (next % (PORTS - count));
    next += count;
    if (await areFree(base, count)) return base;
  }
  throw new Error(`no ${count} free ports in a row in ${ATTEMPTS} attempts`);
}

async function areFree(base: number, count: number): Promise<boolean> {
  for (let port = base; port < base + count; port += 1) if (!(await isFree(port))) return false;
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const bound = new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!(await bound)) return false;
  server.close();
  await once(server, "close");
  return true;
}
