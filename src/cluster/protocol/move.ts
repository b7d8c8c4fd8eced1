import type { Clock } from "../../platform/clock.ts";
import { parsedJson } from "../../platform/json.ts";
import { StoreFailed } from "../../platform/store.ts";
import type { ClusterStore, StorePut, StoreRead } from "./cluster-store.ts";
import { createEpochWriter, type Epoch, ledBy } from "./epoch-writer.ts";
import {
  decode,
  isMove,
  LEADER_KEY,
  LED_KEY,
  type LeaderRecord,
  MOVED_OUT,
  MOVING_IN,
  TABLES,
  unchanged,
} from "./records.ts";
import { BEGUN_TABLE, sharedTables } from "./shared-tables.ts";

/** A record of a table, as it is kept. `value`: JSON. */
export interface MovedRecord {
  readonly table: string;
  readonly key: string;
  readonly value: unknown;
}

/** The records cannot be moved now. The message says why, and what to do. */
export class MoveRefused extends Error {
  override readonly name = "MoveRefused";
}

/** What a record in the place of the leader's says of the journal; null: a member has written it. */
export function journalMove({ member, process }: LeaderRecord): string | null {
  if (process === MOVING_IN) return `${member} has not finished moving its journal into etcd`;
  return process === MOVED_OUT ? `the journal is on ${member}, which is to run alone` : null;
}

interface MoveParts {
  readonly store: ClusterStore;
  readonly clock: Clock;
  /** The name of this member. */
  readonly member: string;
}

/**
 * Writes the records of a gateway that has run alone into the store. No member leads meanwhile. After a crash
 * it must be called again.
 */
export async function moveIn(parts: MoveParts, records: readonly MovedRecord[]): Promise<void> {
  const { store, member } = parts;
  const before = await readAll(store);
  const leader = leaderIn(before);
  const has = before.entries.some(({ key }) => isOfCommands(key));
  const isOwn = leader?.member === member && isMove(leader);
  if (leader !== null && !isOwn) throw new MoveRefused(leads(leader));
  // What it has moved out before is not true any more, and what a crash has left of a move in is the same.
  if (has && !isOwn) {
    throw new MoveRefused(
      "the members have records of their own already, and two journals cannot become one",
    );
  }
  const epoch = await take(parts, before, { member, process: MOVING_IN });
  const known = new Map((await readAll(store)).entries.map((entry) => [entry.key, entry]));
  const puts = records.map(({ table, key, value }) => ({
    key: `${TABLES}${table}/${key}`,
    value: JSON.stringify(value),
  }));
  const wanted = new Set(puts.map(({ key }) => key));
  const removals = [...known.keys()]
    .filter((key) => key.startsWith(TABLES) && !wanted.has(key))
    .map((key) => ({ key, value: null }));
  const missing = puts.filter(({ key, value }) => known.get(key)?.value !== value);
  await writeAll(parts, epoch, [...removals, ...missing], (key) => known.get(key));
  await release(store, epoch);
}

/**
 * Reads all records, for a gateway that is to run alone, and removes them from the store when `keep` has
 * resolved. Nobody leads from then on, until records are moved in again.
 *
 * @param check throws if they cannot be kept: then nothing has changed
 */
export async function moveOut(
  parts: MoveParts,
  keep: (records: readonly MovedRecord[]) => Promise<void>,
  check: (records: readonly MovedRecord[]) => void,
): Promise<void> {
  const { store, member } = parts;
  const before = await readAll(store);
  const leader = leaderIn(before);
  const isOwn = leader?.process === MOVED_OUT && leader.member === member;
  if (leader !== null && !isOwn) throw new MoveRefused(leads(leader));
  check(recordsIn(before));
  const epoch = await take(parts, before, { member, process: MOVED_OUT });
  const read = await readAll(store);
  const entries = read.entries.filter(({ key }) => key.startsWith(TABLES));
  await keep(recordsIn(read));
  const known = new Map(entries.map((entry) => [entry.key, entry]));
  const removals = entries.map(({ key }) => ({ key, value: null }));
  await writeAll(parts, epoch, removals, (key) => known.get(key));
}

/** The value of a text that is no JSON is undefined. */
function recordsIn({ entries }: StoreRead): readonly MovedRecord[] {
  return entries.flatMap(({ key, value }) => {
    if (!key.startsWith(TABLES)) return [];
    const [table = "", ...rest] = key.slice(TABLES.length).split("/");
    const found = parsedJson(value);
    return found === null ? [] : [{ table, key: rest.join("/"), value: found }];
  });
}

/** Whether it is in a table of which no two become one. A leader without a command has others. */
function isOfCommands(key: string): boolean {
  return key.startsWith(TABLES) && ![...sharedTables, BEGUN_TABLE].includes(key.split("/")[1] ?? "");
}

function leads({ member, process }: LeaderRecord): string {
  if (process === MOVING_IN)
    return `${member} has not finished: run fleetgate journal to-cluster there again`;
  if (process === MOVED_OUT) return `the journal is on ${member}: run it there`;
  return `${member} leads: stop the gateway on both boxes, and wait until its lease is over`;
}

async function readAll(store: ClusterStore): Promise<StoreRead> {
  const read = await store.read("");
  if (read === null) throw new StoreFailed("etcd does not answer");
  return read;
}

function leaderIn(read: StoreRead): LeaderRecord | null {
  const entry = read.entries.find(({ key }) => key === LEADER_KEY);
  return entry === undefined ? null : decode<LeaderRecord>(entry, "member", "process");
}

/** Leads without a lease: a crash of this program lets nobody else lead. */
async function take({ store }: MoveParts, before: StoreRead, own: LeaderRecord): Promise<Epoch> {
  const known = before.entries.find(({ key }) => key === LEADER_KEY);
  const value = JSON.stringify(own);
  if (known?.value !== value) {
    const guard = [unchanged(LEADER_KEY, known)];
    await store.commit({ guard, parts: [{ when: [], puts: [{ key: LEADER_KEY, value }] }] });
  }
  const read = await readAll(store);
  const entry = read.entries.find(({ key }) => key === LEADER_KEY);
  if (entry?.value !== value) throw new StoreFailed("etcd has not taken it: run it again");
  return { clusterId: read.clusterId, revision: entry.created };
}

/** Records that are on their way at once: with an etcd that is away the first of them end the command. */
const STEP = 400;

async function writeAll(
  { store, clock }: MoveParts,
  epoch: Epoch,
  puts: readonly StorePut[],
  known: (key: string) => { readonly modified: number } | undefined,
): Promise<void> {
  const writer = createEpochWriter({ store, clock, epoch, lost() {} });
  for (let from = 0; from < puts.length; from += STEP) {
    const some = puts.slice(from, from + STEP);
    const results = await Promise.all(
      some.map((put) => writer.write({ when: [unchanged(put.key, known(put.key))], puts: [put] })),
    );
    if (results.some(({ kind }) => kind !== "written"))
      throw new StoreFailed("etcd has not taken all records: run it again");
  }
}

/** How often etcd is asked to take it. */
const TRIES = 5;

async function release(store: ClusterStore, epoch: Epoch): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const guard = [ledBy(epoch)];
    // The gateways are stopped, so no process that has led still runs.
    const puts = [LEADER_KEY, LED_KEY].map((key) => ({ key, value: null }));
    const parts = [{ when: [], puts }];
    const result = await store.commit({ guard, parts });
    if (result.kind === "done") return;
  }
  throw new StoreFailed("etcd has not taken the end of it: run it again");
}
