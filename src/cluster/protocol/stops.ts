import type { RobotStop } from "../../contracts/cluster.ts";
import type { RobotId } from "../../domain/robot.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { TableChange } from "../../platform/stores/table-store.ts";
import type { EpochWriter } from "./epoch-writer.ts";
import type { Mirror } from "./mirror.ts";
import { decode, STOPS, type StopRecord, stopKey, tableKey, unchanged } from "./records.ts";
import type { ProtocolTimes } from "./times.ts";

/** Stops leave at once on every member. Each is put into the store too, so that permissions see it. */
export interface Stops {
  /** A stop leaves here. */
  leaves(stop: RobotStop): void;
  /** Why no start of this robot may leave now; null: nothing is known. */
  forbids(robotId: RobotId): string | null;
  /** The newest stop of the robot, if the store has it after this revision. */
  after(robotId: RobotId, revision: number): RobotStop | null;
}

export interface StopParts {
  /** Any member may put a stop. */
  readonly writer: EpochWriter;
  readonly mirror: Mirror;
  readonly starts: StartIndex;
  readonly clock: Clock;
  readonly times: ProtocolTimes;
  readonly self: {
    /** Names this process. */
    readonly process: string;
    readonly isLeading: () => boolean;
  };
  readonly others: {
    /** Another member sends a stop. */
    readonly stop: (stop: RobotStop) => void;
    /** Sends a stop again that has left here already. Never rejects. */
    readonly repeat: (stop: RobotStop) => Promise<unknown>;
  };
  readonly ended: AbortSignal;
}

export function createStops(parts: StopParts): Stops {
  const { writer, mirror, starts, clock, times, self, others, ended } = parts;
  const { process, isLeading } = self;
  const quietUntilMs = new Map<RobotId, number>();
  const waiting = new Map<RobotId, number>();
  let count = 0;

  mirror.subscribe((key, entry) => {
    if (!key.startsWith(STOPS) || entry === null) return;
    const record = decode<StopRecord>(entry, "process", "operation", "requestJson");
    if (record === null || record.process === process) return;
    const robotId = key.slice(STOPS.length);
    quietUntilMs.set(robotId, clock.monotonicMs() + times.quietMs);
    others.stop({ robotId, operation: record.operation, requestJson: record.requestJson });
  });

  const wait = (ms: number) => sleep(clock, ms, ended);
  const addWaiting = (robotId: RobotId, more: number) => {
    const next = (waiting.get(robotId) ?? 0) + more;
    if (next === 0) waiting.delete(robotId);
    else waiting.set(robotId, next);
  };

  /** Resolves with the revision at which the store has it; null: this process has given up. */
  async function put({ robotId, operation, requestJson }: RobotStop): Promise<number | null> {
    const key = stopKey(robotId);
    count += 1;
    const record: StopRecord = { process, count, operation, requestJson };
    const value = JSON.stringify(record);
    const untilMs = clock.monotonicMs() + times.announceMs;
    while (!ended.aborted && clock.monotonicMs() < untilMs) {
      const known = mirror.get(key);
      if (known?.value === value) return known.modified;
      // It compares, so that one that comes late does not pass for a newer stop.
      const result = await writer.write({ when: [unchanged(key, known)], puts: [{ key, value }] });
      if (result.kind === "written") return result.revision;
      await wait(times.retryMs);
    }
    return null;
  }

  async function announce(stop: RobotStop): Promise<void> {
    addWaiting(stop.robotId, 1);
    const revision = await put(stop);
    if (revision !== null) await mirror.reached(revision);
    addWaiting(stop.robotId, -1);
  }

  /**
   * What was permitted before the store had the stop may leave for L, on the clock of another machine. The
   * leader refuses it by itself.
   */
  async function sendAgain(stop: RobotStop, announced: Promise<void>): Promise<void> {
    const since = mirror.revision();
    const isInTime = await Promise.race([
      announced.then(() => true),
      wait(times.secondStopMs).then(() => false),
    ]);
    if (!isInTime) {
      // Cut off from the store: it does not know what is under way.
      await others.repeat(stop);
      await announced;
    }
    if (!starts.mayHaveLeft(stop.robotId, since)) return;
    await wait(times.secondStopMs);
    if (!ended.aborted) await others.repeat(stop);
  }

  return {
    leaves(stop) {
      const announced = announce(stop);
      if (!isLeading()) void sendAgain(stop, announced);
    },
    forbids(robotId) {
      const isQuiet = waiting.has(robotId) || clock.monotonicMs() < (quietUntilMs.get(robotId) ?? 0);
      return isQuiet ? "another member has stopped the robot, and may send the stop a second time" : null;
    },
    after(robotId, revision) {
      const entry = mirror.get(stopKey(robotId));
      if (entry === undefined || entry.modified <= revision) return null;
      const stop = decode<StopRecord>(entry, "operation", "requestJson");
      return stop && { robotId, operation: stop.operation, requestJson: stop.requestJson };
    },
  };
}

/** What a record of the journal says of a start. */
interface RecordedStart {
  /** Null: the service picks one. */
  readonly robotId: RobotId | null;
  /** `ended`: it had been sent. */
  readonly stage: "accepted" | "sent" | "ended";
}

/** Reads a change of the journal; null: it is not about a start, or about one that was never sent. */
export type ReadStart = (change: TableChange) => RecordedStart | null;

/** The starts that all members have sent, as far as the mirror knows. */
interface StartIndex {
  /** A start of the robot is under way, or has ended after this revision. */
  mayHaveLeft(robotId: RobotId, since: number): boolean;
}

export const COMMANDS = "commands";

export function createStartIndex(mirror: Mirror, readStart: ReadStart): StartIndex {
  const underWay = new Map<string, RobotId | null>();
  /** The revision of the last end, by robot; null: of starts whose robot the service picks. */
  const endedAt = new Map<RobotId | null, number>();
  const prefix = tableKey(COMMANDS, "");

  mirror.subscribe((key, entry) => {
    if (!key.startsWith(prefix)) return;
    const id = key.slice(prefix.length);
    underWay.delete(id);
    if (entry === null) return;
    const start = readStart({ table: COMMANDS, key: id, value: decode(entry) });
    if (start?.stage === "sent") underWay.set(id, start.robotId);
    if (start?.stage === "ended") endedAt.set(start.robotId, entry.modified);
  });

  return {
    mayHaveLeft(robotId, since) {
      const isOf = (other: RobotId | null) => other === null || other === robotId;
      if ([...underWay.values()].some(isOf)) return true;
      return (endedAt.get(robotId) ?? 0) > since || (endedAt.get(null) ?? 0) > since;
    },
  };
}
