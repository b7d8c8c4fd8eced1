import type { Protocol, Role } from "./command.ts";

/** A field of an act. A text has 1 to `ACT_TEXT_CHARACTERS` printable characters. */
export interface ActField {
  readonly type: "text" | "boolean" | "integer";
  readonly isOptional?: true;
  readonly text: string;
}

/** What a user does to the gateway itself, by any protocol (docs/commands.md, Acts). */
export interface ActRule {
  readonly text: string;
  /** The role that it needs for its robot, or for all robots; null: the act itself decides. */
  readonly role: Role | null;
  /** The act in the refusal of a source without the role; for an operator "command robots" by default. */
  readonly right?: string;
  /** The only protocol that has it; absent: all have it. */
  readonly only?: Protocol;
  readonly fields: Readonly<Record<string, ActField>>;
}

export const ACT_TEXT_CHARACTERS = 256;

const robot_id = { type: "text", text: "the robot" } as const;
const station = { type: "text", text: "a station of the configuration" } as const;
const hold = { type: "boolean", text: "`true` holds, `false` lifts the hold" } as const;
const alarm_id = { type: "text", text: "the `id` of the alarm" } as const;
const user = {
  type: "text",
  isOptional: true,
  text: "beside `false`: lifts this user's hold, as `opcua:plc1`; for engineers",
} as const;

export const acts = {
  Hold: {
    text: "holds a robot, or lifts the hold",
    role: "operator",
    fields: { robot_id, hold, user },
  },
  HoldAll: {
    text: "holds all robots, or lifts the hold",
    role: "operator",
    fields: { hold, user },
  },
  AcknowledgeAlarm: {
    text: "acknowledges an alarm",
    role: "operator",
    right: "acknowledge alarms",
    fields: { alarm_id, comment: { type: "text", isOptional: true, text: "for the other users" } },
  },
  CommentAlarm: {
    text: "comments on an alarm, in place of its earlier comment",
    role: "operator",
    right: "comment on alarms",
    fields: { alarm_id, comment: { type: "text", text: "for the other users" } },
  },
  SetOutOfService: {
    text: "takes a robot out of service, or puts it back",
    role: "operator",
    right: "take robots out of service",
    fields: { robot_id, out_of_service: { type: "boolean", text: "whether its alarms rest" } },
  },
  LeaseRobot: {
    text: "leases a robot to a station",
    role: null,
    fields: { station, robot_id },
  },
  ReleaseRobot: {
    text: "releases your lease",
    role: null,
    fields: { station, robot_id },
  },
  OverrideLease: {
    text: "ends the lease of any station and owner",
    role: "engineer",
    right: "an override",
    fields: { robot_id },
  },
  Heartbeat: {
    text: "renews your leases for a station",
    role: null,
    fields: {
      station,
      counter: { type: "integer", text: "another number in each heartbeat of a running program" },
    },
  },
  Permit: {
    text: "permits starts towards a station, or takes the permit back",
    role: null,
    only: "opcua",
    fields: { station, permit: { type: "boolean", text: "whether robots may come" } },
  },
  ResetCounters: {
    text: "sets the counters of a station to 0",
    role: null,
    fields: { station },
  },
} as const satisfies Readonly<Record<string, ActRule>>;

export type ActName = keyof typeof acts;

interface FieldTypes {
  readonly text: string;
  readonly boolean: boolean;
  readonly integer: number;
}

type FieldsOf<Fields extends Readonly<Record<string, ActField>>> = {
  readonly [Name in keyof Fields]: Fields[Name] extends { readonly isOptional: true }
    ? FieldTypes[Fields[Name]["type"]] | undefined
    : FieldTypes[Fields[Name]["type"]];
};

/** The fields of an act, after they were read. */
export type ActFields<Name extends ActName> = FieldsOf<(typeof acts)[Name]["fields"]>;

export function isActName(name: string): name is ActName {
  return Object.hasOwn(acts, name);
}
