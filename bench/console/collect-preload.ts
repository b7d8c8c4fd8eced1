// Loaded before the gateway: collects its heap when asked, and answers what is left.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";
import type { Collected } from "./protocol.ts";

/** V8 gives memory back in the background, after a collection. */
const GIVEN_BACK_MS = 2_000;
const BYTES_PER_MB = 1024 * 1024;

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

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  process.on("message", () => void collect(gc).then((found) => process.send?.(found)));
  process.channel?.unref();
}
