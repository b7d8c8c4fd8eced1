import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { startSimulator } from "../support/simulator.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Two configurations that share nothing but the data directory. */
async function twoConfigurations(): Promise<readonly [string, string, string]> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-lock-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const simulator = await startSimulator({});
  cleanups.push(() => simulator.stop());
  const path = await writeConfiguration(
    folder,
    "one",
    simulator.endpoints,
    ["cart-01"],
    "mqtt://127.0.0.1:9",
  );
  const file = { ...parse(await readFile(path, "utf8")), control: { enabled: false } };
  const other = join(folder, "other.yaml");
  await writeFile(path, stringify(file), { mode: 0o600 });
  await writeFile(other, stringify({ ...file, gateway: { ...file.gateway, id: "other" } }), { mode: 0o600 });
  return [path, other, join(folder, "data")];
}

function start(path: string): Daemon {
  const daemon = startDaemon(path);
  cleanups.push(() => daemon.kill());
  return daemon;
}

test("a second gateway on a data directory is refused, whatever its configuration; one that was killed is not", async () => {
  const [path, other, dataDir] = await twoConfigurations();
  const first = start(path);
  await first.says(READY);

  const second = start(other);
  expect(await second.ended).toBe(1);
  expect(second.said()).toBe(
    `fleetgate: ${dataDir} is in use by process ${first.pid}: end it, or give this gateway a gateway.dataDir of its own\n`,
  );

  await first.kill();
  const third = start(other);
  await third.says(READY);
  expect(await third.stop()).toBe(0);
  const fourth = start(path);
  await fourth.says(READY);
  expect(await fourth.stop()).toBe(0);
}, 60_000);
