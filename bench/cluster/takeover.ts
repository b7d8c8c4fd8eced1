import { setTimeout as wait } from "node:timers/promises";
import type { Box } from "../../test/cluster/chaos/box.ts";
import { leaderOf } from "../../test/cluster/chaos/faults.ts";
import { request } from "../../test/cluster/chaos/request.ts";
import type { Epochs } from "./epochs.ts";
import type { Load } from "./load.ts";
import type { ClusterBench } from "./open.ts";
import { send } from "./start.ts";

/** `together`: etcd's leader dies with the box. */
export type Ending = "kill" | "together" | "handover";

/** One takeover. Milliseconds from the fault on; null: that was not seen. */
export interface Takeover {
  readonly ending: Ending;
  readonly struckAtMs: number;
  /** etcd has removed the key of the leader. */
  readonly freeMs: number | null;
  /** Another box has it. */
  readonly acquiredMs: number | null;
  /** That box says so in its log: it has all that was recorded. */
  readonly leadsMs: number | null;
  /** A start has succeeded there. */
  readonly firstMs: number;
  /** The last robot without a start in doubt has taken one. */
  readonly allMs: number;
  /** Between two starts that succeeded, the longest. */
  readonly gapMs: number;
}

/** Starts count for themselves that are further from a fault. */
export const FAULT_MS = 10_000;
/** Before each fault: what a lease of 5 s has left then is by chance. */
const CALM_MS = { least: FAULT_MS + 3_000, more: 2_000 } as const;
const LEADS = '"msg":"this member leads from now on"';

export async function takeOver(
  bench: ClusterBench,
  load: Load,
  epochs: Epochs,
  ending: Ending,
): Promise<Takeover> {
  const { scene, quiet } = bench;
  await scene.whole();
  await wait(CALM_MS.least + Math.random() * CALM_MS.more);
  const leader = scene.leader();
  const member = ending === "together" ? await leaderOf(scene.etcd.members) : null;
  const struckAtMs = performance.now();
  if (ending === "handover") await handOver(leader);
  else await Promise.all([leader.kill(), member?.kill()]);
  // One that was killed may be up again when the lease ends, and lead again.
  const may = scene.boxes.filter((box) => ending !== "handover" || box !== leader);
  const first = await load.firstBy(may, struckAtMs);
  const successor = scene.boxes.find(({ name }) => name === first.box) as Box;
  const all = await Promise.all(quiet.map(({ id }) => send(successor, id)));
  const failed = all.find(({ outcome }) => outcome !== "succeeded");
  if (failed !== undefined)
    throw new Error(`${failed.robotId}, not in doubt, takes no start: ${failed.outcome}`);
  if (member !== null) await member.start();
  await wait(FAULT_MS);
  const since = (moments: readonly number[]) => {
    const moment = moments.find((each) => each >= struckAtMs);
    return moment === undefined ? null : moment - struckAtMs;
  };
  return {
    ...{ ending, struckAtMs },
    freeMs: since(epochs.freeAtMs),
    acquiredMs: since(epochs.acquiredAtMs),
    leadsMs: since(timesOf(successor, LEADS)),
    firstMs: first.toldAtMs - struckAtMs,
    allMs: Math.max(...all.map(({ toldAtMs }) => toldAtMs)) - struckAtMs,
    gapMs: longestGap(load, struckAtMs),
  };
}

/** As `fleetgate handover` does. */
async function handOver(leader: Box): Promise<void> {
  const answer = await request(leader, "POST", "handover", {}, {});
  if (answer?.status !== 202) throw new Error(`no handover: ${JSON.stringify(answer?.body)}`);
}

/** When a box has said something, on the monotonic clock. */
function timesOf(box: Box, message: string): readonly number[] {
  return box
    .said()
    .split("\n")
    .filter((line) => line.includes(message))
    .map((line) => Date.parse((JSON.parse(line) as { readonly time: string }).time) - performance.timeOrigin);
}

function longestGap({ told }: Load, struckAtMs: number): number {
  const near = told
    .filter(({ outcome, toldAtMs }) => outcome === "succeeded" && toldAtMs > struckAtMs - FAULT_MS)
    .map(({ toldAtMs }) => toldAtMs)
    .sort((a, b) => a - b);
  return Math.max(...near.slice(1).map((atMs, at) => atMs - (near[at] ?? atMs)));
}
