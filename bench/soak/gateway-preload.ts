// Loaded before the gateway: gives it simulated time, and answers what its process holds.
import { EventEmitter } from "node:events";
import { openSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { abortTasks } from "../../src/platform/on-abort.ts";
import { takeCensus } from "./census.ts";
import type { Leak, ProbeRequest } from "./protocol.ts";
import { partOfProgram, useAcceleratedClock } from "./use-clock.ts";

const PLANTED_BYTES = 2_000_000;

if (isMainThread) {
  const { setPace, waiting } = await useAcceleratedClock();
  const program: { readonly abortTasks: typeof abortTasks } = await import(
    partOfProgram("platform/on-abort.js")
  );
  const planted = { emitter: new EventEmitter().setMaxListeners(0), memory: [] as unknown[] };

  const plant = (leak: Leak) => {
    if (leak === "listener") planted.emitter.on("planted", () => {});
    else if (leak === "timer") setTimeout(() => {}, 86_400_000).unref();
    else if (leak === "descriptor") openSync("/dev/null", "r");
    else planted.memory.push(Array.from({ length: PLANTED_BYTES / 8 }, Math.random));
  };

  process.on("message", (request: ProbeRequest) => {
    if (request.soak === "pace") setPace(request.pace);
    else if (request.soak === "plant") plant(request.leak);
    else process.send?.(takeCensus({ waiting, ...program }));
  });
  process.channel?.unref();
}
