import type { Source } from "../../domain/command.ts";
import { holderName } from "../../domain/hold.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Journal, StoredHold } from "../journal/journal.ts";

/** Keeps holds over a restart, as soon as the disk takes them. Never throws. */
export interface HoldStore {
  /** The hold has begun, or (false) is over. */
  remember(hold: StoredHold, isHeld: boolean): void;
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

/**
 * One write at a time for each hold, then the newest. A disk that hangs or fails delays nothing but
 * `isStored`.
 *
 * @param onStored is called when a hold has reached the disk
 */
export function createHoldStore(
  journal: Pick<Journal, "writeHold">,
  clock: Clock,
  log: Log,
  onStored: (robotId: RobotId | null) => void,
): HoldStore {
  const pending = new Map<string, Pending>();
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
      if (!isFailing)
        log.error({ err: error, hold }, "a hold could not be stored: a restart would not know it");
      isFailing = true;
      const newest = pending.get(key) ?? entry;
      newest.failedAtMs = clock.monotonicMs();
      return undefined;
    }
    if (isFailing) log.info({}, "holds can be stored again");
    isFailing = false;
    const newest = pending.get(key);
    if (newest !== entry) return newest;
    pending.delete(key);
    onStored(hold.robotId);
    return undefined;
  }

  return {
    remember(hold, isHeld) {
      const key = keyOf(hold);
      const isWriting = pending.get(key)?.failedAtMs === null;
      const entry: Pending = { hold, isHeld, failedAtMs: null };
      pending.set(key, entry);
      if (!isWriting) void write(key, entry);
    },
    isWritten: (hold) => !pending.has(keyOf(hold)),
    isStored(robotId) {
      if (pending.size === 0) return true;
      return ![...pending.values()].some(({ hold }) => hold.robotId === robotId);
    },
    tick() {
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

function keyOf({ robotId, owner }: StoredHold): string {
  return JSON.stringify([robotId, owner.protocol, owner.name]);
}

/** The registry of present holds, by robot (null: of all robots) and by user, the longest first. */
export interface HoldRegistry {
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
      held.set(hold.robotId, holders.set(holderName(hold.owner), hold));
      size += 1;
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
