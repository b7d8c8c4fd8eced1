import type { Battery } from "./battery.ts";
import type { Coded } from "./coded.ts";
import type { CommandIdentity, CommandStage, Source } from "./command.ts";
import type { Conveyor } from "./conveyor.ts";
import type { HoldState } from "./hold.ts";
import type { MissionQueue, MissionStateName } from "./mission.ts";
import type { Observed } from "./observed.ts";
import type { Outcome } from "./outcome.ts";
import type { Presence } from "./presence.ts";
import type { Quality } from "./quality.ts";
import type { Family, RobotId } from "./robot.ts";
import type { TaskChain } from "./task-chain.ts";

/**
 * A value that a northbound shows: the newest replaces the one before, so a slow
 * northbound skips, and never shows an old one for a new one.
 */
export type StateChange =
  | { readonly kind: "robot"; readonly robotId: RobotId; readonly family: Family; readonly quality: Quality }
  | { readonly kind: "mission"; readonly robotId: RobotId; readonly observed: Observed<MissionQueue> }
  | { readonly kind: "battery"; readonly robotId: RobotId; readonly observed: Observed<Battery> }
  | { readonly kind: "conveyor"; readonly robotId: RobotId; readonly observed: Observed<Conveyor> }
  | { readonly kind: "presence"; readonly robotId: RobotId; readonly observed: Observed<Presence> }
  /** What holds a robot now. */
  | { readonly kind: "hold"; readonly robotId: RobotId; readonly hold: HoldState }
  /** What holds all robots now. */
  | { readonly kind: "hold_all"; readonly hold: HoldState }
  | { readonly kind: "task_chain"; readonly chainId: number; readonly observed: Observed<TaskChain> }
  /** The chain made room for another: whatever a northbound keeps of it is to be removed. */
  | { readonly kind: "task_chain_evicted"; readonly chainId: number };

/** Why a station's lease of a robot began, or ended. */
export type LeaseReason =
  | "asked"
  | "released"
  | "overridden"
  | "left"
  | "out_of_sight"
  | "lapsed"
  | "not_configured"
  | "not_allowed";

/** Something that happened once and may not be lost. `eventId` is unique and stable. */
export type FleetNotice =
  | {
      readonly kind: "mission";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      readonly missionId: string;
      /** Null when the mission was not seen before. */
      readonly from: Coded<MissionStateName> | null;
      readonly to: Coded<MissionStateName>;
      readonly owner: string;
      /**
       * The command that made this mission; null while attribution does not know it, or it was none of ours.
       */
      readonly command: CommandIdentity | null;
    }
  | {
      readonly kind: "conveyor";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      readonly from: Conveyor | null;
      readonly to: Conveyor;
    }
  | {
      readonly kind: "alarm";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      readonly code: string;
      readonly active: boolean;
      readonly text: string;
    }
  | {
      readonly kind: "command";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      readonly command: CommandIdentity;
      readonly operation: string;
      /** How far it had come before its outcome; `unknown` when something was found later. */
      readonly from: "received" | CommandStage | "unknown";
      /** Final: it never changes. `robotId` is "" when the command concerns no single robot. */
      readonly outcome: Outcome;
      /** What was seen of the command after its outcome was final, as one sentence. */
      readonly foundLater?: string;
    }
  /** A station's lease of a robot has begun, or ended. */
  | {
      readonly kind: "lease";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      readonly station: string;
      /** Whose lease it is, or was. */
      readonly owner: Source;
      readonly to: "leased" | "free";
      readonly reason: LeaseReason;
      /** Who asked for it, released it or ended it; null: the gateway has ended it by itself. */
      readonly by: Source | null;
    }
  /** A user's hold has begun, or was lifted. `robotId` is "" where it is of all robots. */
  | {
      readonly kind: "hold";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      /** Whose hold it is, or was. */
      readonly owner: Source;
      readonly to: "held" | "free";
      /** Who has begun or lifted it: the owner, or an engineer. */
      readonly by: Source;
    };

/** Which value a state change is about: the newest of each key is kept. */
export function changeKey(change: StateChange): string {
  switch (change.kind) {
    case "conveyor":
      return `conveyor/${change.observed.value.index}/${change.robotId}`;
    case "hold_all":
      return "hold_all";
    case "task_chain":
    case "task_chain_evicted":
      return `task_chain/${change.chainId}`;
    case "robot":
    case "mission":
    case "battery":
    case "presence":
    case "hold":
      return `${change.kind}/${change.robotId}`;
  }
}
