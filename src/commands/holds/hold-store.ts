import type { Source } from "../../domain/command.ts";
import { holderName } from "../../domain/hold.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { ChangedMeanwhile } from "../../platform/store.ts";
import { holdKey, type Journal, type StoredHold } from "../journal/journal.ts";

/** Keeps holds over a restart, as soon as the disk takes them. Never throws. */
export interface HoldStore {
  /** The hold has begun, or (false) is over. */
  remember(hold: StoredHold, isHeld: boolean): void;
  /**
   * Writes a present hold again, for another member of a cluster may have lifted it. The first time it does
   * so at once; what is asked for before the next tick is done then. Null: there is no cluster.
   *
   * @returns whether it has begun to write
   */
  readonly writeAgain: ((hold: StoredHold) => boolean) | null;
  /**
   * Another member of a cluster has begun this hold. If it was lifted here and that is not written, it lasts.
   */
  begunElsewhere(hold: StoredHold): void;
  /** Another member has lifted this hold. If it waits to be written again, that is done at once. */
  liftedElsewhere(hold: StoredHold): void;
  /** Whether this hold is on the disk as it is now. */
  isWritten(hold: StoredHold): boolean;
  /** Whether the holds of this robot, or (null) of all robots, are on the disk. */
  isStored(robotId: RobotId | null): boolean;
  /** Writes again what the disk has refused. Call it about once a second. */
  tick(): void;
  /** Resolves when no write is under way: before the journal is closed. */
  settled(): Promise<void>;
  /** How many holds the disk has not taken yet. */
  unstored(): number;
}

/** A hold that is not on the disk as it is now. */
interface Pending {
  readonly hold: StoredHold;
  readonly isHeld: boolean;
  /** When the disk last refused it; null while it is being written. */
  failedAtMs: number | null;
}

const RETRY_MS = 5_000;
export const NOT_STORED =
  "it is not stored yet that the robot is held: a restart or another leader would not know it";
export const NOT_LIFTED =
  "it is not stored yet that the hold is lifted: a restart or another leader would hold it again";

interface HoldStoreParts {
  readonly journal: Pick<Journal, "writeHold">;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the holds of this robot, or (null) of all robots, are on the disk, may have changed. */
  readonly onChange: (robotId: RobotId | null) => void;
  /**
   * In a cluster, a hold lasts until the store has that it is lifted: meanwhile its user may begin it again
   * on another member, and a late write would lift that. Null: there is no cluster.
   */
  readonly onStillHeld: ((hold: StoredHold) => void) | null;
}

/**
 * One write at a time for each hold, then the newest. A disk that hangs or fails delays nothing but
 * `isStored`.
 */
export function createHoldStore(parts: HoldStoreParts): HoldStore {
  const { journal, clock, log, onChange, onStillHeld } = parts;
  const pending = new Map<string, Pending>();
  const repeats = createRepeats((hold) => remember(hold, true));
  const whenSettled: Array<() => void> = [];
  let writing = 0;
  let isFailing = false;

  async function write(key: string, first: Pending): Promise<void> {
    writing += 1;
    for (let next: Pending | undefined = first; next !== undefined; next = await writeOne(key, next));
    writing -= 1;
    if (writing > 0) return;
    for (const resolve of whenSettled.splice(0)) resolve();
  }

  /** Resolves with what the hold has become meanwhile; undefined: nothing else. */
  async function writeOne(key: string, entry: Pending): Promise<Pending | undefined> {
    const { hold, isHeld } = entry;
    try {
      await journal.writeHold(hold, isHeld);
    } catch (error) {
      return failed(key, entry, error);
    }
    if (isFailing) log.info({}, "holds can be stored again");
    isFailing = false;
    const newest = pending.get(key);
    if (newest !== entry) return newest;
    pending.delete(key);
    onChange(hold.robotId);
    return undefined;
  }

  /** What is to be written now; undefined: a later tick writes it. */
  function failed(key: string, entry: Pending, error: unknown): Pending | undefined {
    const isOverruled = error instanceof ChangedMeanwhile;
    if (!isOverruled && !isFailing)
      log.error({ err: error, hold: entry.hold }, entry.isHeld ? NOT_STORED : NOT_LIFTED);
    if (!isOverruled) isFailing = true;
    const newest = pending.get(key) ?? entry;
    const next = newest.isHeld || onStillHeld === null ? newest : stillHeld(key, newest.hold, onStillHeld);
    if (isOverruled || newest !== entry) return next;
    next.failedAtMs = clock.monotonicMs();
    return undefined;
  }

  function stillHeld(key: string, hold: StoredHold, notify: (hold: StoredHold) => void): Pending {
    const entry: Pending = { hold, isHeld: true, failedAtMs: null };
    pending.delete(key);
    notify(hold);
    pending.set(key, entry);
    onChange(hold.robotId);
    return entry;
  }

  function remember(hold: StoredHold, isHeld: boolean): void {
    const key = holdKey(hold);
    const isWriting = pending.get(key)?.failedAtMs === null;
    const entry: Pending = { hold, isHeld, failedAtMs: null };
    pending.set(key, entry);
    if (!isWriting) void write(key, entry);
  }

  return {
    remember(hold, isHeld) {
      repeats.forget(hold);
      remember(hold, isHeld);
    },
    writeAgain: onStillHeld === null ? null : repeats.ask,
    begunElsewhere(hold) {
      const entry = pending.get(holdKey(hold));
      if (entry === undefined || entry.isHeld || isSameHold(entry.hold, hold) || onStillHeld === null) return;
      stillHeld(holdKey(hold), hold, onStillHeld);
    },
    liftedElsewhere(hold) {
      if (repeats.hurry(hold)) onChange(hold.robotId);
    },
    isWritten: (hold) => !pending.has(holdKey(hold)) && !repeats.isDue(hold),
    isStored(robotId) {
      if (pending.size === 0) return true;
      return ![...pending.values()].some(({ hold }) => hold.robotId === robotId);
    },
    tick() {
      repeats.tick();
      const nowMs = clock.monotonicMs();
      for (const [key, entry] of pending) {
        if (entry.failedAtMs === null || nowMs - entry.failedAtMs < RETRY_MS) continue;
        entry.failedAtMs = null;
        void write(key, entry);
      }
    },
    settled() {
      if (writing === 0) return Promise.resolve();
      return new Promise((resolve) => whenSettled.push(resolve));
    },
    unstored: () => pending.size,
  };
}

/** Writes a hold again once between two ticks. What is asked for more often is done at the next tick. */
function createRepeats(write: (hold: StoredHold) => void) {
  /** What was written since the last tick. Null: it need not be written once more. */
  const written = new Map<string, StoredHold | null>();

  function ask(hold: StoredHold): boolean {
    const isFirst = !written.has(holdKey(hold));
    written.set(holdKey(hold), isFirst ? null : hold);
    if (isFirst) write(hold);
    return isFirst;
  }

  const isDue = (hold: StoredHold) => (written.get(holdKey(hold)) ?? null) !== null;
  return {
    ask,
    isDue,
    /** Does at once what is due. @returns whether that was so */
    hurry(hold: StoredHold): boolean {
      const due = written.get(holdKey(hold)) ?? null;
      if (due === null) return false;
      written.set(holdKey(hold), null);
      write(due);
      return true;
    },
    forget: (hold: StoredHold) => void written.delete(holdKey(hold)),
    tick() {
      const due = [...written.values()].filter((hold) => hold !== null);
      written.clear();
      for (const hold of due) ask(hold);
    },
  };
}

/** Whether both are the same record, which one member has written. */
export function isSameHold(a: StoredHold, b: StoredHold): boolean {
  return a.sinceMs === b.sinceMs && a.againMs === b.againMs;
}

/** The registry of present holds, by robot (null: of all robots) and by user, the longest first. */
export interface HoldRegistry {
  /** Adds a hold, in place of the one that its user has. */
  add(hold: StoredHold): void;
  remove(hold: StoredHold): void;
  /** The hold of the user with this name (`holderName`). */
  find(robotId: RobotId | null, name: string): StoredHold | undefined;
  names(robotId: RobotId | null): readonly string[];
  owners(robotId: RobotId | null): readonly Source[];
  all(): readonly StoredHold[];
  isHeld(robotId: RobotId): boolean;
  /**
   * The refusal of a start of this robot, or (null) of a start whose robot the service chooses; null: there
   * is no hold.
   */
  refusalFor(robotId: RobotId | null): Outcome | null;
  readonly size: number;
  figures(): Readonly<Record<string, number>>;
}

export function createHoldRegistry(): HoldRegistry {
  const held = new Map<RobotId | null, Map<string, StoredHold>>();
  let size = 0;

  function owners(robotId: RobotId | null): readonly Source[] {
    return Array.from(held.get(robotId)?.values() ?? [], ({ owner }) => owner);
  }

  return {
    add(hold) {
      const holders = held.get(hold.robotId) ?? new Map();
      if (!holders.has(holderName(hold.owner))) size += 1;
      held.set(hold.robotId, holders.set(holderName(hold.owner), hold));
    },
    remove({ robotId, owner }) {
      const holders = held.get(robotId);
      if (holders?.delete(holderName(owner))) size -= 1;
      if (holders?.size === 0) held.delete(robotId);
    },
    find: (robotId, name) => held.get(robotId)?.get(name),
    names: (robotId) => [...(held.get(robotId)?.keys() ?? [])],
    owners,
    all: () => [...held.values()].flatMap((holders) => [...holders.values()]),
    isHeld: (robotId) => held.has(robotId) || held.has(null),
    refusalFor(robotId) {
      const one = robotId ?? [...held.keys()].find((each) => each !== null) ?? null;
      const [owner] = [...owners(null), ...(one === null ? [] : owners(one))];
      if (owner === undefined) return null;
      const by = holderName(owner);
      if (held.has(null)) return refusal("HELD", `${by} holds all robots`);
      const message = `${by} holds robot ${one}`;
      const named = robotId === null ? `the service picks the robot, and ${message}: name one` : message;
      return refusal("HELD", named);
    },
    get size() {
      return size;
    },
    figures: () => ({
      holds: size,
      robotsHeld: [...held.keys()].filter((robotId) => robotId !== null).length,
      allRobotsHeld: held.has(null) ? 1 : 0,
    }),
  };
}
