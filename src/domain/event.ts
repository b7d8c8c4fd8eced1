import type { Alarm } from "./alarm.ts";
import type { Coded } from "./coded.ts";
import type { CommandIdentity, CommandStage, Source } from "./command.ts";
import type { MissionStateName } from "./mission.ts";
import type { Outcome } from "./outcome.ts";
import type { BatteryStateName, Conveyor, RobotId } from "./robot.ts";

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

/** Marks that any event may have. */
interface EventMarks {
  /** It happened while no gateway was running: only the state before and the state after are known. */
  readonly jump?: true;
  /** It is published later than it happened: the northbound could not be reached. */
  readonly historical?: true;
  /** The run of the gateway that saw it, if that is an earlier one. */
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
       * The command that made this mission; null while attribution does not know it, or if no command of this
       * gateway did.
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
  /** A battery charges, discharges or is full. A charge alone is no event. */
  | {
      readonly kind: "battery";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      readonly from: Coded<BatteryStateName>;
      readonly to: Coded<BatteryStateName>;
      /** The charge at that moment. */
      readonly chargePercent: number;
    }
  /** An alarm was raised, has returned, or was acknowledged. `robotId` is "" if the alarm is of no robot. */
  | {
      readonly kind: "alarm";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      readonly from: "active" | "inactive";
      readonly to: "active" | "inactive" | "acknowledged";
      /** The alarm after that. */
      readonly alarm: Alarm;
    }
  | {
      readonly kind: "command";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      readonly command: CommandIdentity;
      readonly operation: string;
      /** The stage of the command before its outcome; `unknown` when something was found later. */
      readonly from: "received" | CommandStage | "unknown";
      /** Final: it never changes. `robotId` is "" if the command concerns no single robot. */
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
      /** The owner of the lease. */
      readonly owner: Source;
      readonly to: "leased" | "free";
      readonly reason: LeaseReason;
      /** The source that asked for it, released it or ended it; null: the gateway ended it by itself. */
      readonly by: Source | null;
    }
  /** A user's hold has begun, or was lifted. `robotId` is "" for a hold on all robots. */
  | {
      readonly kind: "hold";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      /** The user whose hold it is, or was. */
      readonly owner: Source;
      readonly to: "held" | "free";
      /** The user that has begun or lifted it: the owner, or an engineer. */
      readonly by: Source;
    }
  /** Events of a robot, or of a source of commands, that a bound has dropped before they were handed over. */
  | {
      readonly kind: "dropped";
      readonly eventId: string;
      readonly robotId: RobotId;
      readonly atMs: number;
      /** The source of those commands; null for events of a robot. */
      readonly source: Source | null;
      readonly count: number;
      /** When the first and the last of them happened. */
      readonly fromMs: number;
      readonly toMs: number;
      readonly reason: DropReason;
    };

/**
 * Too many events waited; they waited too long; the disk did not keep them as they were written; they are
 * larger than the server accepts; or the server lets no gateway write to their topic.
 */
export type DropReason = "too_many" | "too_old" | "damaged" | "too_large" | "refused";
