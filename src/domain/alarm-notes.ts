import { type AlarmCode, alarmRuleName, type alarmRules } from "./alarm.ts";

/** What docs/alarms.md says of an alarm beyond its rule, as Markdown. */
interface AlarmNote {
  /** When it is active, unless its cause says so. */
  readonly active?: string;
  /** Whether robots may move meanwhile, and what the gateway still sends; absent: as usual. */
  readonly robots?: string;
  /** The section that says more, as a link from docs/. */
  readonly more?: string;
}

const unreached = "finish what they have; no start is sent, stops are";

/** A note for each rule; scripts/alarms-doc.mjs makes the page of both. */
export const alarmNotes = {
  FLEET_LINK_DOWN: {
    active: "while there is no session to the service. `ROBOT_LOST` is not raised meanwhile",
    robots: "finish what they have; the gateway reaches none, **not even with a stop**",
    more: "troubleshoot.md#no-robots-or-all-are-offline",
  },
  DUPLICATE_GATEWAY: {
    active: "up to 2 min longer if both have one client id",
    robots: "move by the other one's commands too, if both serve one fleet",
    more: "troubleshoot.md#mqtt-is-cut-off",
  },
  QUORUM_LOST: {
    active: "without a majority of etcd for longer than `leaseSeconds`",
    robots: unreached,
    more: "cluster.md#what-dies-and-what-the-plc-sees",
  },
  FENCE_FAILED: {
    active: "until a box leads",
    robots: unreached,
    more: "cluster.md#cut-the-power-first",
  },
  RECORDS_LOST: {
    active: "until the first start after the reset",
    robots: unreached,
    more: "backup-and-recovery.md#a-journal-that-cannot-be-read",
  },
  RECORD_UNREADABLE: {
    robots: "go on while a box leads that did so before; no box begins to lead",
    more: "cluster.md#what-dies-and-what-the-plc-sees",
  },
  DISK_FULL: {
    active: "from less than 8 MB free until 16 MB are",
    robots: "finish what they have; the gateway refuses starts and changes, and sends stops",
    more: "troubleshoot.md#the-disk-is-full-or-fails",
  },
  OUTCOME_UNKNOWN: {
    robots: "**the robot may move, now or later**: keep clear until you have looked",
    more: "troubleshoot.md#a-command-ended-as-unknown",
  },
  CONVEYOR_NOT_STOPPED: {
    robots: "**the conveyor may turn**; the robot may move",
  },
  ROBOT_EXCEPTION: {
    robots: "the robot may go on by itself",
  },
  CONVEYOR_ERROR: {
    active: "`CONVEYOR_ERROR_1` is conveyor 1",
    robots: "the robot may move, the conveyor may turn",
  },
  BATTERY_CRITICAL: {
    active: "from `alarms.battery.critical` (10 %) until 5 % more; not while it charges",
    robots: "may move until empty",
  },
  NO_STANDBY: {
    robots: "as usual, until this box fails",
    more: "cluster.md#a-standby-without-a-session",
  },
  STORE_SPACE: {
    active: "from 60 % of etcd's quota; severity 800 when it is full",
    robots: "as usual, until etcd is full",
    more: "cluster.md#etcd-is-full",
  },
  MEMBER_LOST: {
    more: "cluster.md#a-member-of-etcd-is-replaced",
  },
  ROBOT_LOST: {
    active: "after 5 min (`quality.holdMs`)",
    robots: "the robot may move unseen; no start is sent, stops are",
    more: "troubleshoot.md#values-are-stale",
  },
  MISSION_FAILED: {
    active: "until the next mission of the robot runs",
    robots: "the robot may take another mission",
  },
  FAILED_OVER: {
    active: "while this box leads. A handover raises none",
    robots: "as usual; one in doubt takes no start",
    more: "cluster.md#what-dies-and-what-the-plc-sees",
  },
  CONFIG_DIFFERS: {},
  CLOCK_SKEW: {
    active: "from a difference of 2 s on",
    robots: "as usual; a command with `expires_at` may expire too early",
    more: "troubleshoot.md#a-clock-is-wrong",
  },
  BUFFER_DROPPING: {
    active: "while MQTT or OPC UA loses events",
    more: "mqtt-reference.md#replies-and-events-that-are-dropped",
  },
  TOKEN_NOT_RENEWED: {
    robots: "as usual until it ends, then as with `FLEET_LINK_DOWN`",
    more: "troubleshoot.md#the-token-cannot-be-renewed",
  },
  BATTERY_LOW: {
    active: "from `alarms.battery.low` (20 %) until 5 % more; not while it charges",
    robots: "may move until empty",
  },
  FOREIGN_MISSIONS: {
    active: "from 3 such missions within 10 minutes until 10 minutes without one",
    robots: "the robot moves for another program too",
    more: "commands.md#two-gateways-for-one-fleet",
  },
  ROBOT_CLOCK: {
    more: "troubleshoot.md#a-robots-clock",
  },
  CERTIFICATE_EXPIRES: {
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

/** Whether robots may move during an alarm, and what the gateway sends, as plain text. */
export function robotsDuring(code: AlarmCode): string {
  return robotsTexts.get(alarmRuleName(code)) ?? "";
}
