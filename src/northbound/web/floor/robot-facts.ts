import type { Alarm } from "../../../domain/alarm.ts";
import type { StateChange } from "../../../domain/change.ts";
import type { HoldState } from "../../../domain/hold.ts";
import { type IdleReason, idleReasonOf } from "../../../domain/idle-reason.ts";
import type { MissionQueue, TaskChain } from "../../../domain/mission.ts";
import type { Observed, Quality, Stamp } from "../../../domain/observed.ts";
import type { Battery, Conveyor, Family, Presence, RobotId } from "../../../domain/robot.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { RobotChange } from "../api/robot.ts";

/** The keys of a robot on its page. */
export type RobotKey = Exclude<keyof RobotChange, "robot_id">;

const isKey: Readonly<Record<RobotKey, true>> = {
  family: true,
  quality: true,
  out_of_service: true,
  idle: true,
  place: true,
  mission: true,
  battery: true,
  task_chain: true,
  conveyors: true,
  exception: true,
  lease: true,
  hold: true,
  alarms: true,
};
export const robotKeys = Object.keys(isKey) as readonly RobotKey[];

/** All that is known of one robot: one mutable object. */
export interface RobotFacts {
  readonly robotId: RobotId;
  family: Family;
  quality: Quality;
  missions: Observed<MissionQueue> | undefined;
  presence: Observed<Presence> | undefined;
  battery: Observed<Battery> | undefined;
  /** The chain that the online list names. */
  chain: Observed<TaskChain> | undefined;
  readonly conveyors: Map<number, Observed<Conveyor>>;
  hold: HoldState;
  /** The station that leases it; null: none does. */
  leasedBy: string | null;
  alarms: readonly Alarm[];
  isOutOfService: boolean;
  idle: IdleReason;
  /** Since when this has been its reason: wall time, and monotonic. */
  standsSince: { readonly atMs: number; readonly monotonicMs: number };
}

export type ChangeOfRobot = Extract<
  StateChange,
  { kind: "robot" | "mission" | "battery" | "conveyor" | "presence" | "hold" | "robot_alarms" }
>;

const notHeld: HoldState = { isHeld: false, by: [], isStored: true };

export function createRobotFacts(robotId: RobotId, nowMs: number, monotonicMs: number): RobotFacts {
  const nothing = { missions: undefined, presence: undefined, battery: undefined, chain: undefined };
  const facts = {
    robotId,
    family: "unknown" as const,
    quality: "unknown" as const,
    ...nothing,
    conveyors: new Map(),
    hold: notHeld,
    leasedBy: null,
    alarms: [],
    isOutOfService: false,
  };
  const idle = idleReasonOf({ ...facts, heldBy: [] });
  return { ...facts, idle, standsSince: { atMs: nowMs, monotonicMs } };
}

/** Applies a change, and returns the keys that it concerns. */
export function applyChange(facts: RobotFacts, change: ChangeOfRobot): readonly RobotKey[] {
  switch (change.kind) {
    case "robot":
      facts.family = change.family;
      facts.quality = change.quality;
      return ["family", "quality"];
    case "mission":
      facts.missions = change.observed;
      return ["mission"];
    case "battery":
      facts.battery = change.observed;
      return ["battery"];
    case "conveyor":
      facts.conveyors.set(change.observed.value.index, change.observed);
      return ["conveyors"];
    case "presence":
      facts.presence = change.observed;
      return ["place", "exception"];
    case "hold":
      facts.hold = change.hold;
      return ["hold"];
    case "robot_alarms":
      facts.alarms = change.alarms;
      facts.isOutOfService = change.isOutOfService;
      return ["alarms", "out_of_service"];
  }
}

/** Evaluates why the robot stands. Returns whether the reason or the text is another one. */
export function evaluateIdleReason(facts: RobotFacts, nowMs: number, monotonicMs: number): boolean {
  const before = facts.idle;
  const idle = idleReasonOf({ ...facts, heldBy: facts.hold.by });
  if (idle.reason === before.reason && idle.text === before.text && idle.isNotReady === before.isNotReady)
    return false;
  facts.idle = idle;
  // Another text of the same reason is no other reason: the robot has stood since then.
  if (idle.reason !== before.reason) facts.standsSince = { atMs: nowMs, monotonicMs };
  return true;
}

/** The ages of values. Setting the wall clock makes none younger or older. */
export interface Ages {
  /** The value with this stamp is known from now on. */
  note(stamp: Stamp): void;
  /** Milliseconds since it was received. */
  of(stamp: Stamp): number;
}

export function createAges(clock: Pick<Clock, "nowMs" | "monotonicMs">): Ages {
  const receivedAt = new WeakMap<Stamp, number>();

  function note(stamp: Stamp): number {
    const known = receivedAt.get(stamp);
    if (known !== undefined) return known;
    const atMs = clock.monotonicMs() - Math.max(0, clock.nowMs() - stamp.receivedAtMs);
    receivedAt.set(stamp, atMs);
    return atMs;
  }

  return {
    note: (stamp) => void note(stamp),
    of: (stamp) => Math.max(0, Math.round(clock.monotonicMs() - note(stamp))),
  };
}
