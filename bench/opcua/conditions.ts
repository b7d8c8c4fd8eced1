import { join } from "node:path";
import { ask } from "../ask.ts";
import type { Child } from "../child.ts";
import { nodesBuilt } from "../fleet/open.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import { loadFleet } from "../messages/load-fleet.ts";
import { collected, loopHeldBy, probe } from "../probe.ts";
import { quantile } from "../quantile.ts";
import { benchFolder, pause, REPLY_TIMEOUT_MS, type SectionRun, startBroker, until } from "../section-run.ts";
import type { AlarmsReply } from "./protocol.ts";

/** Each has one alarm: its battery is low. */
const ROBOTS = 500;
const HEAP_LOOKS = 5;
const REFRESHES = 8;
const CHANGES = 5_000;
const CHANGE_SECONDS = 1;
const RAISED_WITHIN_MS = 30_000;
const SETTLE_MS = 3_000;

/** What conditions cost, and what an alarm list sees of them. */
export interface ConditionFigures {
  readonly alarms: number;
  /** That all standing alarms add to the heap. */
  readonly memoryMb: number;
  /** Of each refresh: the conditions, and the processor time of the gateway. */
  readonly conditions: readonly number[];
  readonly refreshCpuMs: readonly number[];
  readonly refreshMs: readonly number[];
  /** The longest turn of the gateway's loop, of as many further ones. */
  readonly refreshHeldMs: readonly number[];
  readonly changes: number;
  readonly changeSeconds: number;
  readonly changeEvents: number;
  /** Robots whose newest state was not shown in the end. */
  readonly wrong: number;
  readonly changeP99Ms: number;
}

export async function measureConditions(run: SectionRun): Promise<ConditionFigures> {
  const { load, gateway } = await open(run);
  const beforeMb = await heapMb(gateway);
  await ask<AlarmsReply, "raised">(load, { kind: "raise" }, "raised");
  const alarms = await allRaised(gateway);
  const afterMb = await heapMb(gateway);
  await ask<AlarmsReply, "opened">(load, { kind: "open", port: gateway.opcuaPort }, "opened");
  const refreshes = await measureRefreshes(load, gateway);
  const request = { kind: "change", changes: CHANGES, seconds: CHANGE_SECONDS };
  const { held, result: changed } = await loopHeldBy(gateway, () =>
    ask<AlarmsReply, "changed">(load, request, "changed"),
  );
  for (const child of [load, gateway.child]) await child.end();
  return {
    ...{ alarms, memoryMb: afterMb - beforeMb },
    ...refreshes,
    changes: CHANGES,
    changeSeconds: changed.seconds,
    changeEvents: changed.events,
    wrong: changed.wrong,
    changeP99Ms: held.p99Ms,
  };
}

/** The median: right after work a collection leaves up to 5 MB more than the next one. */
async function heapMb(gateway: Gateway): Promise<number> {
  const looks: number[] = [];
  for (let look = 0; look < HEAP_LOOKS; look += 1) looks.push((await collected(gateway)).heapMb);
  return quantile(looks, 0.5);
}

async function measureRefreshes(load: Child, gateway: Gateway) {
  const found = {
    conditions: [] as number[],
    refreshCpuMs: [] as number[],
    refreshMs: [] as number[],
    refreshHeldMs: [] as number[],
  };
  const refresh = () => ask<AlarmsReply, "refreshed">(load, { kind: "refresh" }, "refreshed");
  for (let time = 0; time < REFRESHES; time += 1) {
    await pause(SETTLE_MS);
    const before = gateway.child.cpuMicros();
    const { conditions, ms } = await refresh();
    found.conditions.push(conditions);
    found.refreshMs.push(ms);
    found.refreshCpuMs.push((gateway.child.cpuMicros() - before) / 1_000);
    await pause(SETTLE_MS);
    found.refreshHeldMs.push((await loopHeldBy(gateway, refresh)).held.longestMs);
  }
  return found;
}

/** Waits until every robot has its alarm; how many stand. */
async function allRaised(gateway: Gateway): Promise<number> {
  let standing = 0;
  await until(
    "all alarms raised",
    async () => {
      const response = await fetch(`${gateway.webUrl}/api/v1/alarms`);
      const { alarms } = (await response.json()) as { readonly alarms: readonly { readonly code: string }[] };
      standing = alarms.filter(({ code }) => code === "BATTERY_LOW").length;
      return standing === ROBOTS;
    },
    RAISED_WITHIN_MS,
    SETTLE_MS,
  );
  return standing;
}

async function open(run: SectionRun): Promise<{ readonly load: Child; readonly gateway: Gateway }> {
  const mqttPort = await startBroker(run);
  const script = join(benchFolder, "opcua", "alarms.js");
  const load = run.start("alarms", script, [String(ROBOTS), run.folder]);
  const listening = await load.next<AlarmsReply>(REPLY_TIMEOUT_MS);
  if (listening.kind !== "listening") throw new Error(`alarms answered ${listening.kind}`);
  const fleet = loadFleet(run, "gateway", listening.address, ROBOTS);
  const gateway = await startGateway(run, { id: "alarms", fleet, mqttPort, preload: probe });
  await nodesBuilt(gateway, ROBOTS);
  return { load, gateway };
}
