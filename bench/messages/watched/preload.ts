// Loaded before the gateway: metrics and recorder are put behind a switch, which the bench turns.
import { register } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";
import { putOff, type SwitchReply, type SwitchRequest, watching } from "./switch.ts";

/** Time to write what waits, which is a few hundred kilobytes. */
const WRITTEN_MS = 20;

let before = process.cpuUsage();

async function turn({ isOn }: SwitchRequest): Promise<SwitchReply> {
  for (const task of [...putOff]) task();
  await pause(WRITTEN_MS);
  const { user, system } = process.cpuUsage(before);
  const { handedOver } = watching;
  Object.assign(watching, { isOn, handedOver: 0 });
  before = process.cpuUsage();
  return { cpuMicros: user + system, handedOver };
}

if (isMainThread) {
  register("./hooks.js", import.meta.url);
  process.on(
    "message",
    (request: SwitchRequest) => void turn(request).then((reply) => process.send?.(reply)),
  );
  process.channel?.unref();
}
