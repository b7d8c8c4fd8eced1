import { EventEmitter, getEventListeners } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { Session } from "node:inspector";
import type { abortTasks } from "../../src/platform/on-abort.ts";
import type { Census, Count } from "./protocol.ts";

const LABEL_LENGTH = 90;
/** The class of timers, which has no name of its own. */
const Timeout = makeTimeout().constructor as new () => Timer;

interface Timer {
  readonly _destroyed: boolean;
  readonly _onTimeout: unknown;
}

/** What only the program itself knows. */
export interface ProgramParts {
  /** What waits for its clock, whose timers all call the same function. */
  readonly waiting: () => readonly (() => void)[];
  readonly abortTasks: typeof abortTasks;
}

/**
 * What this process holds. The heap is looked through for every event emitter, event target and timer; what
 * nobody holds is collected first. Takes some tenths of a second.
 */
export function takeCensus({ waiting, abortTasks }: ProgramParts): Census {
  const rssAnonMb = rssAnon();
  const listeners: Record<string, number> = {};
  const timers: Record<string, number> = {};
  const session = new Session();
  session.connect();
  eachObject(session, (object) => {
    if (object instanceof EventEmitter) countEmitter(object, listeners);
    else if (object instanceof EventTarget) countTarget(object, abortTasks, listeners);
    else if (object instanceof Timeout) countTimer(object, timers);
  });
  session.disconnect();
  for (const task of waiting()) add(timers, labelOf(task));
  globalThis.gc?.();
  return {
    soak: "census",
    listeners,
    timers,
    descriptors: descriptors(),
    rssAnonMb,
    collectedMb: rssAnon(),
    heapMb: process.memoryUsage().heapUsed / 1e6,
  };
}

function makeTimeout(): object {
  const timer = setTimeout(() => {}, 0);
  clearTimeout(timer);
  return timer;
}

/**
 * Calls `take` with every object of the heap. V8 looks through it once for each question, and that takes a
 * second and more: so there is one question.
 */
function eachObject(session: Session, take: (object: object) => void): void {
  const shared = globalThis as { soakTake?: (all: readonly object[]) => void };
  shared.soakTake = (all) => all.forEach(take);
  const group = { objectGroup: "soak" };
  session.post("Runtime.evaluate", { expression: "Object.prototype", ...group }, (_error, { result }) => {
    const prototypeObjectId = result.objectId ?? "";
    session.post("Runtime.queryObjects", { prototypeObjectId, ...group }, (_failure, { objects }) => {
      const objectId = objects.objectId ?? "";
      const functionDeclaration = "function () { globalThis.soakTake(this); }";
      session.post("Runtime.callFunctionOn", { objectId, functionDeclaration });
    });
  });
  session.post("Runtime.releaseObjectGroup", group);
  delete shared.soakTake;
}

function countEmitter(emitter: EventEmitter, counted: Record<string, number>): void {
  // A prototype is no emitter of its own.
  if (!Object.hasOwn(emitter, "_events")) return;
  for (const event of emitter.eventNames()) {
    add(counted, `${classOf(emitter)} ${String(event)}`, emitter.listenerCount(event));
  }
}

function countTarget(target: EventTarget, tasksOf: typeof abortTasks, counted: Record<string, number>): void {
  const key = Object.getOwnPropertySymbols(target).find(({ description }) => description === "kEvents");
  const events: unknown = key === undefined ? undefined : Reflect.get(target, key);
  if (events === undefined) return;
  // All that wait through onAbort share one listener.
  if (target instanceof AbortSignal) add(counted, "AbortSignal tasks", tasksOf(target));
  // A map of Node.js' own, which has no prototype.
  for (const event of Map.prototype.keys.call(events)) {
    const { length } = getEventListeners(target, String(event));
    if (length > 0) add(counted, `${classOf(target)} ${String(event)}`, length);
  }
}

/** Those of the program's clock are told apart by what waits. */
function countTimer({ _destroyed: isOver, _onTimeout: task }: Timer, counted: Record<string, number>): void {
  if (isOver || typeof task !== "function" || task.name === "simulatedTimer") return;
  add(counted, labelOf(task));
}

function labelOf(task: { readonly name: string }): string {
  return `${task.name} ${String(task)}`.replaceAll(/\s+/g, " ").slice(0, LABEL_LENGTH);
}

function classOf(object: object): string {
  return object.constructor?.name ?? "?";
}

function add(counted: Record<string, number>, kind: string, number = 1): void {
  counted[kind] = (counted[kind] ?? 0) + number;
}

function descriptors(): Count {
  const counted: Record<string, number> = {};
  for (const name of readdirSync("/proc/self/fd")) {
    try {
      // Files that replace each other have numbers.
      add(
        counted,
        readlinkSync(`/proc/self/fd/${name}`)
          .replace(/:\[.*$/, "")
          .replaceAll(/\d+/g, "N"),
      );
    } catch {
      // The folder itself, which is closed again.
    }
  }
  return counted;
}

/** Without the pages of mapped files, which the system takes back when it needs them. */
function rssAnon(): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1_024;
}
