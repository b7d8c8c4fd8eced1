import { setTimeout as pause } from "node:timers/promises";
import mqtt, { type MqttClient } from "mqtt";
import type { FloodReply, FloodRequest } from "./protocol.ts";

const TICK_MS = 5;
/** Replies are waited for until none has come for so long. */
const QUIET_MS = 5_000;
const EXPIRY_MS = 60_000;

interface Plant {
  readonly client: MqttClient;
  readonly publish: (operation: string, request: object, qos: 0 | 1) => void;
  readonly codes: Record<string, number>;
  lastReplyMs: number;
}

let plant: Plant | undefined;
let isEnded = false;

async function open(request: Extract<FloodRequest, { kind: "open" }>): Promise<Plant> {
  const { url, base, client: name } = request;
  const client = await mqtt.connectAsync(url, { clientId: `bench-${name}` });
  (client.stream as { setNoDelay?: (on: boolean) => void }).setNoDelay?.(true);
  const run = Date.now().toString(36);
  let number = 0;
  const opened: Plant = {
    client,
    codes: {},
    lastReplyMs: performance.now(),
    publish(operation, body, qos) {
      number += 1;
      const expires = new Date(Date.now() + EXPIRY_MS).toISOString();
      const payload = JSON.stringify({ id: `${run}-${number}`, expires_at: expires, request: body });
      client.publish(`${base}/clients/${name}/command/${operation}`, payload, { qos });
    },
  };
  client.on("message", (_topic, payload) => {
    const { code } = JSON.parse(payload.toString()) as { code: string };
    opened.codes[code] = (opened.codes[code] ?? 0) + 1;
    opened.lastReplyMs = performance.now();
  });
  await client.subscribeAsync(`${base}/clients/${name}/reply/+`, { qos: 0 });
  return opened;
}

async function flood(
  opened: Plant,
  { commands, robots }: Extract<FloodRequest, { kind: "flood" }>,
): Promise<FloodReply> {
  const { client, codes, publish } = opened;
  const startedMs = performance.now();
  for (let sent = 0; sent < commands; sent += 1) {
    const robotId = robots[sent % robots.length];
    publish(
      "ControlConveyor",
      { robotId, commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_CW" }] },
      1,
    );
    if (client.stream.writableNeedDrain)
      await new Promise<void>((resolve) => client.stream.once("drain", () => resolve()));
  }
  const sentMs = performance.now();
  const answered = () => Object.values(codes).reduce((sum, count) => sum + count, 0);
  const isQuiet = () => performance.now() - Math.max(sentMs, opened.lastReplyMs) > QUIET_MS;
  while (answered() < commands && !isQuiet()) await pause(TICK_MS);
  return { kind: "flooded", seconds: (Math.max(sentMs, opened.lastReplyMs) - startedMs) / 1000, codes };
}

async function stops(
  { codes, publish }: Plant,
  { perSecond, robots }: Extract<FloodRequest, { kind: "stops" }>,
): Promise<FloodReply> {
  const sentAtMs: number[] = [];
  const startedMs = performance.now();
  while (!isEnded) {
    const due = ((performance.now() - startedMs) / 1000) * perSecond;
    while (sentAtMs.length < due) {
      const robotId = robots[sentAtMs.length % robots.length];
      sentAtMs.push(Date.now());
      publish(
        "UpdateMission",
        { robotId, missionCommand: { missionId: "none", command: "COMMAND_CANCEL" } },
        1,
      );
    }
    await pause(TICK_MS);
  }
  await pause(QUIET_MS);
  return { kind: "stopped", sentAtMs, codes };
}

async function serve(request: FloodRequest): Promise<FloodReply | null> {
  if (request.kind === "open") {
    plant = await open(request);
    return { kind: "open" };
  }
  if (request.kind === "end") {
    isEnded = true;
    return null;
  }
  if (plant === undefined) throw new Error("open comes first");
  return request.kind === "flood" ? flood(plant, request) : stops(plant, request);
}

process.on("message", (request: FloodRequest) => {
  serve(request).then(
    (reply) => reply !== null && process.send?.(reply),
    (error: unknown) => process.send?.({ kind: "failed", message: String(error) } satisfies FloodReply),
  );
});
