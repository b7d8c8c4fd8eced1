import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "../ask.ts";
import { Availability } from "../availability.ts";
import { cartIds, cartScenario } from "../commands/scenario.ts";
import { measureSync } from "../commands/sync.ts";
import { nodesBuilt } from "../fleet/open.ts";
import { dataFolder, startGateway } from "../gateway.ts";
import { type Percentiles, percentiles } from "../quantile.ts";
import {
  benchFolder,
  freePorts,
  pause,
  REPLY_TIMEOUT_MS,
  type SectionRun,
  startBroker,
} from "../section-run.ts";
import { fleetSection, startService } from "../service.ts";
import type { ClientReply } from "./protocol.ts";

const CARTS = 500;
/** The first of them find a gateway whose code V8 has not compiled yet. */
const WARM_UP = 100;
/** Longer than the service's process keeps what it saw. */
const TOLD_MS = 1_000;
/** As slots are written, with what lies between: a disk that rests answers later. */
const SYNC_PACE_MS = 50;
const ID = "slots";

/** How long a command takes from the write of a slot to the call at the service. */
export interface SlotFigures {
  readonly commands: number;
  readonly calls: number;
  readonly callMs: Percentiles;
  /** Of the disk that the tickets and the journal are on, before and after. */
  readonly syncMs: Percentiles;
  /** Of one record in a store there: pages, and then the page that makes them count, each synced. */
  readonly storeMs: Percentiles;
}

/** One command after the other, by a client that writes the array `Command` of each cart's conveyor slot. */
export async function measureSlots(run: SectionRun): Promise<SlotFigures> {
  const robots = cartIds(CARTS);
  const scenario = join(run.folder, "carts.yaml");
  writeFileSync(scenario, cartScenario(CARTS));
  const mqttPort = await startBroker(run);
  const service = await startService(run, {
    folder: join(run.folder, "service-slots"),
    port: await freePorts(),
    args: ["--scenario", scenario],
    toldMethod: "ControlConveyor",
  });
  const availability = await Availability.watch(run, mqttPort, ID);
  const families = Object.fromEntries(robots.map((robot) => [robot, "cart"]));
  const fleet = { ...fleetSection(service.address), robots, families };
  const gateway = await startGateway(run, { id: ID, fleet, mqttPort, operators: true });
  await availability.allGood(CARTS, REPLY_TIMEOUT_MS);
  await nodesBuilt(gateway, CARTS);
  const data = dataFolder(run, ID);
  const before = await measureSync(join(data, "sync-before"), SYNC_PACE_MS);
  const client = run.start("client", join(benchFolder, "opcua", "client.js"));
  const request = { kind: "slots", port: gateway.opcuaPort, robots };
  const { sentAtMs } = await ask<ClientReply, "written">(client, request, "written");
  await pause(TOLD_MS);
  const after = await measureSync(join(data, "sync-after"), SYNC_PACE_MS);
  const calls = service.observations.filter(({ kind }) => kind === "call").map(({ atMs }) => atMs);
  for (const child of [client, gateway.child, service.child]) await child.end();
  const tookMs = sentAtMs.map((sentMs, at) => (calls[at] ?? Number.POSITIVE_INFINITY) - sentMs);
  return {
    commands: sentAtMs.length,
    calls: calls.length,
    callMs: percentiles(tookMs.slice(WARM_UP)),
    syncMs: mean(before.disk, after.disk),
    storeMs: mean(before.store, after.store),
  };
}

function mean(one: Percentiles, other: Percentiles): Percentiles {
  return { p50: (one.p50 + other.p50) / 2, p99: (one.p99 + other.p99) / 2 };
}
