import { AsyncResource } from "node:async_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Clock, every } from "./clock.ts";
import type { Log } from "./log.ts";

/** One look at this process's memory. */
export interface HeapLook {
  /** The machine's memory that V8 holds, in use or not. */
  readonly heapBytes: number;
  /** The share of the time since the last look in which the event loop was busy: 0 to 1. */
  readonly busy: number;
}

export interface HeapReturnParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly look: () => HeapLook;
  /** Collects garbage, and returns free memory to the machine. */
  readonly collect: () => void;
}

const LOOK_PERIOD_MS = 1_000;
/** Growth since the last collection that is worth a pause of a quarter of a second. */
const GROWN_BYTES = 48 * 1024 * 1024;
/** A process that handles some hundred messages a second is busier: they would wait for the pause. */
const AT_REST = 0.1;
const LOOKS_AT_REST = 10;

/**
 * Gives memory back after a flood, until the signal is aborted. The daemon runs without V8's memory reducer,
 * which compacts an idle heap again and again; without it, what a flood has left lies there until the next
 * one. So the heap is collected when it has grown and the process has been at rest for ten seconds, and again
 * as long as that gives something back. V8 gives back the place where objects are made, up to 64 MB, only if
 * less than 1 MB a second was made in the five seconds before. While a process is not at rest, V8 collects
 * in small steps.
 */
export function returnHeap({ clock, log, look, collect }: HeapReturnParts, signal: AbortSignal): void {
  let settledBytes = look().heapBytes;
  let rested = 0;
  every(clock, LOOK_PERIOD_MS, signal, () => {
    const { heapBytes, busy } = look();
    rested = busy > AT_REST ? 0 : rested + 1;
    if (rested < LOOKS_AT_REST) return;
    if (heapBytes - settledBytes < GROWN_BYTES) {
      settledBytes = Math.min(settledBytes, heapBytes);
      return;
    }
    collect();
    rested = 0;
    const afterBytes = look().heapBytes;
    log.info({ heapBytes, afterBytes }, "the heap had grown and was collected");
    // Memory that a further collection would not return is in use.
    if (heapBytes - afterBytes < GROWN_BYTES / 4) settledBytes = afterBytes;
  });
}

/**
 * Since Node.js 22, V8 keeps the pages that a collection frees in a pool, until a collection that was forced
 * by want of memory. Older versions have no such option, and return them by themselves.
 */
const KEEPS_FREED_PAGES = Number.parseInt(process.versions.node, 10) >= 22;
/** In a larger heap that further collection takes longer than a command may be late. */
const LARGEST_EMPTIED_BYTES = 128 * 1024 * 1024;

type Gc = (options?: {
  readonly type: "major";
  readonly execution: "sync";
  readonly flavor: "last-resort";
}) => void;

/** Of this process. */
export function processHeap(): Pick<HeapReturnParts, "look" | "collect"> {
  setFlagsFromString("--expose-gc");
  const gc: Gc = runInNewContext("gc");
  let before = performance.eventLoopUtilization();
  return {
    collect() {
      gc();
      const isSmall = getHeapStatistics().used_heap_size < LARGEST_EMPTIED_BYTES;
      if (KEEPS_FREED_PAGES && isSmall) gc({ type: "major", execution: "sync", flavor: "last-resort" });
    },
    look() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return { heapBytes: getHeapStatistics().total_heap_size, busy: utilization };
    },
  };
}

/**
 * Makes what `AsyncResource.bind` returns collectable by the fast, frequent collections of the heap.
 *
 * Node.js up to 24 gives each bound function a deprecated property, `asyncResource` (DEP0172), whose
 * accessors become prototypes: V8 keeps a hidden class for each, in the old part of the heap, and that holds
 * the function and all it reaches until the next full collection. node:http2 binds one function for each
 * request, so every unary call of gRPC, with its command, would live until then: 10 kB each. Nothing here
 * reads the property. Where Node.js does not set it any more, nothing is changed.
 */
export function bindWithoutProperty(): void {
  if (!("asyncResource" in new AsyncResource("probe").bind(() => {}))) return;
  AsyncResource.prototype.bind = bind as AsyncResource["bind"];
}

/** As Node.js documents it: without `thisArg` the function runs with the `this` that it is called with. */
function bind(this: AsyncResource, run: (...args: unknown[]) => unknown, thisArg?: unknown) {
  if (typeof run !== "function") throw new TypeError("AsyncResource.bind needs a function");
  const resource = this;
  const bound = function (this: unknown, ...args: unknown[]) {
    return resource.runInAsyncScope(run, thisArg === undefined ? this : thisArg, ...args);
  };
  return Object.defineProperty(bound, "length", { value: run.length, configurable: true });
}
