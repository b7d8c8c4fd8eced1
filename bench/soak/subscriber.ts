import mqtt from "mqtt";
import type { Percentiles } from "../quantile.ts";
import { percentiles } from "../quantile.ts";
import { type Pace, realAt, realNowMs } from "./pace.ts";

/** A client of the plant's broker: times each mission message by the machine's clock, and sends commands. */
export interface Subscriber {
  /** Of the messages since the last call, but for those sent while something was cut. */
  latency(): Latency;
  /** Messages from now until the call of what is returned do not count. */
  disturb(): () => void;
  /** Resolves when it has heard the gateway from now on. */
  received(): Promise<void>;
  /** How its commands ended, and how often. */
  readonly replies: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export interface Latency extends Percentiles {
  readonly messages: number;
  /** Of these, what was sent while something was cut. */
  readonly disturbed: number;
}

interface Sample {
  readonly sentAtMs: number;
  readonly tookMs: number;
}

const CLIENT = "soak";
const COMMAND_EVERY_MS = 1_000;
/** What waited behind something that was cut comes this much later. */
const AFTER_MS = 500;
const CONVEYOR_INDEX = 1;

/** Connects, and again whenever the broker was away. */
export async function subscribe(
  port: number,
  base: string,
  carts: readonly string[],
  pace: () => Pace,
): Promise<Subscriber> {
  const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, {
    clientId: CLIENT,
    protocolVersion: 4,
    reconnectPeriod: 50,
  });
  const newest = new Map<string, number>();
  const replies = new Map<string, number>();
  const disturbances: { readonly fromMs: number; toMs: number }[] = [];
  const waiting = new Set<() => void>();
  let samples: Sample[] = [];
  client.on("error", () => {});
  client.on("connect", () => client.subscribe(`${base}/#`, { qos: 1 }));
  client.on("message", (topic, payload) => {
    const arrivedMs = realNowMs();
    if (topic.endsWith("/mission") && !topic.includes("/event/")) {
      const timestamp = /"timestamp":"([^"]+)"/.exec(payload.toString())?.[1];
      const sentMs = Date.parse(timestamp ?? "");
      if (!(sentMs > (newest.get(topic) ?? 0))) return;
      newest.set(topic, sentMs);
      const sentAtMs = realAt(pace(), sentMs);
      samples.push({ sentAtMs, tookMs: arrivedMs - sentAtMs });
      for (const resolve of waiting) resolve();
      waiting.clear();
    } else if (topic.includes(`/clients/${CLIENT}/reply/`)) {
      const reply = JSON.parse(payload.toString()) as { readonly outcome: string; readonly code: string };
      const ending = `${reply.outcome} ${reply.code}`;
      replies.set(ending, (replies.get(ending) ?? 0) + 1);
    }
  });
  await new Promise<void>((resolve) => client.once("connect", () => resolve()));
  let number = 0;
  const commands = setInterval(() => {
    if (!client.connected) return;
    number += 1;
    const cart = carts[number % carts.length];
    const command = `COMMAND_CONVEYOR_MOTOR_${number % 2 === 0 ? "CW" : "STOP"}`;
    const request = { robot_id: cart, commands: [{ index: CONVEYOR_INDEX, command }] };
    const text = JSON.stringify({ id: `soak-${number}`, request });
    client.publish(`${base}/clients/${CLIENT}/command/ControlConveyor`, text, { qos: 1 });
  }, COMMAND_EVERY_MS);

  const isDisturbed = ({ sentAtMs, tookMs }: Sample) =>
    disturbances.some(({ fromMs, toMs }) => sentAtMs + tookMs >= fromMs && sentAtMs <= toMs);

  return {
    latency() {
      const quiet = samples.filter((sample) => !isDisturbed(sample));
      const found = {
        messages: samples.length,
        disturbed: samples.length - quiet.length,
        ...percentiles(quiet.map(({ tookMs }) => tookMs)),
      };
      samples = [];
      disturbances.splice(0, disturbances.length, ...disturbances.filter(({ toMs }) => toMs > realNowMs()));
      return found;
    },
    disturb() {
      const disturbance = { fromMs: realNowMs(), toMs: Number.POSITIVE_INFINITY };
      disturbances.push(disturbance);
      return () => {
        disturbance.toMs = realNowMs() + AFTER_MS;
      };
    },
    received: () => new Promise((resolve) => waiting.add(resolve)),
    replies,
    async close() {
      clearInterval(commands);
      await client.endAsync(true);
    },
  };
}
