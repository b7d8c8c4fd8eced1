import { percentiles } from "../../quantile.ts";
import {
  type Block,
  type BlockResult,
  isOnJson,
  isOnSparkplug,
  type Side,
  type Specimens,
} from "../protocol.ts";
import type { LoadService } from "./service.ts";
import type { ObservationListener } from "./watcher.ts";

const TICK_MS = 5;
const SETTLE_MS = 5_000;
/** A paced block that takes so many times its time is given up; what is missing then is missing. */
const STALLED = 4;
/** As many payloads of a block are kept to compare the sides. */
const SPECIMENS = 16;

/** What has been sent to one side and when, and what of it was seen. */
export class Tally implements ObservationListener {
  /** Called when a robot's newest message is seen on MQTT. */
  onSeen: (robot: string) => void = () => {};
  sent = 0;
  seenOnMqtt = 0;
  seenOnOpcua = 0;
  seenOnSparkplug = 0;
  readonly mqttLatencies: number[] = [];
  readonly opcuaLatencies: number[] = [];
  readonly #specimenOf: string;
  readonly #specimens = new Map<number, string>();
  readonly #mqttDue = new Map<string, number>();
  readonly #opcuaDue = new Map<string, number>();
  /** Robots whose data are still to come; they say nothing of a sequence number. */
  readonly #sparkplugDue = new Set<string>();
  /** How often a robot's messages must still be seen. */
  readonly #unseen = new Map<string, number>();

  /** @param specimenOf the robot whose first payloads are kept */
  constructor(specimenOf: string) {
    this.#specimenOf = specimenOf;
  }

  reset(): void {
    this.sent = 0;
    this.seenOnMqtt = 0;
    this.seenOnOpcua = 0;
    this.seenOnSparkplug = 0;
    this.mqttLatencies.length = 0;
    this.opcuaLatencies.length = 0;
    this.#mqttDue.clear();
    this.#opcuaDue.clear();
    this.#sparkplugDue.clear();
    this.#unseen.clear();
    this.#specimens.clear();
  }

  get specimens(): Specimens {
    return Object.fromEntries(this.#specimens);
  }

  noteSent(side: Side, robot: string, sequence: number): void {
    const atMs = performance.now();
    this.sent += 1;
    this.#opcuaDue.set(`${robot}/${sequence}`, atMs);
    if (isOnJson(side)) this.#mqttDue.set(`${robot}/${sequence}`, atMs);
    if (isOnSparkplug(side)) this.#sparkplugDue.add(robot);
    const ends = 1 + Number(isOnJson(side)) + Number(isOnSparkplug(side));
    this.#unseen.set(robot, (this.#unseen.get(robot) ?? 0) + ends);
  }

  mqtt(robot: string, sequence: number, payload: Buffer): void {
    if (robot === this.#specimenOf && this.#specimens.size < SPECIMENS) {
      this.#specimens.set(sequence, payload.toString());
    }
    const key = `${robot}/${sequence}`;
    const sentAtMs = this.#mqttDue.get(key);
    if (sentAtMs === undefined) return;
    this.#mqttDue.delete(key);
    this.seenOnMqtt += 1;
    this.#noteSeen(robot);
    this.mqttLatencies.push(performance.now() - sentAtMs);
    this.onSeen(robot);
  }

  opcua(robot: string, sequence: number): void {
    const key = `${robot}/${sequence}`;
    const sentAtMs = this.#opcuaDue.get(key);
    if (sentAtMs === undefined) return;
    this.#opcuaDue.delete(key);
    this.seenOnOpcua += 1;
    this.#noteSeen(robot);
    this.opcuaLatencies.push(performance.now() - sentAtMs);
  }

  sparkplug(robot: string): void {
    if (!this.#sparkplugDue.delete(robot)) return;
    this.seenOnSparkplug += 1;
    this.#noteSeen(robot);
  }

  #noteSeen(robot: string): void {
    this.#unseen.set(robot, (this.#unseen.get(robot) ?? 0) - 1);
  }

  /** Whether everything of the robot was seen at every end. */
  isSeen(robot: string): boolean {
    return (this.#unseen.get(robot) ?? 0) === 0;
  }

  settled(): boolean {
    return this.#mqttDue.size === 0 && this.#opcuaDue.size === 0 && this.#sparkplugDue.size === 0;
  }
}

/** Runs one block against a side and gives what the far end saw of it. */
export async function runBlock(
  block: Block,
  robots: readonly string[],
  service: LoadService,
  tally: Tally,
): Promise<BlockResult> {
  tally.reset();
  const startedMs = performance.now();
  if (block.kind === "paced") await pace(block, robots, service, tally);
  else await saturate(block.side, block.seconds, robots, service, tally);
  const seconds = (performance.now() - startedMs) / 1000;
  await settle(tally);
  return {
    sent: tally.sent,
    seenOnMqtt: tally.seenOnMqtt,
    seenOnOpcua: tally.seenOnOpcua,
    seenOnSparkplug: tally.seenOnSparkplug,
    seconds,
    specimens: tally.specimens,
    mqttLatencyMs: percentiles(tally.mqttLatencies),
    opcuaLatencyMs: percentiles(tally.opcuaLatencies),
  };
}

/**
 * Robots in turn, so that a robot's messages are as far apart as they can be. One whose last message was
 * not seen yet is passed over: on a machine that stalls, the next would rightly take its place.
 */
async function pace(
  block: Extract<Block, { kind: "paced" }>,
  robots: readonly string[],
  service: LoadService,
  tally: Tally,
): Promise<void> {
  const total = Math.round(block.messagesPerSecond * block.seconds);
  const startedMs = performance.now();
  const endMs = startedMs + STALLED * block.seconds * 1000;
  let turn = 0;
  const nextRobot = () => {
    for (let passed = 0; passed < robots.length; passed += 1) {
      const robot = robots[turn % robots.length] ?? "";
      turn += 1;
      if (tally.isSeen(robot)) return robot;
    }
    return null;
  };
  while (tally.sent < total && performance.now() < endMs) {
    const due = Math.min(total, ((performance.now() - startedMs) / 1000) * block.messagesPerSecond);
    while (tally.sent < due) {
      const robot = nextRobot();
      if (robot === null) break;
      send(service, block.side, robot, tally);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}

/** Each robot's next message leaves when its last one was seen: nothing can be conflated, nothing idles. */
async function saturate(
  side: Side,
  seconds: number,
  robots: readonly string[],
  service: LoadService,
  tally: Tally,
): Promise<void> {
  const endMs = performance.now() + seconds * 1000;
  tally.onSeen = (robot) => {
    if (performance.now() < endMs) send(service, side, robot, tally);
  };
  for (const robot of robots) send(service, side, robot, tally);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  tally.onSeen = () => {};
}

function send(service: LoadService, side: Side, robot: string, tally: Tally): void {
  const sequence = service.send(side, robot);
  if (sequence < 0) throw new Error(`${side} is not subscribed to ${robot}`);
  tally.noteSent(side, robot, sequence);
}

async function settle(tally: Tally): Promise<void> {
  const endMs = performance.now() + SETTLE_MS;
  while (!tally.settled() && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}
