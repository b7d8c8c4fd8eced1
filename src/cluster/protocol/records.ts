import type { MemberFacts } from "../../contracts/cluster.ts";
import type { RobotId } from "../../domain/robot.ts";
import { isJsonObject, parsedJson } from "../../platform/json.ts";
import type { StoreComparison, StoreEntry } from "./cluster-store.ts";

export const LEADER_KEY = "leader";
/** Which leader has given the leadership up. */
export const LEFT_KEY = "left";
/** Which process has led last, until it gives the leadership up. */
export const LED_KEY = "led";
/** What the leader puts each second. */
export const BEAT_KEY = "beat";
/** The newest stop of each robot. */
export const STOPS = "stop/";
/** What each member says of itself. */
export const MEMBERS = "member/";
export const TABLES = "table/";
/** Decisions on clients of OPC UA. */
export const CLIENTS = "client/";

export const stopKey = (robotId: RobotId) => `${STOPS}${robotId}`;
export const tableKey = (table: string, key: string) => `${TABLES}${table}/${key}`;

/** Who leads. A process that starts again is another one, though its member has the same name. */
export interface LeaderRecord {
  readonly member: string;
  readonly process: string;
}

/** In the place of a process, so that no member leads: records are on their way into the store. */
export const MOVING_IN = "journal to-cluster";
/** The same: the records are with one gateway, which runs alone. */
export const MOVED_OUT = "journal from-cluster";

/** It has led, and nothing shows that it cannot reach the service any more. */
export interface LedRecord extends LeaderRecord {
  /** The revision of its epoch. */
  readonly epoch: number;
}

/** A command that moves records has the leadership, and keeps it without a proof. */
export const isMove = ({ process }: LeaderRecord): boolean => process === MOVING_IN || process === MOVED_OUT;

/** What the leader says each second. */
export interface BeatRecord {
  readonly count: number;
  /** For how long members have led in all, in milliseconds. */
  readonly runMs: number;
  /** No event waits there to be published. */
  readonly isPublished: boolean;
}

/** This process leads no more, of its own accord. */
export interface LeftRecord extends LeaderRecord {
  readonly why: "planned" | "cut";
  /** For the next leader. */
  readonly note: unknown;
}

/** A member is there. `count` goes up. Earlier versions did not write the fields after it. */
export interface PresenceRecord {
  /** It could lead: it has a session to the service, and can read all records. */
  readonly hasSession: boolean;
  readonly count: number;
  readonly process?: string;
  /** The revision of the epoch that it leads, when it has taken over. */
  readonly leads?: number | null;
  readonly facts?: MemberFacts | null;
  /** Its wall clock. */
  readonly atMs?: number;
}

/** A stop that has left a member, so that every other one knows of it. */
export interface StopRecord {
  readonly process: string;
  /** Counts the stops of the process. */
  readonly count: number;
  readonly operation: string;
  readonly requestJson: string;
}

/** The key is as it was when this was known of it. */
export function unchanged(key: string, entry: Pick<StoreEntry, "modified"> | undefined): StoreComparison {
  return { key, modified: entry?.modified ?? 0 };
}

/**
 * Null: it is no such record, because something else than a gateway has written it.
 *
 * @param fields that it must have
 */
export function decode<Value>(
  { value }: Pick<StoreEntry, "value">,
  ...fields: ReadonlyArray<keyof Value & string>
): Value | null {
  const json = parsedJson(value) ?? null;
  if (fields.length === 0) return json as Value | null;
  return isJsonObject(json) && fields.every((field) => json[field] !== undefined) ? (json as Value) : null;
}
