import { join } from "node:path";
import { ask } from "../ask.ts";
import type { Child } from "../child.ts";
import { nodesBuilt } from "../fleet/open.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import { loadFleet } from "../messages/load-fleet.ts";
import { collected, loopHeld, probe } from "../probe.ts";
import { benchFolder, pause, REPLY_TIMEOUT_MS, type SectionRun, startBroker, until } from "../section-run.ts";
import type { AlarmsReply } from "./protocol.ts";

/** Each has a battery that is low and critical: one condition, of two alarms. */
const ROBOTS = 500;
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
  /** Of each refresh: the conditions, processor time of the gateway, the longest turn of its loop. */
  readonly conditions: readonly number[];
  readonly refreshCpuMs: readonly number[];
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
  const before = await collected(gateway);
  await ask<AlarmsReply, "raised">(load, { kind: "raise" }, "raised");
  const alarms = await allRaised(gateway);
  const after = await collected(gateway);
  await ask<AlarmsReply, "opened">(load, { kind: "open", port: gateway.opcuaPort }, "opened");
  const refreshes = await measureRefreshes(load, gateway);
  await loopHeld(gateway);
  const request = { kind: "change", changes: CHANGES, seconds: CHANGE_SECONDS };
  const changed = await ask<AlarmsReply, "changed">(load, request, "changed");
  const { p99Ms } = await loopHeld(gateway);
  for (const child of [load, gateway.child]) await child.end();
  return {
    ...{ alarms, memoryMb: after.heapMb - before.heapMb },
    ...refreshes,
    changes: CHANGES,
    changeSeconds: changed.seconds,
    changeEvents: changed.events,
    wrong: changed.wrong,
    changeP99Ms: p99Ms,
  };
}

async function measureRefreshes(load: Child, gateway: Gateway) {
  const found = { conditions: [] as number[], refreshCpuMs: [] as number[], refreshHeldMs: [] as number[] };
  for (let refresh = 0; refresh < REFRESHES; refresh += 1) {
    await pause(SETTLE_MS);
    await loopHeld(gateway);
    const before = gateway.child.cpuMicros();
    const { conditions } = await ask<AlarmsReply, "refreshed">(load, { kind: "refresh" }, "refreshed");
    found.refreshCpuMs.push((gateway.child.cpuMicros() - before) / 1_000);
    found.refreshHeldMs.push((await loopHeld(gateway)).longestMs);
    found.conditions.push(conditions);
  }
  return found;
}

/** Waits until every robot has both alarms; how many stand. */
async function allRaised(gateway: Gateway): Promise<number> {
  let standing = 0;
  await until(
    "all alarms raised",
    async () => {
      const response = await fetch(`${gateway.webUrl}/api/v1/alarms`);
      const { alarms } = (await response.json()) as { readonly alarms: readonly { readonly code: string }[] };
      standing = alarms.filter(({ code }) => code.startsWith("BATTERY_")).length;
      return standing === 2 * ROBOTS;
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
