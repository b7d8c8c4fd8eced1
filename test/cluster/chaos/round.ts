import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { seededRandom } from "../../../src/simulator/world/random.ts";
import { type Command, createClients, lifeOf } from "./clients.ts";
import { type Kind, type Struck, strike } from "./faults.ts";
import type { PlantClients } from "./plant-clients.ts";
import type { Scene } from "./scene.ts";
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
  readonly lateBytes: number;
  readonly seconds: number;
  /** Of the machine, on average over a minute. */
  readonly load: number;
}

/** After the fault is over, or its successor works. */
const AFTER_MS = 3_000;
/** For the first start that succeeds after the fault. */
const TAKEOVER_MS = 30_000;
const OPEN_MS = 60_000;
/** How often the first start is looked for. */
const LOOK_MS = 50;

export async function runRound(
  scene: Scene,
  { mqtt, lines }: PlantClients,
  plan: RoundPlan,
): Promise<RoundResult> {
  const { kind, seed, rate, firstNumber } = plan;
  const random = seededRandom(seed);
  await scene.whole();
  const beganMs = performance.now();
  const { boxes, robots, log } = scene;
  const clients = createClients({ boxes, robots, log, mqtt, lines, random, firstNumber });
  const over = new AbortController();
  const sending = clients.send(rate, over.signal);
  await wait(2_000 + random() * 2_000);
  const struck = await strike(scene, kind, random);
  const struckMs = performance.now();
  const healed = wait(struck.lastsMs).then(struck.heal);
  const takeover = () => firstStart(clients.commands, struck, kind, struckMs);
  while (takeover() === null && performance.now() < struckMs + TAKEOVER_MS) await wait(LOOK_MS);
  const lateBytes = await healed;
  await wait(AFTER_MS);
  over.abort();
  await sending;
  await clients.settled(OPEN_MS);
  await clients.askAgain(OPEN_MS);
  const takeoverMs = takeover();
  const verdict = verdictOf(clients.commands, clients.held, scene.log);
  const faults = scene.boxes.flatMap((box) => box.takeFaults());
  return {
    kind,
    seed,
    fault: `${struck.text}, for ${Math.round(struck.lastsMs)} ms`,
    takeoverMs: takeoverMs === null ? null : Math.round(takeoverMs),
    lateBytes,
    seconds: Math.round((performance.now() - beganMs) / 1_000),
    load: loadavg()[0] ?? 0,
    ...verdict,
    broken: [...verdict.broken, ...faults],
  };
}

/**
 * From the fault to the first start that a process other than the old leader took, and that succeeded; if
 * etcd's leader died, to the first that was asked for since.
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
    if (kind === "etcd-leader" ? askedAtMs < struckMs : takenBy === old || own.life !== takenBy) continue;
    first = Math.min(first ?? Number.POSITIVE_INFINITY, own.atMs - struckMs);
  }
  return first;
}
