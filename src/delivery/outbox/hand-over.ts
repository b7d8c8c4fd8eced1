import type { Cancel, Clock } from "../../platform/clock.ts";
import type { DropRegistry } from "./drop-registry.ts";
import { type Entry, firstOf, type Lines } from "./lines.ts";
import type { StoredDrop } from "./records.ts";

/** A pause saves allowance for this part of a second only, so that no burst follows it. */
const SAVED_MS = 100;

/** A wake-up costs more than handing over one event. */
const SHORTEST_WAIT_MS = 20;

/** Decides what is handed over next: present events, and history in order and at its pace. */
export interface HandOver {
  isOpen(): boolean;
  setOpen(isOpen: boolean): void;
  /** History may follow. */
  stateIsPublished(): void;
  hasReady(): boolean;
  /** Marks the returned events as under way. */
  peek(most: number): { readonly drops: readonly StoredDrop[]; readonly entries: readonly Entry[] };
  /** The events under way since the last peek. */
  recall(): readonly Entry[];
  /** `wake` is called when the pace allows more history. */
  onAllowance(wake: () => void): void;
}

interface HandOverParts {
  /** The lines of robots, and of commands. */
  readonly lines: readonly [Lines, Lines];
  readonly drops: DropRegistry;
  /** Events of history in a second. */
  readonly replayRate: number;
  readonly clock: Clock;
}

export function createHandOver({ lines, drops, clock, replayRate }: HandOverParts): HandOver {
  const [robots, commands] = lines;
  const pace = createPace(replayRate, clock);
  let isOpen = false;
  let isStatePublished = false;
  let underWay: readonly Entry[] = [];
  let wake = () => {};
  let _waiting: Cancel | null = null;

  function waitForAllowance(): void {
    _waiting ??= clock.after(pace.waitMs(), () => {
      _waiting = null;
      wake();
    });
  }

  const historyLength = () => robots.history.length + commands.history.length;

  /** While more wait than are asked for, half of them are of robots and come first. */
  function share(most: number, chain: "live" | "history"): readonly Entry[] {
    const ofRobots = Math.min(
      robots[chain].length,
      Math.max(Math.ceil(most / 2), most - commands[chain].length),
    );
    const first = firstOf(robots[chain], Math.min(ofRobots, most));
    const second = firstOf(commands[chain], most - first.length);
    const isAll = first.length + second.length === robots[chain].length + commands[chain].length;
    const all = [...first, ...second];
    return isAll ? all.sort((a, b) => a.number - b.number) : all;
  }

  function history(most: number): readonly Entry[] {
    if (!isStatePublished || most === 0 || historyLength() === 0) return [];
    const taken = share(Math.min(most, pace.allowance()), "history");
    pace.spend(taken.length);
    return taken;
  }

  return {
    isOpen: () => isOpen,
    setOpen(open) {
      isOpen = open;
      isStatePublished = false;
    },
    stateIsPublished() {
      isStatePublished = true;
    },
    hasReady() {
      if (!isOpen) return false;
      if (robots.live.length + commands.live.length > 0) return true;
      if (!isStatePublished) return false;
      if (drops.length > 0) return true;
      if (historyLength() === 0) return false;
      if (pace.allowance() > 0) return true;
      waitForAllowance();
      return false;
    },
    peek(most) {
      // A turn for changes of state calls it too.
      if (!isOpen) return { drops: [], entries: [] };
      const published = isStatePublished ? drops.take(most) : [];
      const live = share(most - published.length, "live");
      const entries = [...live, ...history(most - published.length - live.length)];
      for (const entry of entries) entry.isUnderWay = true;
      underWay = entries;
      return { drops: published, entries };
    },
    recall() {
      const recalled = underWay;
      underWay = [];
      return recalled;
    },
    onAllowance(callback) {
      wake = callback;
    },
  };
}

/** How many events may be handed over now, so that no second gets more than its share. */
interface Pace {
  allowance(): number;
  spend(count: number): void;
  /** How long until there is an allowance again. */
  waitMs(): number;
}

function createPace(perSecond: number, clock: Pick<Clock, "monotonicMs">): Pace {
  const most = Math.max(1, (perSecond * SAVED_MS) / 1_000);
  let saved = most;
  let atMs = clock.monotonicMs();

  function refill(): void {
    const nowMs = clock.monotonicMs();
    saved = Math.min(most, saved + ((nowMs - atMs) * perSecond) / 1_000);
    atMs = nowMs;
  }

  return {
    allowance() {
      refill();
      return Math.floor(saved);
    },
    spend(count) {
      saved -= count;
    },
    waitMs: () => Math.max(SHORTEST_WAIT_MS, ((1 - saved) * 1_000) / perSecond),
  };
}
