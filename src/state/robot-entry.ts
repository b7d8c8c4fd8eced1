import type { Battery } from "../domain/battery.ts";
import type { StateChange } from "../domain/change.ts";
import type { Conveyor } from "../domain/conveyor.ts";
import type { MissionQueue } from "../domain/mission.ts";
import type { Observed, Stamp } from "../domain/observed.ts";
import type { Presence } from "../domain/presence.ts";
import type { Quality } from "../domain/quality.ts";
import type { Family, RobotId } from "../domain/robot.ts";
import type { StreamId } from "../domain/update.ts";

/** A subscription, or a poll, by which values come. Monotonic milliseconds. */
export interface Stream {
  readonly id: StreamId;
  provenAtMs: number;
  /** The values that come this way, each with the robot that it is of. */
  readonly slots: Map<Slot, RobotEntry>;
}

/** The last value of one aspect of one robot, and what is known of its way here. Monotonic milliseconds. */
interface SlotOf<Kind extends string, Value> {
  readonly kind: Kind;
  /** The message itself with its stamp; null until the first. Replaced as a whole, never changed. */
  received: { readonly value: Value; readonly stamp: Stamp } | null;
  stream: Stream | null;
  confirmedAtMs: number | null;
  /**
   * From when on it counts that something may have been missed, which is later than now while a cut is
   * forgiven; a message or a confirmation clears it.
   */
  doubtedFromMs: number | null;
  /** Since when the values that come cannot be true; null: the last one can. */
  impossibleSinceMs: number | null;
  /** The quality that was last told downstream. */
  told: Quality;
}

type MissionSlot = SlotOf<"mission", MissionQueue>;
type BatterySlot = SlotOf<"battery", Battery>;
export type ConveyorsSlot = SlotOf<"conveyors", readonly Conveyor[]> & {
  /** Conveyors that the newest message no longer lists. */
  gone: readonly Observed<Conveyor>[];
};
type PresenceSlot = SlotOf<"presence", Presence>;
export type Slot = MissionSlot | BatterySlot | ConveyorsSlot | PresenceSlot;

/** Everything held of one robot. Lives as long as the process. */
export interface RobotEntry {
  readonly robotId: RobotId;
  family: Family;
  readonly mission: MissionSlot;
  readonly battery: BatterySlot;
  readonly conveyors: ConveyorsSlot;
  readonly presence: PresenceSlot;
  /** Since when the roster no longer lists it; null while it does, or none was ever read. */
  absentSinceMs: number | null;
  /** The number of the last roster that listed it. */
  listedIn: number;
  /** The number of the last roster in which its record could be read. */
  readIn: number;
  told: Quality;
}

/** A robot of which nothing but its name is known. */
export function createRobotEntry(robotId: RobotId, family: Family): RobotEntry {
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
    told: "unknown",
  };
}

const blank = {
  received: null,
  stream: null,
  confirmedAtMs: null,
  doubtedFromMs: null,
  impossibleSinceMs: null,
  told: "unknown",
} as const;

/** Adds a slot's value to `changes` as it is to be shown with `quality`. Nothing while there is none. */
export function describeSlot(robotId: RobotId, slot: Slot, quality: Quality, changes: StateChange[]): void {
  if (slot.received === null) return;
  switch (slot.kind) {
    case "mission": {
      const { value, stamp } = slot.received;
      changes.push({ kind: "mission", robotId, observed: { value, stamp, quality } });
      return;
    }
    case "battery": {
      const { value, stamp } = slot.received;
      changes.push({ kind: "battery", robotId, observed: { value, stamp, quality } });
      return;
    }
    case "presence": {
      const { value, stamp } = slot.received;
      changes.push({ kind: "presence", robotId, observed: { value, stamp, quality } });
      return;
    }
    case "conveyors": {
      const { value, stamp } = slot.received;
      for (const conveyor of value) {
        changes.push({ kind: "conveyor", robotId, observed: { value: conveyor, stamp, quality } });
      }
      for (const observed of slot.gone) changes.push({ kind: "conveyor", robotId, observed });
    }
  }
}
