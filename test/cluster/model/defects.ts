import type {
  ClusterStore,
  CommitResult,
  StoreComparison,
  StorePart,
  StoreTransaction,
} from "../../../src/cluster/protocol/cluster-store.ts";
import { decode, LEADER_KEY, STOPS, tableKey } from "../../../src/cluster/protocol/records.ts";
import type { StoredRecord } from "../../../src/commands/journal/stored-record.ts";
import { type Parts, soundParts } from "./world.ts";

/** A mistake that the model must find. */
export interface Defect extends Parts {
  readonly name: string;
  /** What it breaks. */
  readonly violation: RegExp;
  /** A seed with which it is found soon, if it takes more than 500 runs from the first one on. */
  readonly soonFrom?: number;
}

const COMMANDS = tableKey("commands", "");
const HOLDS = tableKey("holds", "");

/** Passes on the transaction that it makes of each. */
function changed(change: (transaction: StoreTransaction) => StoreTransaction): Parts["store"] {
  return (store) => ({ ...store, commit: (transaction) => store.commit(change(transaction)) });
}

/** Leaves comparisons out. */
function without(
  isLeftOut: (comparison: StoreComparison, part: StorePart | null) => boolean,
): Parts["store"] {
  return changed(({ guard, parts }) => ({
    guard: guard.filter((each) => !isLeftOut(each, null)),
    parts: parts.map((part) => ({ ...part, when: part.when.filter((each) => !isLeftOut(each, part)) })),
  }));
}

function begins(comparison: StoreComparison, prefix: string): boolean {
  return ("key" in comparison ? comparison.key : comparison.prefix).startsWith(prefix);
}

/** The record of a command that a part puts; null: it puts none, or removes it; `tombstone`: it closes it. */
function recordIn({ puts }: StorePart): StoredRecord | "tombstone" | null {
  const value = puts.find(({ key }) => key.startsWith(COMMANDS))?.value ?? null;
  if (value === null) return null;
  return decode<StoredRecord | null>({ value }) ?? "tombstone";
}

type IsMeant = (record: StoredRecord | "tombstone") => boolean;

const isSent: IsMeant = (record) =>
  record !== "tombstone" && record.sentAtMs !== undefined && record.outcome === undefined;
const isFinal: IsMeant = (record) => record !== "tombstone" && record.outcome !== undefined;

function holdsA({ parts }: StoreTransaction, isMeant: IsMeant): boolean {
  return parts.some((part) => {
    const record = recordIn(part);
    return record !== null && isMeant(record);
  });
}

function allDone({ parts }: StoreTransaction): CommitResult {
  return { kind: "done", revision: 0, parts: parts.map(() => true) };
}

/** Answers what the store has not answered. */
function believing(isMeant: IsMeant): Parts["store"] {
  return (store) => ({
    ...store,
    async commit(transaction) {
      const result = await store.commit(transaction);
      return result.kind === "unsure" && holdsA(transaction, isMeant) ? allDone(transaction) : result;
    },
  });
}

/** Answers at once, and asks the store meanwhile, or not at all. */
function hasty(isMeant: IsMeant, isAsked: boolean): Parts["store"] {
  return (store: ClusterStore) => ({
    ...store,
    async commit(transaction) {
      if (!holdsA(transaction, isMeant)) return store.commit(transaction);
      if (isAsked) void store.commit(transaction);
      return allDone(transaction);
    },
  });
}

/** Each is found by random moves, without knowing where to look. */
export const defects: readonly Defect[] = [
  {
    ...soundParts,
    name: "no guard",
    violation: /does not lead|reaches the service|changes|is recorded as/,
    store: without((each) => begins(each, LEADER_KEY) && "created" in each),
  },
  {
    ...soundParts,
    name: "no L",
    soonFrom: 1_000,
    violation: /leaves long after|of epoch|last stop/,
    times: { ...soundParts.times, permissionMs: Number.POSITIVE_INFINITY },
  },
  {
    ...soundParts,
    name: "no wait for robots in doubt",
    soonFrom: 2_400,
    violation: /of epoch|arrives after the last stop|and was sent/,
    times: { ...soundParts.times, doubtMs: 0 },
  },
  {
    ...soundParts,
    name: "sending after an unsure write",
    violation: /and was sent|of epoch|while its robot is held|over a stop|leaves|reaches the service/,
    store: believing(isSent),
  },
  {
    ...soundParts,
    name: "no tombstone",
    soonFrom: 2_400,
    violation: /never ends|and is recorded as|and was sent|reaches the service|without a permission/,
    store: hasty((record) => record === "tombstone", false),
  },
  {
    ...soundParts,
    name: "telling before recording",
    violation: /and is recorded as|never ends/,
    store: hasty(isFinal, true),
  },
  {
    ...soundParts,
    name: "a permission that ignores holds",
    violation: /while its robot is held|leaves long after/,
    store: without((each) => begins(each, HOLDS) && "notAfter" in each),
  },
  {
    ...soundParts,
    name: "a permission that ignores stops",
    soonFrom: 2_100,
    violation: /over a stop|last stop|leaves long after/,
    store: without((each, part) => begins(each, STOPS) && part !== null && recordIn(part) !== null),
  },
  {
    ...soundParts,
    name: "a standby that takes starts",
    violation: /./,
    shared: (member) => ({ ...member, isLeading: () => true }),
  },
];

/** Found in many more runs, or not yet. */
export const rare: readonly Defect[] = [
  {
    ...soundParts,
    name: "a start ends over a stop that its leader does not know",
    violation: /arrives after the last stop/,
    store: without((each, part) => {
      const record = part === null ? null : recordIn(part);
      return begins(each, STOPS) && record !== null && isFinal(record);
    }),
  },
  {
    ...soundParts,
    name: "a second stop is sent after L of a clock that is fast",
    violation: /arrives after the last stop/,
    times: { ...soundParts.times, secondStopMs: soundParts.times.permissionMs },
  },
  {
    ...soundParts,
    // Nothing but fencing closes it.
    name: "a process that is stopped between its look at the clock and its system call",
    violation: /of epoch|long after/,
    stopsInTurn: true,
  },
];
