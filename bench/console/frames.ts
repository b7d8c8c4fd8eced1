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
  readonly args?: { readonly name?: string };
}

/** A task, or several as one: times in microseconds. */
type Task = Pick<TraceEvent, "dur" | "tdur">;

interface TaskFigures {
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Of its processor time, which other programs do not lengthen. */
  readonly cpuP50Ms: number;
  readonly cpuP95Ms: number;
  /** The processor time of all of them, in percent of the time. */
  readonly cpuPercent: number;
}

export interface FrameFigures extends TaskFigures {
  readonly frames: number;
  /** Of the worker that draws the floor, for each scene. */
  readonly worker: TaskFigures & { readonly scenes: number };
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
 * A task of the main thread is a frame if the page's script worked out a scene in it, or if the browser
 * painted what the script had changed before.
 */
function framesOf(events: readonly TraceEvent[], seconds: number): FrameFigures {
  const main = events.find(({ name }) => name === "FireAnimationFrame");
  const drawn = events.filter(({ name }) => name === "FireAnimationFrame" || name === "Paint");
  const tasks = tasksOf(events, main);
  const frames = tasks.filter((task) => drawn.some((event) => isWithin(event, task)));
  const others = tasks.filter((task) => !frames.includes(task));
  const long = others.map(({ dur = 0 }) => dur / 1_000).filter((ms) => ms > 1);
  const scenes = scenesOf(events, main);
  return {
    frames: frames.length,
    ...figuresOf(frames, seconds),
    worker: { scenes: scenes.length, ...figuresOf(scenes, seconds) },
    messageP95Ms: quantile(long, 0.95),
    faults: [
      ...(frames.length < seconds ? [`only ${frames.length} frames were drawn in ${seconds} s`] : []),
      ...(scenes.length < seconds ? [`the worker drew only ${scenes.length} scenes in ${seconds} s`] : []),
    ],
  };
}

/** The worker draws a scene in the task that takes it in. The browser makes its pixels in a later one. */
function scenesOf(events: readonly TraceEvent[], main: TraceEvent | undefined): readonly Task[] {
  const worker = events.find(
    ({ name, pid, args }) =>
      name === "thread_name" && pid === main?.pid && args?.name === "DedicatedWorker thread",
  );
  const taken = events.filter(({ name }) => name === "HandlePostMessage");
  const scenes: Array<{ dur: number; tdur: number }> = [];
  for (const task of tasksOf(events, worker)) {
    if (taken.some((event) => isWithin(event, task))) scenes.push({ dur: 0, tdur: 0 });
    const scene = scenes.at(-1);
    if (scene === undefined) continue;
    scene.dur += task.dur ?? 0;
    scene.tdur += task.tdur ?? 0;
  }
  return scenes;
}

/** The tasks of a thread, the first one first. */
function tasksOf(events: readonly TraceEvent[], thread: TraceEvent | undefined): readonly TraceEvent[] {
  return events
    .filter(({ name, ph, tid, pid }) => {
      // Each is there a second time under another name.
      return name === "RunTask" && ph === "X" && tid === thread?.tid && pid === thread.pid;
    })
    .sort((a, b) => a.ts - b.ts);
}

function figuresOf(tasks: readonly Task[], seconds: number): TaskFigures {
  const wall = tasks.map(({ dur = 0 }) => dur / 1_000);
  const cpu = tasks.map(({ tdur = 0 }) => tdur / 1_000);
  return {
    p50Ms: quantile(wall, 0.5),
    p95Ms: quantile(wall, 0.95),
    cpuP50Ms: quantile(cpu, 0.5),
    cpuP95Ms: quantile(cpu, 0.95),
    cpuPercent: cpu.reduce((sum, ms) => sum + ms, 0) / (10 * seconds),
  };
}

function isWithin({ ts, tid, pid }: TraceEvent, task: TraceEvent): boolean {
  return tid === task.tid && pid === task.pid && ts >= task.ts && ts <= task.ts + (task.dur ?? 0);
}
