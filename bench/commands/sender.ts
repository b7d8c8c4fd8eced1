import { setTimeout as pause } from "node:timers/promises";
import { percentiles } from "../quantile.ts";
import type { SenderReply, SenderRequest, SendResult, Way } from "./protocol.ts";
import { openBare, openEcho, openMqtt, type Send } from "./ways.ts";

const TICK_MS = 2;
/** Longer than a command can take: its start, its call and the search for evidence. */
const SETTLE_MS = 45_000;

const ways = new Map<Way, Send>();
let robots: readonly string[] = [];
/** Each robot's conveyor is started and stopped in turn. */
let turn = 0;

async function open(request: Extract<SenderRequest, { kind: "open" }>): Promise<void> {
  robots = request.robots;
  const { address, mqttPort, base, otherBase } = request;
  ways.set("mqtt", await openMqtt(mqttPort, base));
  if (otherBase !== null) ways.set("other", await openMqtt(mqttPort, otherBase));
  ways.set("bare", await openBare(address));
  ways.set("echo", await openEcho(mqttPort));
}

async function send(way: Way, rate: number, seconds: number): Promise<SendResult> {
  const sendOne = ways.get(way);
  if (sendOne === undefined) throw new Error(`the way ${way} is not open`);
  const total = Math.round(rate * seconds);
  const outcomes: Record<string, number> = {};
  const latencies: number[] = [];
  const startedMs = performance.now();
  let lastMs = startedMs;
  let ended = 0;
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, ((performance.now() - startedMs) / 1000) * rate);
    for (; sent < due; sent += 1) {
      const robot = robots[turn % robots.length] ?? "";
      const motor = Math.floor(turn / robots.length) % 2 === 0 ? "CW" : "STOP";
      turn += 1;
      const sentAtMs = performance.now();
      sendOne(robot, motor, (outcome) => {
        lastMs = performance.now();
        ended += 1;
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        latencies.push(lastMs - sentAtMs);
      });
    }
    await pause(TICK_MS);
  }
  const endMs = performance.now() + SETTLE_MS;
  while (ended < total && performance.now() < endMs) await pause(TICK_MS);
  return {
    sent: total,
    outcomes,
    withoutOutcome: total - ended,
    seconds: (lastMs - startedMs) / 1000,
    latencyMs: percentiles(latencies),
  };
}

async function serve(request: SenderRequest): Promise<SenderReply> {
  if (request.kind === "send")
    return { kind: "sent", result: await send(request.way, request.rate, request.seconds) };
  await open(request);
  return { kind: "open" };
}

process.on("message", (request: SenderRequest) => {
  serve(request).then(
    (reply) => process.send?.(reply),
    (error: unknown) => process.send?.({ kind: "failed", message: String(error) } satisfies SenderReply),
  );
});
