import type { Browser, Page } from "playwright-core";
import { quantile } from "../quantile.ts";
import { pause } from "../section-run.ts";

const categories = ["devtools.timeline", "toplevel", "disabled-by-default-devtools.timeline"];

/** An event of a trace, times in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** Of the thread's processor time. */
  readonly tdur?: number;
}

export interface FrameFigures {
  readonly frames: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Of its processor time, which other programs do not lengthen. */
  readonly cpuP50Ms: number;
  readonly cpuP95Ms: number;
  /** The processor time of all of them, in percent of the time. */
  readonly cpuPercent: number;
  /** Of the tasks that take in a message of the stream. */
  readonly messageP95Ms: number;
  readonly faults: readonly string[];
}

/**
 * The time of the main thread for each frame of the page, from a trace of the browser: not the time between
 * two frames.
 */
export async function measureFrames(browser: Browser, page: Page, seconds: number): Promise<FrameFigures> {
  await browser.startTracing(page, { categories });
  await pause(seconds * 1_000);
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  return framesOf(trace.traceEvents, seconds);
}

/**
 * A task of the main thread is a frame if the page's script drew in it, or if the browser painted what the
 * script had changed before. The pictures of a canvas are made in it, too: the browser draws by software.
 */
function framesOf(events: readonly TraceEvent[], seconds: number): FrameFigures {
  const main = events.find(({ name }) => name === "FireAnimationFrame");
  const drawn = events.filter(({ name }) => name === "FireAnimationFrame" || name === "Paint");
  const tasks = events
    .filter(({ name, ph, tid, pid }) => isTask(name) && ph === "X" && tid === main?.tid && pid === main.pid)
    .sort((a, b) => a.ts - b.ts);
  const frames = tasks.filter((task) => drawn.some((event) => isWithin(event, task)));
  const others = tasks.filter((task) => !frames.includes(task));
  const millis = (of: (task: TraceEvent) => number | undefined, from: readonly TraceEvent[]) =>
    from.map((task) => (of(task) ?? 0) / 1_000);
  const cpu = millis(({ tdur }) => tdur, frames);
  const wall = millis(({ dur }) => dur, frames);
  const long = millis(({ dur }) => dur, others).filter((ms) => ms > 1);
  return {
    frames: frames.length,
    p50Ms: quantile(wall, 0.5),
    p95Ms: quantile(wall, 0.95),
    cpuP50Ms: quantile(cpu, 0.5),
    cpuP95Ms: quantile(cpu, 0.95),
    cpuPercent: cpu.reduce((sum, ms) => sum + ms, 0) / (10 * seconds),
    messageP95Ms: quantile(long, 0.95),
    faults: frames.length < seconds ? [`only ${frames.length} frames were drawn in ${seconds} s`] : [],
  };
}

function isTask(name: string): boolean {
  return name === "RunTask" || name === "ThreadControllerImpl::RunTask";
}

function isWithin({ ts, tid, pid }: TraceEvent, task: TraceEvent): boolean {
  return tid === task.tid && pid === task.pid && ts >= task.ts && ts <= task.ts + (task.dur ?? 0);
}
