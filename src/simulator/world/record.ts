import type { Json } from "../../platform/json.ts";
import type { CodeName } from "../refusal.ts";
import type { Incident } from "../scenario/schema.ts";
import type { ChainStatus, TaskStatus } from "./chain.ts";
import type { MissionStatus } from "./mission.ts";
import type { Motor } from "./robot.ts";

/** A real event. `by` is its cause: `call:<callId>`, `touchscreen`, `progress`, … */
type Fact =
  /** A command reached the service, in proto3 JSON; `caller` is `distributor/apiKey`. */
  | {
      readonly what: "received";
      readonly callId: number;
      readonly operation: string;
      readonly caller: string;
      readonly request: Json;
    }
  /** The answer of the service, and when. */
  | {
      readonly what: "answered";
      readonly callId: number;
      readonly operation: string;
      readonly code: CodeName;
    }
  | {
      readonly what: "mission";
      readonly missionId: string;
      readonly from: MissionStatus | "none";
      readonly to: MissionStatus;
      readonly owner: string;
      readonly by: string;
    }
  | { readonly what: "goal"; readonly missionId: string; readonly goalIndex: number; readonly by: string }
  | { readonly what: "motor"; readonly index: number; readonly motor: Motor; readonly by: string }
  | { readonly what: "payload"; readonly index: number; readonly loaded: boolean }
  | { readonly what: "weight"; readonly carriedKg: number }
  | {
      readonly what: "chain";
      readonly chainId: number;
      readonly status: ChainStatus | "reassigned" | "paused" | "resumed";
      readonly by: string;
    }
  | {
      readonly what: "task";
      readonly chainId: number;
      readonly taskId: number;
      readonly status: TaskStatus;
      readonly by: string;
    }
  | { readonly what: "incident"; readonly incident: Incident };

/** An event with its number. `robotId` is empty if no robot is named. */
export interface RecordEntry {
  readonly seq: number;
  /** World time. */
  readonly atMs: number;
  readonly robotId: string;
  readonly fact: Fact;
}

/** The world's own record of what happened, with which all claims can be compared. */
export interface WorldRecord {
  add(robotId: string, fact: Fact): void;
  /** The entries with a larger `seq`, in order. The first entry of a world has `seq` 1. */
  since(seq: number): readonly RecordEntry[];
}

/** A record that keeps at least the newest `capacity` entries, and at most twice as many. */
export function createRecord(nowMs: () => number, capacity: number): WorldRecord {
  let older: RecordEntry[] = [];
  let newer: RecordEntry[] = [];
  let nextSeq = 1;
  return {
    add(robotId, fact) {
      newer.push({ seq: nextSeq++, atMs: nowMs(), robotId, fact });
      if (newer.length < capacity) return;
      older = newer;
      newer = [];
    },
    since(seq) {
      return [...after(older, seq), ...after(newer, seq)];
    },
  };
}

function after(entries: readonly RecordEntry[], seq: number): readonly RecordEntry[] {
  const first = entries[0];
  return first === undefined ? [] : entries.slice(Math.max(seq + 1 - first.seq, 0));
}
