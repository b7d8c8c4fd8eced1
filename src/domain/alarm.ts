import type { Source } from "./command.ts";
import type { RobotId } from "./robot.ts";

/** What an alarm is about. */
export type AlarmSource =
  | { readonly kind: "gateway" }
  | { readonly kind: "robot"; readonly robotId: RobotId }
  | { readonly kind: "station"; readonly station: string };

/** The source of an alarm that concerns no single robot and no station. */
export const ofGateway: AlarmSource = { kind: "gateway" };

/**
 * How an alarm ends:
 *
 * - `return`: when its condition has ended and it is acknowledged, in any order;
 * - `acknowledgement`: when it is acknowledged, because nothing shows that its condition has ended;
 * - `either`: when its condition has ended, or when it is acknowledged.
 */
export type AlarmEnd = "return" | "acknowledgement" | "either";

/** The rule of all alarms with one code. */
export interface AlarmRule {
  /** 1 to 1000, as OPC UA counts (Part 5, BaseEventType: Severity). */
  readonly severity: number;
  /** How long its condition must hold before it is raised. */
  readonly onDelayMs: number;
  /** How long its condition must have ended before it returns. */
  readonly offDelayMs: number;
  readonly ends: AlarmEnd;
  /** The usual cause. */
  readonly cause: string;
  /** What a person does about it. */
  readonly advice: string;
}

const atOnce = { onDelayMs: 0, offDelayMs: 0, ends: "return" } as const;
const soon = { onDelayMs: 2_000, offDelayMs: 5_000, ends: "return" } as const;
const steady = { onDelayMs: 10_000, offDelayMs: 10_000, ends: "return" } as const;
const slow = { onDelayMs: 60_000, offDelayMs: 60_000, ends: "return" } as const;

/** The rules of all alarms; `CONVEYOR_ERROR` stands for the alarms of every conveyor. */
export const alarmRules = {
  FLEET_LINK_DOWN: {
    severity: 800,
    ...steady,
    cause: "the network, the fleet service, or the gateway's credentials",
    advice:
      "open Connections in the console, or run fleetgate status: the line of the fleet service says what fails, and why",
  },
  DUPLICATE_GATEWAY: {
    severity: 800,
    ...steady,
    cause: "another gateway uses the same gateway.id, MQTT client id or Sparkplug node on this broker",
    advice: "stop one of the two, or give it a name of its own; the text says which",
  },
  QUORUM_LOST: {
    severity: 800,
    ...soon,
    ends: "either",
    cause: "two of the three members of etcd are down, or this box is cut off from them",
    advice: "start etcd on a second machine, and look at the network between the three; stops pass meanwhile",
  },
  FENCE_FAILED: {
    severity: 800,
    ...atOnce,
    ends: "either",
    cause: "the command of cluster.fence has failed or hangs, so the box that led may still reach robots",
    advice:
      "see that the named box is off, then run fleetgate fence-confirm with its name on the other one; stops pass meanwhile",
  },
  RECORDS_LOST: {
    severity: 800,
    ...atOnce,
    cause: "the record of what was sent is damaged, is gone, or was left out of a restored backup",
    advice:
      "look at the robots, stop programs that repeat old commands, then confirm with fleetgate journal reset; stops pass meanwhile",
  },
  RECORD_UNREADABLE: {
    severity: 700,
    ...soon,
    ends: "either",
    cause: "a newer version has written the named record into etcd, or something that is no gateway",
    advice:
      "give both boxes the newer version; if there is none, look at the robots, delete each key that is named (etcdctl del) and look who has written it",
  },
  DISK_FULL: {
    severity: 700,
    ...atOnce,
    cause: "the disk of gateway.dataDir takes no more",
    advice: "make room on that disk; until then commands that move or change are refused",
  },
  OUTCOME_UNKNOWN: {
    severity: 700,
    ...atOnce,
    ends: "acknowledgement",
    cause: "the service's answer was lost, and nothing shows whether the command had its effect",
    advice: "hold the robot, go and look at it, then acknowledge, lift the hold, and send anew",
  },
  CONVEYOR_NOT_STOPPED: {
    severity: 700,
    ...atOnce,
    cause:
      "a conveyor was started through the gateway and must stop (the text says why), but is not seen to stand",
    advice:
      "look at the conveyor, and stop it at the robot; the gateway sends stops until it is seen to stand",
  },
  ROBOT_EXCEPTION: {
    severity: 600,
    ...soon,
    cause: "the robot reports exceptions of its own",
    advice: "look at the robot; its manual explains the codes",
  },
  CONVEYOR_ERROR: {
    severity: 600,
    ...soon,
    cause: "a conveyor of the robot reports an error",
    advice: "look at the conveyor: a jam, an emergency stop, or a load across its edge",
  },
  BATTERY_CRITICAL: {
    severity: 600,
    ...soon,
    cause: "the robot has not been charged in time",
    advice: "charge it now; a robot that is empty must be pushed",
  },
  NO_STANDBY: {
    severity: 600,
    onDelayMs: 30_000,
    offDelayMs: 10_000,
    ends: "either",
    cause: "the gateway of the other box does not run, is cut off from etcd, or has no fleet service",
    advice: "run fleetgate status on the other box; until it stands by, nobody takes over from this one",
  },
  STORE_SPACE: {
    severity: 600,
    ...atOnce,
    ends: "either",
    cause: "etcd keeps more than it should, or its quota is small",
    advice: "compact and defragment etcd, as docs/cluster.md says; when it is full, no start is sent",
  },
  MEMBER_LOST: {
    severity: 500,
    ...steady,
    ends: "either",
    cause: "a machine of etcd, or etcd on it, is down or cut off",
    advice: "start etcd there, or replace the machine: with one more of them down, no start is sent",
  },
  ROBOT_LOST: {
    severity: 500,
    ...atOnce,
    cause: "the robot is off, out of the radio network, or unknown to the service",
    advice: "go and look, and keep clear: it may move; switch it on, or call whoever runs the network",
  },
  MISSION_FAILED: {
    severity: 500,
    ...atOnce,
    ends: "either",
    cause: "the robot has given its mission up",
    advice:
      "read the exception and the missions on the robot's page, look at its way and goal, then send it again",
  },
  FAILED_OVER: {
    severity: 400,
    ...atOnce,
    ends: "either",
    cause: "the box that led has died, or was cut off from etcd or from the fleet service",
    advice: "find out what that box lacks before you need it, then acknowledge",
  },
  CONFIG_DIFFERS: {
    severity: 400,
    ...slow,
    ends: "either",
    cause: "one of two boxes was changed, or upgraded, and the other one was not",
    advice: "give both boxes the same configuration and version; only a few keys are a box's own",
  },
  CLOCK_SKEW: {
    severity: 400,
    ...slow,
    cause: "this machine or the fleet service has no time server, or another one",
    advice: "set the clock of this machine right; until then give commands expires_in_ms, not expires_at",
  },
  BUFFER_DROPPING: {
    severity: 400,
    ...slow,
    cause: "the MQTT broker or an OPC UA client takes less than comes, or is away for too long",
    advice:
      "open Connections in the console, or run fleetgate status: Queues says which one drops; look at its receiver",
  },
  TOKEN_NOT_RENEWED: {
    severity: 400,
    ...slow,
    cause: "the fleet service gives no new token: its HTTPS side, or the API key",
    advice:
      "ask the administrator of the fleet service whether the API key still holds; Connections of the console says why",
  },
  BATTERY_LOW: {
    severity: 300,
    ...atOnce,
    cause: "the robot has worked for long without a charge",
    advice: "send it to a charger soon",
  },
  FOREIGN_MISSIONS: {
    severity: 300,
    ...atOnce,
    cause: "another client of the fleet service sends missions to the robot, such as a duplicate gateway",
    advice: "find out which other program has an API key for this robot",
  },
  ROBOT_CLOCK: {
    severity: 200,
    ...atOnce,
    cause: "the robot has no time server, or has lost its time",
    advice: "set the robot's clock right; until then its values carry the time of their receipt",
  },
  CERTIFICATE_EXPIRES: {
    severity: 300,
    ...atOnce,
    cause: "a certificate ends soon",
    advice: "renew the certificate that the text names, before that day",
  },
} as const satisfies Record<string, AlarmRule>;

type Numbered = "CONVEYOR_ERROR";

/** The code of an alarm. The code of a conveyor's alarm ends with its index. */
export type AlarmCode = Exclude<keyof typeof alarmRules, Numbered> | `${Numbered}_${number}`;

/** The alarms that only a member of a cluster may have. */
export const alarmsOfCluster: ReadonlySet<string> = new Set<AlarmCode>([
  "QUORUM_LOST",
  "FENCE_FAILED",
  "RECORD_UNREADABLE",
  "NO_STANDBY",
  "STORE_SPACE",
  "MEMBER_LOST",
  "FAILED_OVER",
  "CONFIG_DIFFERS",
]);

/** Whether each box of a cluster has such an alarm for itself: it is about the box, not about the fleet. */
export function isOfBox({ code, source }: Pick<Alarm, "code" | "source">): boolean {
  return source.kind === "gateway" && code !== "OUTCOME_UNKNOWN";
}

/** The rule of a code. */
export function alarmRule(code: AlarmCode): AlarmRule {
  return alarmRules[alarmRuleName(code)];
}

/** The code without the number of a conveyor. */
export function alarmRuleName(code: AlarmCode): keyof typeof alarmRules {
  return isRuleName(code) ? code : "CONVEYOR_ERROR";
}

function isRuleName(text: string): text is keyof typeof alarmRules {
  return Object.hasOwn(alarmRules, text);
}

/** Whether a text, such as one from a file, is the code of an alarm. */
export function isAlarmCode(text: string): text is AlarmCode {
  return (isRuleName(text) && text !== "CONVEYOR_ERROR") || /^CONVEYOR_ERROR_-?\d{1,10}$/.test(text);
}

/** How urgent an alarm is (ISA-18.2 names four priorities). */
export type AlarmPriority = "urgent" | "high" | "medium" | "low";

/** The priority that belongs to a severity. */
export function alarmPriority(severity: number): AlarmPriority {
  if (severity >= 800) return "urgent";
  if (severity >= 600) return "high";
  return severity >= 400 ? "medium" : "low";
}

/** An alarm that is active, or that nobody has acknowledged. */
export interface Alarm {
  /** Unique over restarts. */
  readonly id: string;
  readonly code: AlarmCode;
  readonly source: AlarmSource;
  readonly severity: number;
  /** What was found, as one sentence. */
  readonly text: string;
  /** Whether its condition holds; false: it has returned, and waits for an acknowledgement. */
  readonly isActive: boolean;
  /** Wall time of the first occurrence. */
  readonly sinceMs: number;
  /** Wall time of its return; null while it is active. */
  readonly returnedAtMs: number | null;
  /** How often it has occurred since then. */
  readonly occurrences: number;
  readonly acknowledged: { readonly by: Source; readonly atMs: number } | null;
  /** The newest comment. */
  readonly comment: { readonly text: string; readonly by: Source; readonly atMs: number } | null;
  /** Counts its changes, from 1. It is kept, so that `id` and `revision` name a change over restarts. */
  readonly revision: number;
  /** Wall time of the newest change. */
  readonly changedAtMs: number;
}

/** The key of a source, for maps and files. */
export function alarmSourceKey(source: AlarmSource): string {
  switch (source.kind) {
    case "gateway":
      return "gateway";
    case "robot":
      return `robot/${source.robotId}`;
    case "station":
      return `station/${source.station}`;
  }
}

/** The most severe first; of equal ones the newest. */
export function byUrgency(a: Alarm, b: Alarm): number {
  return b.severity - a.severity || b.sinceMs - a.sinceMs;
}
