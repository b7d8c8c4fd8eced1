import { readFileSync } from "node:fs";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { writeHeapSnapshot } from "node:v8";

// Loaded by `--import` into a program that is started with an IPC channel and `--expose-gc`: answers each
// message with what the program has used and done since the last one (Figures, measured-daemon.ts). A message
// with a path makes it write its heap there; one with milliseconds makes it work so long in one turn.

/** How often the loop is looked at. The delays are what comes on top of it. */
const BETWEEN_MS = 1;
const delay = monitorEventLoopDelay({ resolution: BETWEEN_MS });
delay.enable();

/**
 * The longest that one turn kept the processor: a turn that was preempted looks longer by the clock alone.
 */
let longestTurnMs = 0;
let lookedAtMs = performance.now();
let spentMs = mainThreadMs();
setInterval(() => {
  const nowMs = performance.now();
  const nowSpentMs = mainThreadMs();
  longestTurnMs = Math.max(longestTurnMs, Math.min(nowMs - lookedAtMs, nowSpentMs - spentMs));
  lookedAtMs = nowMs;
  spentMs = nowSpentMs;
}, BETWEEN_MS).unref();

/**
 * What the same processor, caches and neighbours make of work that never changes: a longest turn is compared
 * with that, for a loaded machine takes more processor time for the same.
 */
const WORK_EVERY_MS = 1_000;
const workText = JSON.stringify(Array.from({ length: 12_000 }, (_, at) => ({ id: `robot-${at}`, at })));
const work = { ms: 0, count: 0 };
setInterval(() => {
  const [startMs, startSpentMs] = [performance.now(), mainThreadMs()];
  doFixedWork();
  const tookMs = mainThreadMs() - startSpentMs;
  work.ms += tookMs;
  work.count += 1;
  // It is no part of the program's turn.
  lookedAtMs += performance.now() - startMs;
  spentMs += tookMs;
}, WORK_EVERY_MS).unref();

let sinceMs = performance.now();
let cpu = process.cpuUsage();
let utilization = performance.eventLoopUtilization();

process.on("message", ({ heapTo, workMs } = {}) => {
  if (workMs !== undefined) {
    const endMs = mainThreadMs() + workMs;
    while (mainThreadMs() < endMs) doFixedWork();
    process.send({});
    return;
  }
  if (heapTo !== undefined) {
    process.send(writeHeapSnapshot(heapTo));
    return;
  }
  const nowMs = performance.now();
  const { user, system } = process.cpuUsage(cpu);
  const answer = {
    delayP50Ms: delayMs(delay.percentile(50)),
    delayP99Ms: delayMs(delay.percentile(99)),
    delayMaxMs: delayMs(delay.max),
    longestTurnMs,
    fixedWorkMs: work.ms / Math.max(1, work.count),
    utilization: performance.eventLoopUtilization(utilization).utilization,
    cpu: (user + system) / 1_000 / (nowMs - sinceMs),
    rssBytes: process.memoryUsage.rss(),
  };
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  process.send({ ...answer, ...rssParts(), heapBytes: heapUsed, externalBytes: external });
  // The collection is the question's, not the program's.
  setImmediate(() => {
    delay.reset();
    longestTurnMs = 0;
    Object.assign(work, { ms: 0, count: 0 });
    sinceMs = lookedAtMs = performance.now();
    spentMs = mainThreadMs();
    cpu = process.cpuUsage();
    utilization = performance.eventLoopUtilization();
  });
});
process.channel.unref();
// A test that fails leaves nothing behind.
process.on("disconnect", () => process.exit(1));

/** Allocates and compares, as reading a message does. */
function doFixedWork() {
  return JSON.stringify(JSON.parse(workText)).length === workText.length;
}

function delayMs(nanoseconds) {
  return Math.max(0, nanoseconds / 1e6 - BETWEEN_MS);
}

/** What the processor has spent on the main thread. */
function mainThreadMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    // Another system than Linux.
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}

/**
 * Without the pages of mapped files, which the system takes back when it needs them; null on another system
 * than Linux.
 */
function rssParts() {
  try {
    const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return { rssAnonBytes: Number(kilobytes) * 1_024 };
  } catch {
    return { rssAnonBytes: null };
  }
}
