import type { SharedClient, SharedClients } from "../../contracts/client-certificates.ts";
import { type Clock, every, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { anyJson, type Table, type TableChange, type TableStore } from "../../platform/stores/table-store.ts";
import {
  createWriteBehind,
  type TableFollower,
  type WriteBehind,
  type WritePace,
} from "../../platform/stores/write-behind.ts";
import type { ClusterStore } from "./cluster-store.ts";
import type { Mirror } from "./mirror.ts";
import { CLIENTS, decode } from "./records.ts";

/** The tables of a member: of its own box, and those that the members share. */
export interface MemberTables extends WriteBehind {
  /** This member leads from now on, and writes to this store. It knows all that was written before. */
  lead(store: TableStore): void;
  /** Resolves when the others can know all that was kept until now, or after some seconds. */
  settled(): Promise<void>;
}

export interface SharedTablesParts {
  /** Those of this box. */
  readonly own: WriteBehind;
  /** What the leader has written, as a standby knows it. */
  readonly written: {
    readonly tables: TableStore;
    readonly onTable: (listener: (table: string, key: string) => void) => void;
    /** Another member leads, and this one knows what it has written. */
    readonly isOtherLeading: () => boolean;
  };
  readonly clock: Clock;
  readonly log: Log;
  readonly ended: AbortSignal;
}

/**
 * How a table is shared. `isCopied`: each box has the leader's values on its disk too, for a start without
 * etcd. `isHurried`: somebody waits until they are written. `isOwn`: each box reads its own table, and adds
 * what the leader has.
 */
interface Sharing {
  readonly isCopied: boolean;
  readonly isHurried: boolean;
  readonly isOwn?: boolean;
}

const sharing: Readonly<Record<string, Sharing>> = {
  alarms: { isCopied: true, isHurried: true },
  "out-of-service": { isCopied: true, isHurried: true },
  "alarm-ids": { isCopied: true, isHurried: true },
  stations: { isCopied: true, isHurried: false },
  // Robots that this box has seen keep their nodes.
  robots: { isCopied: false, isHurried: false, isOwn: true },
  // The name of a run is known before it publishes.
  brokers: { isCopied: true, isHurried: true },
  "sparkplug-bd-seq": { isCopied: true, isHurried: true },
  "published-topics": { isCopied: false, isHurried: false },
};

/** The tables of a cluster beside those of commands. */
export const sharedTables: readonly string[] = Object.keys(sharing);
/** Of the record that a leader has written all its tables. */
export const BEGUN_TABLE = "shared";
export const BEGUN_KEY = "begun";

const LOOK_MS = 500;
/**
 * Without news of a leader for so long, a box goes its own way. A takeover is over sooner, and finds a
 * standby that still has all.
 */
const UNLED_MS = 10_000;
/** Commands are not to wait for these writes. */
const hurriedPace: WritePace = { fullMs: 0, pauseMs: 0, mostChanges: 50 };
const pace: WritePace = { fullMs: 250, pauseMs: 1_000, mostChanges: 50 };
/** As many as are written together fit into a transaction of etcd. A larger one would hold them all up. */
const MOST_BYTES = 25_000;

export function createSharedTables({ own, written, clock, log, ended }: SharedTablesParts): MemberTables {
  const followers = new Map<string, TableFollower>();
  const begun = written.tables.table(BEGUN_TABLE, anyJson, "begin empty");
  const hasBegun = () => begun.get(BEGUN_KEY) !== undefined;
  const tableOf = (store: Pick<TableStore, "table">, name: string) =>
    store.table(name, anyJson, "begin empty");
  let leading: SharedWriter | null = null;
  let isFollowing = false;
  let ledAtMs = Number.NEGATIVE_INFINITY;
  /** What is read of shared tables; null: they are this box's own. */
  let shared: TableStore | null = null;
  const unsettled = new Set<TableFollower>();

  function settleSoon(follower: TableFollower): void {
    if (unsettled.size === 0) queueMicrotask(settle);
    unsettled.add(follower);
  }

  function settle(): void {
    const all = [...unsettled];
    unsettled.clear();
    for (const follower of all) follower.settled();
  }

  /** All that the leader has of a table. */
  function takeAll(name: string, follower: TableFollower | undefined): void {
    if (follower === undefined && sharing[name]?.isCopied !== true) return;
    const content = new Map(tableOf(written.tables, name).entries());
    if (sharing[name]?.isCopied === true) own.keep(changesTo(tableOf(own, name), content));
    if (follower === undefined) return;
    follower.all(content);
    settleSoon(follower);
  }

  function look(): void {
    const wasFollowing = isFollowing;
    if (written.isOtherLeading()) ledAtMs = clock.monotonicMs();
    isFollowing = leading === null && hasBegun() && clock.monotonicMs() - ledAtMs < UNLED_MS;
    if (isFollowing && !wasFollowing) for (const name of sharedTables) takeAll(name, followers.get(name));
  }

  written.onTable((name, key) => {
    if (name === BEGUN_TABLE) look();
    const how = sharing[name];
    if (!isFollowing || how === undefined) return;
    const value = tableOf(written.tables, name).get(key);
    if (how.isCopied) own.keep([{ table: name, key, value }]);
    const follower = followers.get(name);
    if (follower === undefined) return;
    follower.changed(key, value);
    settleSoon(follower);
  });
  every(clock, LOOK_MS, ended, look);

  /** The first leader of all brings what its box has. */
  function writeAll(): void {
    for (const name of sharedTables) {
      const table = tableOf(own, name);
      leading?.keep(Array.from(table.entries(), ([key, value]) => table.put(key, value)));
    }
  }

  /** Says that all is there, when it is: what is missing counts as removed from then on. */
  async function begin(writer: SharedWriter): Promise<void> {
    while (!(await writer.settled())) if (!(await sleep(clock, LOOK_MS, ended))) return;
    writer.keep([{ table: BEGUN_TABLE, key: BEGUN_KEY, value: true }]);
  }

  return {
    table(name, codec, onLoss) {
      const isShared = sharing[name] !== undefined && sharing[name].isOwn !== true;
      return (isShared && shared ? shared : own).table(name, codec, onLoss);
    },
    keep(changes) {
      const isKeptHere = ({ table }: TableChange) => {
        const how = sharing[table];
        return how === undefined || how.isOwn === true || (leading !== null && how.isCopied);
      };
      own.keep(changes.filter(isKeptHere));
      leading?.keep(changes.filter(({ table }) => sharing[table] !== undefined));
    },
    async flushed() {
      const stored = await Promise.all([own.flushed(), leading?.flushed() ?? true]);
      return stored.every(Boolean);
    },
    settled: async () => void (await leading?.settled()),
    shared: {
      isLeading: () => leading !== null,
      isFollowing: () => isFollowing,
      follow(name, follower) {
        followers.set(name, follower);
        if (isFollowing || shared !== null) takeAll(name, follower);
        if (leading !== null) follower.lead();
      },
    },
    lead(store) {
      const isFirst = !hasBegun();
      if (!isFirst && !isFollowing) for (const name of sharedTables) takeAll(name, followers.get(name));
      settle();
      isFollowing = false;
      leading = createSharedWriter(store, clock, log);
      if (isFirst) writeAll();
      else shared = store;
      if (isFirst) void begin(leading);
      for (const follower of followers.values()) follower.lead();
    },
  };
}

interface SharedWriter extends Pick<WriteBehind, "keep" | "flushed"> {
  /** Resolves with whether all that was kept until now is written. */
  settled(): Promise<boolean>;
}

/** Those that a person waits for are written at once, and `flushed` waits for them. */
function createSharedWriter(store: TableStore, clock: Clock, log: Log): SharedWriter {
  const hurried = createWriteBehind(store, clock, log, hurriedPace);
  const others = createWriteBehind(store, clock, log, pace);
  return {
    keep(changes) {
      const fitting = changes.filter(isSmall);
      const tables = new Set(changes.filter((change) => !isSmall(change)).map(({ table }) => table));
      for (const table of tables) log.warn({ table }, "a record is too large to be shared by the cluster");
      const isHurried = ({ table }: TableChange) => sharing[table]?.isHurried === true;
      hurried.keep(fitting.filter(isHurried));
      others.keep(fitting.filter((change) => !isHurried(change)));
    },
    flushed: hurried.flushed,
    async settled() {
      return (await Promise.all([hurried.flushed(), others.flushed()])).every(Boolean);
    },
  };
}

/** The changes by which a table has this content. */
function changesTo(table: Table<unknown>, content: ReadonlyMap<string, unknown>): readonly TableChange[] {
  const before = new Map(table.entries());
  const gone = [...before.keys()].filter((key) => !content.has(key));
  const changed = [...content].filter(
    ([key, value]) => JSON.stringify(before.get(key)) !== JSON.stringify(value),
  );
  return [...gone.map(table.remove), ...changed.map(([key, value]) => table.put(key, value))];
}

function isSmall({ value }: TableChange): boolean {
  return value === undefined || Buffer.byteLength(JSON.stringify(value)) <= MOST_BYTES;
}

/** Decisions on clients of OPC UA. They start nothing, so they need no leader, as a hold needs none. */
export function createSharedClients(
  store: Pick<ClusterStore, "commit">,
  mirror: Pick<Mirror, "range" | "revision">,
): SharedClients {
  return {
    decisions() {
      if (mirror.revision() === 0) return null;
      return new Map(
        mirror.range(CLIENTS).flatMap((entry) => {
          const client = decode<SharedClient>(entry);
          if (client === null) return [];
          return [[entry.key.slice(CLIENTS.length), { ...client, revision: entry.modified }] as const];
        }),
      );
    },
    async decide(thumbprint, client, since) {
      const key = `${CLIENTS}${thumbprint}`;
      const puts = [{ key, value: JSON.stringify(client) }];
      const result = await store.commit({ guard: [], parts: [{ when: [{ key, modified: since }], puts }] });
      return result.kind === "done" && result.parts?.[0] === true ? result.revision : null;
    },
  };
}
