import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { abortTasks } from "../../src/platform/on-abort.ts";

/** What somebody holds at a moment: each kind by its number. */
export type Count = Readonly<Record<string, number>>;

/** Counts what this process holds of what was made since the census was opened. */
export interface Census {
  /** Listeners of abort signals, entries of AbortSignal.any, timers, process listeners, sockets, servers. */
  count(): Count;
  /** The same, after what nobody holds any more was collected. */
  countHeld(): Promise<Count>;
  /** Where what is left was made: a stack a timer, at most a few. */
  origins(): readonly string[];
  /** Rejections that nobody handled, and exceptions that nobody caught, as text. */
  unhandled(): readonly string[];
  /** Ends the counting. */
  close(): void;
}

type Timer = ReturnType<typeof setTimeout>;

/** What Node tells of its resources, by its names; the others come and go with the test runner. */
const resourceKinds = new Set(["TCPSocketWrap", "TCPServerWrap", "TLSWrap", "PipeServerWrap", "ProcessWrap"]);
const SHOWN_ORIGINS = 5;

/**
 * Opens a census. While it is open, controllers and timers are made through it: the product makes them
 * by their global names, the test runner has taken its own before. One at a time.
 */
export function openCensus(): Census {
  const own = { AbortController, setTimeout, setInterval, clearTimeout, clearInterval };
  const signals = new Set<WeakRef<AbortSignal>>();
  const timers = new Map<Timer, string>();
  const failures: string[] = [];
  const resourcesBefore = resources();
  const processBefore = processListeners();

  class CountedController extends own.AbortController {
    constructor() {
      super();
      signals.add(new WeakRef(this.signal));
    }
  }
  const start = (make: typeof setTimeout | typeof setInterval, isOnce: boolean) =>
    ((task: (...args: readonly unknown[]) => void, delayMs?: number, ...args: readonly unknown[]) => {
      const timer: Timer = make(() => {
        if (isOnce) timers.delete(timer);
        task(...args);
      }, delayMs ?? 0);
      timers.set(timer, new Error("made here").stack ?? "");
      return timer;
    }) as typeof setTimeout;
  const end =
    (clear: typeof clearTimeout): typeof clearTimeout =>
    (timer) => {
      if (typeof timer === "object" && timer !== null) timers.delete(timer as Timer);
      clear(timer);
    };
  Object.assign(globalThis, {
    AbortController: CountedController,
    // promisify finds what it needs of them in their own properties.
    setTimeout: Object.assign(start(own.setTimeout, true), own.setTimeout),
    setInterval: Object.assign(start(own.setInterval, false), own.setInterval),
    clearTimeout: end(own.clearTimeout),
    clearInterval: end(own.clearInterval),
  });
  const note = (what: unknown) =>
    failures.push(what instanceof Error ? (what.stack ?? String(what)) : String(what));
  process.on("unhandledRejection", note);
  process.on("uncaughtExceptionMonitor", note);

  function count(): Count {
    let listeners = 0;
    let joined = 0;
    for (const ref of signals) {
      const signal = ref.deref();
      if (signal === undefined) signals.delete(ref);
      else {
        // All that wait through onAbort share one listener.
        const tasks = abortTasks(signal);
        listeners += getEventListeners(signal, "abort").length + Math.max(0, tasks - 1);
        joined += dependants(signal);
      }
    }
    return {
      signalListeners: listeners,
      joinedSignals: joined,
      timers: timers.size,
      processListeners: processListeners() - processBefore - 2,
      ...minus(resources(), resourcesBefore),
    };
  }

  return {
    count,
    async countHeld() {
      // A signal that was just looked at lives until the end of the turn.
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
      return count();
    },
    origins: () => [...timers.values()].slice(0, SHOWN_ORIGINS),
    unhandled: () => failures,
    close() {
      Object.assign(globalThis, own);
      process.off("unhandledRejection", note);
      process.off("uncaughtExceptionMonitor", note);
    },
  };
}

/** Signals that AbortSignal.any made of this one: it keeps an entry of each. */
function dependants(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === "kDependantSignals",
  );
  const joined: unknown = key === undefined ? undefined : Reflect.get(signal, key);
  return typeof joined === "object" && joined !== null && "size" in joined ? Number(joined.size) : 0;
}

function processListeners(): number {
  return process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
}

function resources(): Count {
  const counted: Record<string, number> = {};
  for (const kind of resourceKinds) counted[kind] = 0;
  for (const name of process.getActiveResourcesInfo()) {
    if (resourceKinds.has(name)) counted[name] = (counted[name] ?? 0) + 1;
  }
  return counted;
}

function minus(now: Count, before: Count): Count {
  return Object.fromEntries(
    Object.entries(now).map(([kind, number]) => [kind, number - (before[kind] ?? 0)]),
  );
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
}
