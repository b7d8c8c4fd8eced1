import type { Alarm } from "./alarm.ts";
import type { Coded } from "./coded.ts";
import type { CommandIdentity, CommandStage, Source } from "./command.ts";
import type { Conveyor } from "./conveyor.ts";
import type { MissionStateName } from "./mission.ts";
import type { Outcome } from "./outcome.ts";
import type { RobotId } from "./robot.ts";

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

/** What may be said of every event besides. */
interface EventMarks {
  /** It happened while no gateway was running: known are only the state before and the state after. */
  readonly jump?: true;
  /** It is handed over later than it happened: the northbound could not be reached. */
  readonly historical?: true;
  /** The run of the gateway that saw it, where it is an earlier one. */
  readonly sessionId?: string;
}

/** Something that happened once and may not be lost. `eventId` is unique and stable. */
export type FleetEvent = Happening & EventMarks;

type Happening =
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
  /** An alarm was raised, has returned, or was acknowledged. `robotId` is "" where it is of no robot. */
  | {
      readonly kind: "alarm";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      readonly from: "active" | "inactive";
      readonly to: "active" | "inactive" | "acknowledged";
      /** As it is after that. */
      readonly alarm: Alarm;
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
    }
  /** Events of a robot, or of a source of commands, that a bound has dropped before they were handed over. */
  | {
      readonly kind: "dropped";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      /** Whose commands the events were of; null for events of a robot. */
      readonly source: Source | null;
      readonly count: number;
      /** When the first and the last of them happened. */
      readonly fromMs: number;
      readonly toMs: number;
      readonly reason: DropReason;
    };

/**
 * Too many waited; or they have waited too long; or the disk did not keep them as they were written; or they
 * are larger than the server takes; or the server lets nobody like us write to their topic.
 */
export type DropReason = "too_many" | "too_old" | "damaged" | "too_large" | "refused";
