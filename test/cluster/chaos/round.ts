import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { seededRandom } from "../../../src/simulator/world/random.ts";
import { type Command, createClients, lifeOf } from "./clients.ts";
import { type Kind, keepsLeading, type Struck, silenceMsOf, strike } from "./faults.ts";
import { openRecords } from "./open-records.ts";
import type { PlantClients } from "./plant-clients.ts";
import type { Scene } from "./scene.ts";
import type { ServiceLog } from "./service-log.ts";
import { followShownValues, type ShownValues, shownForMs } from "./shown-values.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

export interface RoundPlan {
  readonly kind: Kind;
  readonly seed: number;
  /** Commands a second. */
  readonly rate: number;
  /** Of its first command: two commands of one scene never have the same. */
  readonly firstNumber: number;
}

export interface RoundResult extends Verdict {
  readonly kind: Kind;
  readonly seed: number;
  readonly fault: string;
  /** From the fault to the first start that another process succeeded with; null: none did. */
  readonly takeoverMs: number | null;
  /**
   * How long a conveyor turned on that a line had leased, from when nobody watched over it; null: it turned
   * on, under the same leader.
   */
  readonly conveyorMs: number | null;
  /** For how long a value was shown as good after it had changed. */
  readonly shownMs: number;
  readonly lateBytes: number;
  /** Until the cluster was whole, until the end of the clients, and in all. */
  readonly seconds: readonly [number, number, number];
  /** Of the machine, on average over a minute. */
  readonly load: number;
}

/** After the fault is over, or its successor works. */
const AFTER_MS = 3_000;
/** For the first start that succeeds after the fault. */
const TAKEOVER_MS = 30_000;
const OPEN_MS = 60_000;
const EXPIRY_MS = 10_000;
/** It outlasts the longest pause of a leader. */
const LONG_EXPIRY_MS = 45_000;
/** For the end of records whose senders know it, and of the gateway's own stops. */
const RECORDS_MS = 20_000;
/** What a busy machine adds to the times of values. */
const LATE_MS = 2_000;
/** How often the first start is looked for. */
const LOOK_MS = 50;

export async function runRound(scene: Scene, clients: PlantClients, plan: RoundPlan): Promise<RoundResult> {
  const over = new AbortController();
  const shown = followShownValues(scene.simulator, scene.boxes, scene.robots[0]?.id ?? "");
  try {
    return await play(scene, clients, plan, over, shown);
  } finally {
    over.abort();
    await shown.end();
  }
}

async function play(
  scene: Scene,
  { mqtt, lines, conveyor }: PlantClients,
  plan: RoundPlan,
  over: AbortController,
  shown: ShownValues,
): Promise<RoundResult> {
  const { kind, seed, rate, firstNumber } = plan;
  const random = seededRandom(seed);
  const beganMs = performance.now();
  const seconds = () => Math.round((performance.now() - beganMs) / 1_000);
  await scene.whole();
  await conveyor.roll();
  shown.begin();
  const wholeSeconds = seconds();
  const { boxes, robots, log } = scene;
  const expiresInMs = kind === "pause-slow" ? LONG_EXPIRY_MS : EXPIRY_MS;
  const clients = createClients({ boxes, robots, log, mqtt, lines, random, firstNumber, expiresInMs });
  const sending = clients.send(rate, over.signal);
  await wait(2_000 + random() * 2_000);
  const turnsBefore = log.turns.length;
  const struck = await strike(scene, kind, random);
  const struckMs = performance.now();
  const endOfLeader = struck.leader.ended();
  const healed = lasting(struck, boxes).then(struck.heal);
  const takeover = () => firstStart(clients.commands, struck, kind, struckMs);
  while (takeover() === null && performance.now() < struckMs + TAKEOVER_MS) await wait(LOOK_MS);
  const lateBytes = await healed;
  await wait(AFTER_MS);
  const sentSeconds = seconds();
  over.abort();
  await sending;
  await clients.settled(OPEN_MS);
  const unended = await openRecords(scene.etcd, RECORDS_MS);
  await clients.askAgain(OPEN_MS);
  const takeoverMs = takeover();
  const shownMs = await shown.end();
  const verdict = verdictOf(clients.commands, clients.held, scene.log);
  const faults = scene.boxes.flatMap((box) => box.takeFaults());
  return {
    kind,
    seed,
    fault: `${struck.text}, ${Math.round(struck.lastsMs)} ms`,
    takeoverMs: takeoverMs === null ? null : Math.round(takeoverMs),
    conveyorMs: unwatchedMs(log, turnsBefore, kind === "handover" ? await endOfLeader : struckMs),
    shownMs,
    lateBytes,
    seconds: [wholeSeconds, sentSeconds, seconds()],
    load: loadavg()[0] ?? 0,
    ...verdict,
    broken: [
      ...verdict.broken,
      ...unended.map((id) => `the record of ${id} does not end`),
      ...(shownMs > shownForMs(silenceMsOf(kind)) + LATE_MS
        ? [`a value was shown as good for ${shownMs} ms too long`]
        : []),
      ...faults,
    ],
  };
}

/** Resolves when the fault is over. */
async function lasting({ leader, lastsMs, isFromTakeover }: Struck, boxes: Scene["boxes"]): Promise<void> {
  const untilMs = performance.now() + TAKEOVER_MS;
  const isTaken = () => boxes.some((box) => box !== leader && box.isLeading());
  while (isFromTakeover === true && !isTaken() && performance.now() < untilMs) await wait(LOOK_MS);
  await wait(lastsMs);
}

/**
 * From the fault to the first start that a process other than the old leader took, and that succeeded; if
 * the same one goes on, to the first that was asked for since.
 */
function firstStart(
  commands: readonly Command[],
  { leader, life }: Struck,
  kind: Kind,
  struckMs: number,
): number | null {
  const old = lifeOf(leader.name, life);
  let first: number | null = null;
  for (const { isStop, askedAtMs, takenBy, told } of commands) {
    const [own] = told;
    if (isStop || own?.outcome !== "succeeded" || own.atMs < struckMs) continue;
    if (keepsLeading.has(kind) ? askedAtMs < struckMs : takenBy === old || own.life !== takenBy) continue;
    first = Math.min(first ?? Number.POSITIVE_INFINITY, own.atMs - struckMs);
  }
  return first;
}

/** @param sinceMs since when nobody watches over the conveyor, if it is stopped */
function unwatchedMs({ turns }: ServiceLog, before: number, sinceMs: number): number | null {
  const stop = turns.slice(before).find(({ isTurning }) => !isTurning);
  return stop === undefined ? null : Math.max(0, Math.round(stop.atMs - sinceMs));
}
