import type { Clock } from "../../../src/platform/clock.ts";

/** Random numbers of a seed (mulberry32). */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  between(from: number, to: number): number;
  /** A whole number below `below`. */
  below(below: number): number;
  chance(probability: number): boolean;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (from, to) => from + (to - from) * next(),
    below: (below) => Math.floor(below * next()),
    chance: (probability) => next() < probability,
  };
}

/** The wall clock at the beginning. */
const EPOCH_MS = 1_700_000_000_000;

interface Task {
  readonly atMs: number;
  readonly order: number;
  run: (() => void) | null;
}

/** True time, and what happens in it: one thing after the other, each with all that follows at once. */
export class Simulation {
  nowMs = 0;
  private readonly tasks: Task[] = [];
  private order = 0;
  private hasResumed = false;

  after(delayMs: number, run: () => void): Task {
    this.order += 1;
    const task = { atMs: this.nowMs + Math.max(0, delayMs), order: this.order, run };
    this.tasks.push(task);
    this.rise(this.tasks.length - 1);
    return task;
  }

  /** Code of a member has run: what it awaits goes on before the next task. */
  resumed(): void {
    this.hasResumed = true;
  }

  /** Plays until nothing is left, or the time is over, or `isOver` says so. */
  async play(untilMs: number, isOver: () => boolean): Promise<void> {
    for (let task = this.tasks[0]; task !== undefined && task.atMs <= untilMs; task = this.tasks[0]) {
      this.takeFirst();
      if (task.run === null) continue;
      this.nowMs = task.atMs;
      task.run();
      if (this.hasResumed) {
        this.hasResumed = false;
        await new Promise(setImmediate);
      }
      if (isOver()) return;
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }

  private isBefore(one: number, other: number): boolean {
    const [a, b] = [this.tasks[one], this.tasks[other]];
    if (a === undefined || b === undefined) return a !== undefined;
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  private swap(one: number, other: number): void {
    const [a, b] = [this.tasks[one], this.tasks[other]];
    if (a === undefined || b === undefined) return;
    this.tasks[one] = b;
    this.tasks[other] = a;
  }

  private rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.isBefore(at, parent)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private takeFirst(): void {
    this.swap(0, this.tasks.length - 1);
    this.tasks.pop();
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const least = this.isBefore(right, left) ? right : left;
      if (!this.isBefore(least, at)) return;
      this.swap(at, least);
      at = least;
    }
  }
}

/** A process on a box. What comes to it waits while it is paused, and is lost when it is dead. */
export class Box {
  isDead = false;
  private resumesAtMs = 0;
  private readonly sim: Simulation;
  private readonly rate: number;

  /** `rate`: how fast its monotonic clock runs. */
  constructor(sim: Simulation, rate: number) {
    this.sim = sim;
    this.rate = rate;
  }

  readonly clock: Clock = {
    nowMs: () => EPOCH_MS + this.sim.nowMs,
    monotonicMs: () => this.sim.nowMs * this.rate,
    after: (delayMs, task) => {
      const waiting = this.sim.after(this.trueMs(delayMs), () => this.enter(task));
      return () => {
        waiting.run = null;
      };
    },
  };

  /** How long that much time of its clock takes. */
  trueMs(ownMs: number): number {
    return ownMs / this.rate;
  }

  /** Runs code of the process, when it runs. */
  enter(task: () => void): void {
    if (this.isDead) return;
    if (this.sim.nowMs < this.resumesAtMs) {
      this.sim.after(this.resumesAtMs - this.sim.nowMs, () => this.enter(task));
      return;
    }
    task();
    this.sim.resumed();
  }

  pause(forMs: number): void {
    this.resumesAtMs = Math.max(this.resumesAtMs, this.sim.nowMs + forMs);
  }
}
