import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import type { Endpoints } from "../../src/simulator/simulator.ts";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { openPlc } from "../e2e/plc.ts";
import { createFiguresTable } from "../support/figures-table.ts";
import { freePorts } from "../support/free-ports.ts";
import { startMeasuredDaemon } from "../support/measured-daemon.ts";
import { startSimulator } from "../support/simulator.ts";
import { openDroppingClients, WAYS } from "./dropping-clients.ts";

/** By hand others: `FLEETGATE_DROPS=2000 npx vitest run test/daemon/opcua-drops.test.ts`. */
const DROPS = Number(process.env.FLEETGATE_DROPS ?? 0);
const CYCLES = DROPS > 0 ? DROPS : 4 * WAYS;
/** The figures of a run by hand begin after these: the first clients make what is made once. */
const WARM_UP = DROPS > 0 ? 100 : 0;
/** V8 gives memory back in the background after a collection, and a process at rest collects what is left. */
const REST_MS = DROPS > 0 ? 30_000 : 0;
const SEED = 7;
/** A session without a user lives for ten seconds. */
const GONE_WITHIN_MS = 40_000;
/** Classes of node-opcua of which a client has its own. */
const OF_A_CLIENT = ["ServerSession", "Subscription", "MonitoredItem", "ServerSecureChannelLayer"] as const;

const nothing =
  "of clients that connect, subscribe and drop nothing stays: no session, subscription, channel or socket";
test(nothing, { timeout: 120_000 + CYCLES * 1_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-drops-"));
  const simulator = await startSimulator();
  const { path, url, health } = await configure(folder, simulator.endpoints);
  const daemon = await startMeasuredDaemon(path, (line) => /"level":"(error|fatal)"/.test(line));
  const clients = await openDroppingClients({
    url,
    certificates: join(folder, "data", "opcua", "server"),
    folder,
    user: { name: "line1", password: "secret" },
    robot: "AMR01",
    random: seededRandom(SEED),
  });
  // One stays, so that the classes are known to be counted.
  const plc = await openPlc(url);
  await plc.follow("Robots.AMR01.Valid");
  const descriptors = async () => (await readdir(`/proc/${daemon.pid}/fd`)).length;
  const allGone = () =>
    expect
      .poll(health, { timeout: GONE_WITHIN_MS, interval: 250 })
      .toMatchObject({ sessions: 1, subscriptions: 1 });

  const table = createFiguresTable();
  if (WARM_UP > 0) {
    await clients.cycles(WARM_UP);
    await allGone();
  }
  const descriptorsBefore = await descriptors();
  const figuresAtRest = async () => {
    if (REST_MS > 0) await daemon.figures();
    await pause(REST_MS);
    return daemon.figures();
  };
  table.add("before", await figuresAtRest());
  await clients.cycles(CYCLES);
  await allGone();
  table.add(`after ${CYCLES} clients`, await figuresAtRest());
  // Connections to the fleet service come and go by themselves.
  await expect.poll(descriptors).toBeLessThanOrEqual(descriptorsBefore);
  if (DROPS > 0) process.stdout.write(`\n${table.text()}${JSON.stringify(clients.counts())}\n`);

  const objects = await daemon.objects();
  expect(Object.fromEntries(OF_A_CLIENT.map((name) => [name, objects.get(name)]))).toEqual(
    Object.fromEntries(OF_A_CLIENT.map((name) => [name, 1])),
  );
  expect(clients.counts().subscribed).toBeGreaterThan(CYCLES / 4);
  expect(daemon.kept).toEqual([]);
  await plc.close();
  await clients.close();
  expect(await daemon.stop()).toBe(0);
  await simulator.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Configured {
  readonly path: string;
  readonly url: string;
  /** The figures of OPC UA. */
  health(): Promise<Readonly<Record<string, number>>>;
}

async function configure(folder: string, fleet: Endpoints): Promise<Configured> {
  const port = await freePorts(2);
  await writeFile(join(folder, "password"), "secret", { mode: 0o600 });
  const file = {
    gateway: { id: "drops", dataDir: "data" },
    fleet: {
      grpc: { address: fleet.grpc },
      https: fleet.https,
      ca: fleet.ca,
      credentials: fleet.credentials,
      locations: fleet.locations,
    },
    opcua: {
      listen: { port },
      users: { line1: { password: "password", role: "operator" } },
      insecureLoopback: { role: "operator" },
      robots: { "cart-1": { alias: "AMR01" } },
    },
    web: { listen: { port: port + 1 } },
  };
  const path = join(folder, "fleetgate.yaml");
  await writeFile(path, stringify(file), { mode: 0o600 });
  return {
    path,
    url: `opc.tcp://localhost:${port}`,
    async health() {
      const answer = await fetch(`http://127.0.0.1:${port + 1}/healthz`);
      const { components } = (await answer.json()) as {
        readonly components: { readonly opcua: { readonly figures: Readonly<Record<string, number>> } };
      };
      return components.opcua.figures;
    },
  };
}
