// Loaded before the gateway: answers what its process holds, and for how long its event loop was held.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";
import type { Collected, LoopHeld, ProbeRequest } from "./probe.ts";

/** V8 gives memory back in the background, after a collection. */
const GIVEN_BACK_MS = 2_000;
const BYTES_PER_MB = 1024 * 1024;
const LOOK_MS = 1;
const NANOS_PER_MS = 1e6;

const delays = monitorEventLoopDelay({ resolution: LOOK_MS });

async function collect(gc: () => void): Promise<Collected> {
  for (let round = 0; round < 3; round += 1) {
    gc();
    await pause(GIVEN_BACK_MS);
  }
  const status = readFileSync("/proc/self/status", "latin1");
  return {
    heapMb: process.memoryUsage().heapUsed / BYTES_PER_MB,
    rssAnonMb: Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) / 1024,
  };
}

function watch(): object {
  delays.reset();
  delays.enable();
  return {};
}

function loopHeld(): LoopHeld {
  delays.disable();
  return {
    longestMs: delays.max / NANOS_PER_MS - LOOK_MS,
    p99Ms: delays.percentile(99) / NANOS_PER_MS - LOOK_MS,
  };
}

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  const answers = { heap: () => collect(gc), watch, held: loopHeld };
  process.on("message", async ({ of }: ProbeRequest) => {
    process.send?.(await answers[of]());
  });
  process.channel?.unref();
}
