import type { StateChange } from "../domain/change.ts";
import type { MissionQueue } from "../domain/mission.ts";
import type { Observed, Quality, Stamp } from "../domain/observed.ts";
import type { Battery, Conveyor, Family, Presence, RobotId } from "../domain/robot.ts";
import type { StreamId } from "../domain/update.ts";
import type { Log } from "../platform/log.ts";

/** A subscription, or a poll, that brings values. Monotonic milliseconds. */
export interface Stream {
  readonly id: StreamId;
  provenAtMs: number;
  /** The values of this stream, each with its robot. */
  readonly values: Map<CachedValue, RobotEntry>;
}

/** The last value of one aspect of one robot, and the health of its way. Monotonic milliseconds. */
interface CachedOf<Kind extends string, Value> {
  readonly kind: Kind;
  /** The message itself with its stamp; null: none came yet. Replaced as a whole, never changed. */
  received: { readonly value: Value; readonly stamp: Stamp } | null;
  stream: Stream | null;
  confirmedAtMs: number | null;
  /**
   * From when on a change may have been missed, which is later than now while a cut is forgiven. A message or
   * a confirmation clears it.
   */
  doubtedFromMs: number | null;
  /** Since when the received values cannot be true; null: the last one can. */
  impossibleSinceMs: number | null;
  /** The quality that was last published. */
  published: Quality;
}

type CachedMissions = CachedOf<"mission", MissionQueue>;
type CachedBattery = CachedOf<"battery", Battery>;
export type CachedConveyors = CachedOf<"conveyors", readonly Conveyor[]> & {
  /** Conveyors that the newest message no longer lists. */
  gone: readonly Observed<Conveyor>[];
};
type CachedPresence = CachedOf<"presence", Presence>;
export type CachedValue = CachedMissions | CachedBattery | CachedConveyors | CachedPresence;

/** All that is kept of one robot. Lives as long as the process. */
export interface RobotEntry {
  readonly robotId: RobotId;
  family: Family;
  readonly mission: CachedMissions;
  readonly battery: CachedBattery;
  readonly conveyors: CachedConveyors;
  readonly presence: CachedPresence;
  /** Since when the online list no longer has it; null while it does, or if no list was ever read. */
  absentSinceMs: number | null;
  /** The number of the last online list that had it. */
  listedIn: number;
  /** The number of the last online list in which its record could be read. */
  readIn: number;
  published: Quality;
}

/** A robot of which only the name is known. */
function createRobotEntry(robotId: RobotId, family: Family): RobotEntry {
  return {
    robotId,
    family,
    mission: { kind: "mission", ...blank },
    battery: { kind: "battery", ...blank },
    conveyors: { kind: "conveyors", ...blank, gone: [] },
    presence: { kind: "presence", ...blank },
    absentSinceMs: null,
    listedIn: 0,
    readIn: 0,
    published: "unknown",
  };
}

const blank = {
  received: null,
  stream: null,
  confirmedAtMs: null,
  doubtedFromMs: null,
  impossibleSinceMs: null,
  published: "unknown",
} as const;

/** Adds a cached value to `changes` with this quality. Nothing if there is no value. */
export function describeCached(
  robotId: RobotId,
  cached: CachedValue,
  quality: Quality,
  changes: StateChange[],
): void {
  if (cached.received === null) return;
  switch (cached.kind) {
    case "mission": {
      const { value, stamp } = cached.received;
      changes.push({ kind: "mission", robotId, observed: { value, stamp, quality } });
      return;
    }
    case "battery": {
      const { value, stamp } = cached.received;
      changes.push({ kind: "battery", robotId, observed: { value, stamp, quality } });
      return;
    }
    case "presence": {
      const { value, stamp } = cached.received;
      changes.push({ kind: "presence", robotId, observed: { value, stamp, quality } });
      return;
    }
    case "conveyors": {
      const { value, stamp } = cached.received;
      for (const conveyor of value) {
        changes.push({ kind: "conveyor", robotId, observed: { value: conveyor, stamp, quality } });
      }
      for (const observed of cached.gone) changes.push({ kind: "conveyor", robotId, observed });
    }
  }
}

/** The registry of all robots that were seen or expected since the start. */
export interface RobotRegistry {
  find(robotId: RobotId): RobotEntry | undefined;
  /** The robot, added if it is new; undefined: there are too many. */
  findOrAdd(robotId: RobotId, onNew: (robot: RobotEntry) => void): RobotEntry | undefined;
  all(): IterableIterator<RobotEntry>;
  readonly size: number;
  /** How many updates of robots beyond the limit were refused. */
  readonly refusals: number;
}

/**
 * Keeps every robot, because each keeps its tags and topics. New ones beyond `limit` are refused, counted and
 * logged once.
 */
export function createRobotRegistry(limit: number, log: Log): RobotRegistry {
  const robots = new Map<RobotId, RobotEntry>();
  let refusals = 0;

  function refuse(robotId: RobotId): undefined {
    if (refusals === 0) log.error({ robotId, limit }, "more robots than the configuration allows: refused");
    refusals += 1;
  }

  return {
    find: (robotId) => robots.get(robotId),
    findOrAdd(robotId, onNew) {
      const known = robots.get(robotId);
      if (known !== undefined) return known;
      if (robots.size >= limit) return refuse(robotId);
      const robot = createRobotEntry(robotId, UNKNOWN);
      robots.set(robotId, robot);
      onNew(robot);
      return robot;
    },
    all: () => robots.values(),
    get size() {
      return robots.size;
    },
    get refusals() {
      return refusals;
    },
  };
}

const UNKNOWN: Family = "unknown";

/** The registry of all streams that bring a value. Monotonic milliseconds. */
export interface StreamRegistry {
  /** A message of `streamId` brought or confirmed this value: that proves both the stream and the value. */
  confirm(robot: RobotEntry, cached: CachedValue, streamId: StreamId, nowMs: number): void;
  /** The stream, if it brings any value. */
  find(streamId: StreamId): Stream | undefined;
  readonly size: number;
}

/** A stream is kept while it brings a value, so there are never more streams than values. */
export function createStreamRegistry(): StreamRegistry {
  const streams = new Map<StreamId, Stream>();

  function move(robot: RobotEntry, cached: CachedValue, streamId: StreamId): Stream {
    const left = cached.stream;
    if (left !== null) {
      left.values.delete(cached);
      if (left.values.size === 0) streams.delete(left.id);
    }
    let stream = streams.get(streamId);
    if (stream === undefined) {
      stream = { id: streamId, provenAtMs: 0, values: new Map() };
      streams.set(streamId, stream);
    }
    stream.values.set(cached, robot);
    cached.stream = stream;
    return stream;
  }

  return {
    confirm(robot, cached, streamId, nowMs) {
      const stream = cached.stream?.id === streamId ? cached.stream : move(robot, cached, streamId);
      stream.provenAtMs = nowMs;
      cached.confirmedAtMs = nowMs;
      cached.doubtedFromMs = null;
    },
    find: (streamId) => streams.get(streamId),
    get size() {
      return streams.size;
    },
  };
}
