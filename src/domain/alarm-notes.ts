import { type AlarmCode, alarmRuleName, type alarmRules } from "./alarm.ts";

/** What docs/alarms.md says of an alarm beyond its rule, as Markdown. */
interface AlarmNote {
  /** Who can do what its rule advises: an operator, or the people who run the gateway. */
  readonly who: "you" | "IT";
  /** When it is active, unless its cause says so. */
  readonly active?: string;
  /** Whether robots can still drive meanwhile, and what the gateway still sends; absent: as usual. */
  readonly robots?: string;
  /** The section that says more, as a link from docs/. */
  readonly more?: string;
}

const unreached = "finish what they have; no start is sent, stops are";

/** A note for each rule; scripts/alarms-doc.mjs makes the page of both. */
export const alarmNotes = {
  FLEET_LINK_DOWN: {
    who: "IT",
    active: "while there is no session to the service. `ROBOT_LOST` is not raised meanwhile",
    robots: "finish what they have; the gateway reaches none, **not even with a stop**",
    more: "troubleshoot.md#no-robots-or-all-are-offline",
  },
  DUPLICATE_GATEWAY: {
    who: "IT",
    active: "up to 2 min longer if both have one client id",
    robots: "drive by the other one's commands too, if both serve one fleet",
    more: "troubleshoot.md#mqtt-is-cut-off",
  },
  QUORUM_LOST: {
    who: "IT",
    active: "without a majority of etcd for longer than `leaseSeconds`",
    robots: unreached,
    more: "cluster.md#what-dies-and-what-the-plc-sees",
  },
  FENCE_FAILED: {
    who: "IT",
    active: "until a box leads",
    robots: unreached,
    more: "cluster.md#cut-the-power-first",
  },
  RECORDS_LOST: {
    who: "IT",
    active: "until the first start after the reset",
    robots: unreached,
    more: "backup-and-recovery.md#a-journal-that-cannot-be-read",
  },
  RECORD_UNREADABLE: {
    who: "IT",
    robots: "go on while a box leads that did so before; no box begins to lead",
    more: "cluster.md#what-dies-and-what-the-plc-sees",
  },
  DISK_FULL: {
    who: "IT",
    active: "from less than 8 MB free until 16 MB are",
    robots: "finish what they have; the gateway refuses starts and changes, and sends stops",
    more: "troubleshoot.md#the-disk-is-full-or-fails",
  },
  OUTCOME_UNKNOWN: {
    who: "you",
    robots: "**the robot can still drive, now or later**: keep clear until you have looked",
    more: "troubleshoot.md#a-command-ended-as-unknown",
  },
  CONVEYOR_NOT_STOPPED: {
    who: "you",
    robots: "**the conveyor can still turn, the robot can still drive**: keep clear",
  },
  ROBOT_EXCEPTION: {
    who: "you",
    robots: "the robot can still drive by itself: keep clear",
  },
  CONVEYOR_ERROR: {
    who: "you",
    active: "`CONVEYOR_ERROR_1` is conveyor 1",
    robots: "the robot can still drive, the conveyor can still turn: keep clear",
  },
  BATTERY_CRITICAL: {
    who: "you",
    active: "from `alarms.battery.critical` (10 %) until 5 % more; not while it charges",
    robots: "can still drive until it is empty",
    more: "console.md#commands-to-a-robot",
  },
  NO_STANDBY: {
    who: "IT",
    robots: "as usual, until this box fails",
    more: "cluster.md#a-standby-without-a-session",
  },
  STORE_SPACE: {
    who: "IT",
    active: "from 60 % of etcd's quota; severity 800 when it is full",
    robots: "as usual, until etcd is full",
    more: "cluster.md#etcd-is-full",
  },
  MEMBER_LOST: {
    who: "IT",
    more: "cluster.md#a-member-of-etcd-is-replaced",
  },
  ROBOT_LOST: {
    who: "you",
    active: "after 5 min (`quality.holdMs`)",
    robots: "**the robot can still drive, unseen**: keep clear; no start is sent, stops are",
    more: "troubleshoot.md#values-are-stale",
  },
  MISSION_FAILED: {
    who: "you",
    active: "until the next mission of the robot runs",
    robots: "it has given up, and takes another mission: you may send it",
  },
  FAILED_OVER: {
    who: "IT",
    active: "while this box leads. A handover raises none",
    robots: "as usual; one in doubt takes no start",
    more: "cluster.md#what-dies-and-what-the-plc-sees",
  },
  CONFIG_DIFFERS: {
    who: "IT",
  },
  CLOCK_SKEW: {
    who: "IT",
    active: "from a difference of 2 s on",
    robots: "as usual; a command with `expires_at` may expire too early",
    more: "troubleshoot.md#a-clock-is-wrong",
  },
  BUFFER_DROPPING: {
    who: "IT",
    active: "while MQTT or OPC UA loses events",
    more: "mqtt-reference.md#replies-and-events-that-are-dropped",
  },
  TOKEN_NOT_RENEWED: {
    who: "IT",
    robots: "as usual until it ends, then as with `FLEET_LINK_DOWN`",
    more: "troubleshoot.md#the-token-cannot-be-renewed",
  },
  BATTERY_LOW: {
    who: "you",
    active: "from `alarms.battery.low` (20 %) until 5 % more; not while it charges",
    robots: "can still drive until it is empty",
  },
  FOREIGN_MISSIONS: {
    who: "IT",
    active: "from 3 such missions within 10 minutes until 10 minutes without one",
    robots: "the robot drives for another program too",
    more: "commands.md#two-gateways-for-one-fleet",
  },
  ROBOT_CLOCK: {
    who: "IT",
    more: "troubleshoot.md#a-robots-clock",
  },
  CERTIFICATE_EXPIRES: {
    who: "IT",
    active: "from 60 days before; severity 700 in the last 7",
    more: "troubleshoot.md#a-certificate",
  },
} as const satisfies Record<keyof typeof alarmRules, AlarmNote>;

const robotsTexts = new Map(
  Object.entries<AlarmNote>(alarmNotes).map(([name, { robots = "as usual" }]) => [
    name,
    robots.replace(/[*`]/g, ""),
  ]),
);

/** Whether robots can still drive during an alarm, and what the gateway sends, as plain text. */
export function robotsDuring(code: AlarmCode): string {
  return robotsTexts.get(alarmRuleName(code)) ?? "";
}
