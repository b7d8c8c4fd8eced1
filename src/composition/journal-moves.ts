import { existsSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createEtcdClient } from "../cluster/etcd/client.ts";
import { type ClusterOptions, keyPrefix } from "../cluster/options.ts";
import { type MovedRecord, MoveRefused, moveIn, moveOut } from "../cluster/protocol/move.ts";
import { tableKey } from "../cluster/protocol/records.ts";
import { BEGUN_KEY, BEGUN_TABLE, sharedTables } from "../cluster/protocol/shared-tables.ts";
import { createEtcdStore } from "../cluster/store/etcd-store.ts";
import { journalFormat } from "../commands/journal/durable-journal.ts";
import { canReadRecord, isOrderKey } from "../commands/journal/stored-record.ts";
import type { Config } from "../config/load.ts";
import { canReadTickets, TICKETS } from "../northbound/opcua/commands/ticket-store.ts";
import { ticketsFormat } from "../northbound/opcua/opcua-store.ts";
import type { Clock } from "../platform/clock.ts";
import { makeFolder } from "../platform/folder.ts";
import { isJsonObject } from "../platform/json.ts";
import { silentLog } from "../platform/log.ts";
import { openRunningTime } from "../platform/running-time.ts";
import { openKeptStore } from "../platform/stores/kept-store.ts";
import { createLmdbStore } from "../platform/stores/lmdb-store.ts";
import { DATA_FILE, readLoss, type StoreFormat, syncFolder } from "../platform/stores/store-marks.ts";
import { anyJson, replacement } from "../platform/stores/table-store.ts";
import { refuseOwnJournal } from "./stores.ts";
import { tablesFormat } from "./tables.ts";

/** What was moved. */
export interface Moved {
  readonly commands: number;
  readonly slots: number;
  /** The keys in etcd of values that no gateway has written: they were left out. */
  readonly foreign: readonly string[];
}

const COMMANDS = "commands";
/** The tables of the journal, and of the slots of OPC UA. */
const stores: ReadonlyArray<readonly [folder: string, format: StoreFormat, tables: readonly string[]]> = [
  ["journal", journalFormat, [COMMANDS, "order", "leases", "runs", "holds"]],
  ["slots", ticketsFormat, [TICKETS]],
];
const DEADLINE_MS = 5_000;
/** Records of one write to the disk. */
const STEP = 200;
const PART = ".part";

/**
 * Moves the record of commands from a box into etcd, for a gateway that becomes a cluster. The gateways are
 * stopped. What was moved is put aside. Rejects with MoveRefused or StoreFailed.
 *
 * @returns null: there was nothing to move
 */
export async function moveToCluster(config: Config, clock: Clock): Promise<Moved | null> {
  const { dataDir } = config.gateway;
  const cluster = clusterOf(config);
  const present = stores.filter(([name]) => existsSync(join(dataDir, name, DATA_FILE)));
  if (present.length === 0) return null;
  for (const [name] of present) {
    const loss = readLoss(join(dataDir, name));
    if (loss !== null)
      throw new MoveRefused(
        `${name} was lost (${loss.reason}): confirm it first, by fleetgate journal reset`,
      );
  }
  const records: MovedRecord[] = [];
  for (const [name, format, tables] of present) {
    const store = createLmdbStore(openKeptStore(join(dataDir, name), format), silentLog);
    for (const table of tables)
      for (const [key, value] of store.table(table, anyJson, "confirm").entries())
        records.push({ table, key, value: table === COMMANDS ? agedBy(value, 0) : value });
    await store.close();
  }
  records.push(...(await readShared(dataDir)));
  const { store, close } = openEtcd(cluster, clock);
  await moveIn({ store, clock, member: cluster.member }, records).finally(close);
  const at = new Date(clock.nowMs()).toISOString().replaceAll(":", "");
  for (const [name] of present) renameSync(join(dataDir, name), join(dataDir, `${name}.moved-${at}`));
  syncFolder(dataDir);
  return countOf(records, []);
}

/**
 * Moves the record of commands from etcd to this box, for a gateway that is to run alone. The gateways are
 * stopped, and none leads from then on. Rejects with MoveRefused or StoreFailed.
 */
export async function moveFromCluster(config: Config, clock: Clock): Promise<Moved> {
  const { dataDir } = config.gateway;
  const cluster = clusterOf(config);
  refuseOwnJournal(dataDir);
  let moved: Moved = { commands: 0, slots: 0, foreign: [] };
  const runningMs = openRunningTime(dataDir, clock, silentLog).totalMs();
  const { store: etcd, close } = openEtcd(cluster, clock);
  const prefix = keyPrefix(cluster.name);
  const keep = async (all: readonly MovedRecord[]) => {
    const { kept: records, foreign } = sortMoved(all, prefix);
    for (const [name, format, tables] of stores) {
      const folder = join(dataDir, `${name}${PART}`);
      await rm(folder, { recursive: true, force: true });
      await makeFolder(folder);
      const store = createLmdbStore(openKeptStore(folder, format), silentLog);
      const own = records
        .filter(({ table }) => tables.includes(table))
        .map((record) =>
          record.table === COMMANDS ? { ...record, value: agedBy(record.value, runningMs) } : record,
        );
      for (let from = 0; from < own.length; from += STEP)
        await store.write(own.slice(from, from + STEP), true);
      await store.close();
    }
    await writeShared(dataDir, records);
    for (const [name] of stores) {
      // One without commands: `refuseOwnJournal` has seen to it.
      await rm(join(dataDir, name), { recursive: true, force: true });
      renameSync(join(dataDir, `${name}${PART}`), join(dataDir, name));
    }
    syncFolder(dataDir);
    moved = countOf(records, foreign);
  };
  const check = (records: readonly MovedRecord[]) => void sortMoved(records, prefix);
  await moveOut({ store: etcd, clock, member: cluster.member }, keep, check).finally(close);
  return moved;
}

/** What the members share beside the record of commands. */
async function readShared(dataDir: string): Promise<readonly MovedRecord[]> {
  const folder = join(dataDir, "tables");
  if (!existsSync(join(folder, DATA_FILE))) return [];
  const store = createLmdbStore(openKeptStore(folder, tablesFormat), silentLog);
  const records = sharedTables.flatMap((table) =>
    Array.from(store.table(table, anyJson, "begin empty").entries(), ([key, value]) => ({
      table,
      key,
      value,
    })),
  );
  await store.close();
  return [...records, { table: BEGUN_TABLE, key: BEGUN_KEY, value: true }];
}

/** In place of what the box has. Its robots stay: they have nodes. */
async function writeShared(dataDir: string, records: readonly MovedRecord[]): Promise<void> {
  if (!records.some(({ table }) => table === BEGUN_TABLE)) return;
  const folder = join(dataDir, "tables");
  await makeFolder(folder);
  const store = createLmdbStore(openKeptStore(folder, tablesFormat), silentLog);
  const content = sharedTables.map((name) => [
    name,
    Object.fromEntries(records.filter(({ table }) => table === name).map(({ key, value }) => [key, value])),
  ]);
  const changes = replacement(store, Object.fromEntries(content));
  await store.write(changes.filter(({ table, value }) => table !== "robots" || value !== undefined));
  await store.close();
}

/** It is as old as it was, and is kept for longer: running times of different gateways cannot be compared. */
function agedBy(record: unknown, runningMs: number): unknown {
  return { ...(record as object), runningMs };
}

function countOf(records: readonly MovedRecord[], foreign: readonly string[]): Moved {
  const count = (name: string) => records.filter(({ table }) => table === name).length;
  return { commands: count(COMMANDS), slots: count(TICKETS), foreign };
}

function clusterOf({ cluster }: Config): ClusterOptions {
  if (cluster === null) throw new MoveRefused("the configuration has no section cluster");
  return cluster;
}

function openEtcd({ name, etcd: { endpoints, tls } }: ClusterOptions, clock: Clock) {
  const parts = { clock, random: Math.random, log: silentLog };
  const client = createEtcdClient({ endpoints, tls, deadlineMs: DEADLINE_MS, ...parts });
  const store = createEtcdStore({ client, prefix: keyPrefix(name), clock, log: silentLog });
  return { store, close: () => client.close() };
}

interface SortedRecords {
  readonly kept: readonly MovedRecord[];
  /** The keys in etcd of values that no gateway has written: they count as none. */
  readonly foreign: readonly string[];
}

/**
 * Sorts the records of etcd as a gateway reads them. Throws MoveRefused over a record of a newer version, and
 * over a place without its record: a box that runs alone would begin with an empty journal.
 *
 * @param prefix of all keys of the gateway in etcd
 */
function sortMoved(records: readonly MovedRecord[], prefix: string): SortedRecords {
  const keyOf = ({ table, key }: Pick<MovedRecord, "table" | "key">) => prefix + tableKey(table, key);
  const kept: MovedRecord[] = [];
  const foreign: string[] = [];
  for (const record of records) {
    const isRead = canReadRecord(record) && canReadTickets(record);
    const isPlaced = record.table !== "order" || isOrderKey(record.key);
    if (isRead && isPlaced && record.value !== undefined) kept.push(record);
    else if (isPlaced && isJsonObject(record.value))
      throw new MoveRefused(
        `this version cannot read ${keyOf(record)}: take the newer one, or delete the key`,
      );
    else if (isPlaced && record.table === "order")
      throw new MoveRefused(`${keyOf(record)} names no command: look at the robots, then delete the key`);
    else foreign.push(keyOf(record));
  }
  const recorded = new Set(kept.flatMap(({ table, key }) => (table === "commands" ? [key] : [])));
  const lacking = kept.find(({ table, value }) => table === "order" && !recorded.has(String(value)));
  if (lacking !== undefined) {
    const record = keyOf({ table: "commands", key: String(lacking.value) });
    throw new MoveRefused(
      `${record} is no record, and ${keyOf(lacking)} names it: look at the robots, then delete both keys`,
    );
  }
  return { kept, foreign };
}
