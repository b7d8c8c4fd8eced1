import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DiskMirrorParts, OpenDiskMirror } from "../cluster/store/disk-mirror.ts";
import { journalFormat, openDurableJournal } from "../commands/journal/durable-journal.ts";
import type { Journal } from "../commands/journal/journal.ts";
import type { Config } from "../config/load.ts";
import { openEventLog } from "../delivery/outbox/event-log.ts";
import type { OutboxOptions } from "../delivery/outbox/options.ts";
import { type Outbox, type OutboxParts, openOutbox } from "../delivery/outbox/outbox.ts";
import { outboxFormat, sparkplugOutboxFormat } from "../delivery/outbox/records.ts";
import { familiesFormat } from "../fleet/streams/family-store.ts";
import { familiesFolder } from "../fleet/streams/streams.ts";
import { eventsFormat } from "../fleet/webhooks/event-id-store.ts";
import { hasPublishedTopics } from "../northbound/mqtt/published-topics.ts";
import { ticketsFormat } from "../northbound/opcua/opcua-store.ts";
import type { Clock } from "../platform/clock.ts";
import type { Health } from "../platform/component.ts";
import { diskHealth, freeBytes } from "../platform/disk-health.ts";
import { createJournalStream, JOURNAL_PATH } from "../platform/journal-stream.ts";
import { createLineFile } from "../platform/line-file.ts";
import type { Log } from "../platform/log.ts";
import { RUNNING_TIME_FILE, type RunningTime } from "../platform/running-time.ts";
import {
  type KeyedStore,
  LEAST_FREE_BYTES,
  type Store,
  StoreFailed,
  type StoreParts,
  systemParts,
} from "../platform/store.ts";
import {
  loseStore,
  type OtherFormat,
  openKeptStore,
  otherFormat,
  prepareStore,
} from "../platform/stores/kept-store.ts";
import { createLmdbStore } from "../platform/stores/lmdb-store.ts";
import { RecordDamaged } from "../platform/stores/record-seal.ts";
import { isReadOnly } from "../platform/stores/record-walk.ts";
import {
  DATA_FILE,
  OwnJournal,
  type StoreFormat,
  type StoreLoss,
  writeLoss,
} from "../platform/stores/store-marks.ts";
import { openTables, type Tables, tablesFormat } from "./tables.ts";

/** The file of the audit log, and its copy in the journal if that is configured. Opens nothing. */
export function createAudit(
  { gateway, audit: { journald, ...bounds } }: Pick<Config, "gateway" | "audit">,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
) {
  const auditFile = { path: join(gateway.dataDir, "audit", "audit.jsonl"), ...bounds };
  const identifier = "fleetgate-audit";
  return {
    auditFile,
    audit: createLineFile(auditFile, clock, log),
    journald: journald ? createJournalStream({ path: JOURNAL_PATH, identifier, clock, log }) : null,
  };
}

/** The stores of a data folder, checked so that opening them cannot end this process. */
export interface Stores {
  /**
   * It records only stops while a loss is not confirmed, so nothing else is sent. Null: the members of a
   * cluster share it.
   */
  readonly journal: Journal | null;
  /** What this box has of the store that the members share; null: there is no cluster. */
  readonly mirror: OpenDiskMirror | null;
  /** The journal is lost, and no operator has confirmed it: nobody knows what earlier runs have sent. */
  readonly areRecordsLost: boolean;
  readonly ticketsFolder: string;
  readonly ticketsLoss: StoreLoss | null;
  readonly tables: Tables;
  /** Events wait in it for the broker; null: no JSON topics. A lost outbox begins empty. */
  openOutbox(sessionId: string): Promise<Outbox | null>;
  /** The same, with a cursor of its own, for Sparkplug. */
  openSparkplugOutbox(sessionId: string): Promise<Outbox | null>;
  /** Names the lost stores. */
  health(): Health;
  /** The loss that an operator must confirm before anything but stops and reads passes; null: none. */
  lossToConfirm(): string | null;
  /** The health of the disk below them. */
  diskHealth(): Health;
  /** The health of the commands, with the reason why they are refused. */
  commandsHealth(health: Health): Health;
}

interface Lost extends StoreLoss {
  readonly store: string;
  readonly mustBeConfirmed: boolean;
}

/** The stores of a data folder that have another format than this program's. */
export function otherFormats(dataDir: string): ReadonlyArray<OtherFormat & { readonly folder: string }> {
  const fleet = join(dataDir, "fleet");
  const stores: ReadonlyArray<readonly [folder: string, format: StoreFormat]> = [
    [join(dataDir, "slots"), ticketsFormat],
    [join(dataDir, "journal"), journalFormat],
    [join(dataDir, "outbox"), outboxFormat],
    [join(dataDir, "sparkplug-outbox"), sparkplugOutboxFormat],
    [join(dataDir, TABLES), tablesFormat],
    [familiesFolder(fleet), familiesFormat],
    [join(fleet, "webhooks", "events"), eventsFormat],
  ];
  return stores.flatMap(([folder, format]) => {
    const other = otherFormat(folder, format);
    return other === null ? [] : [{ ...other, folder }];
  });
}

/** Names that a lock, a crash and a file system create in a folder that no gateway has used. */
const ALWAYS_THERE = ["lock", "lost+found", "crash", RUNNING_TIME_FILE];
const TABLES = "tables";
/** No store of its own: it names the one that the members of a cluster share. */
const clusterFormat: StoreFormat = { store: "cluster", version: 1 };
const CONFIRM = "an operator confirms that with fleetgate journal reset";

interface PrepareParts {
  readonly clock: Clock;
  readonly time: RunningTime;
  readonly log: Log;
  /** Whether the program is on trial; absent: it is not. */
  readonly isOnTrial?: (() => boolean) | undefined;
}

/**
 * Checks every store in the data folder before one is opened, and opens the journal and the tables. Rejects
 * with StoreTooNew, or with StoreFailed if one cannot be checked. A lost journal takes the tickets of slots
 * with it: a command that the journal does not know would count as never sent.
 *
 * @param time records age by it
 */
export async function prepareStores(
  config: Config,
  { clock, time, log, isOnTrial = () => false }: PrepareParts,
): Promise<Stores> {
  const { dataDir } = config.gateway;
  const lost: Lost[] = [];
  const journalFolder = join(dataDir, "journal");
  const ticketsFolder = join(dataDir, "slots");
  const tablesFolder = join(dataDir, TABLES);
  const opened = new Map<string, Store>();

  function note({ store }: StoreFormat, loss: StoreLoss, mustBeConfirmed: boolean): void {
    lost.push({ ...loss, store, mustBeConfirmed });
    const means = mustBeConfirmed ? `only stops and reads pass; ${CONFIRM}` : "it begins empty";
    log.error({ store, ...loss }, `a store is lost: ${means}`);
  }
  const lossOf = ({ store }: StoreFormat) => lost.find((each) => each.store === store) ?? null;

  async function prepare(folder: string, format: StoreFormat, isExpected: boolean, mustBeConfirmed: boolean) {
    const isReadByOwner = [journalFormat, outboxFormat, sparkplugOutboxFormat, tablesFormat].includes(format);
    const preparation = { isExpected, mustBeConfirmed, isReadByOwner, nowMs: clock.nowMs() };
    const loss = await prepareStore(folder, format, preparation);
    if (loss !== null) note(format, loss, mustBeConfirmed);
  }

  async function openJournal(): Promise<Journal> {
    const open = (records: KeyedStore) =>
      openDurableJournal(createLmdbStore(records, log), config.journal, time, refusalFor(lost));
    const store = openOne(journalFolder, journalFormat);
    try {
      return open(store);
    } catch (error) {
      if (error instanceof StoreFailed) throw error;
      await store.close();
      note(journalFormat, await loseStore(journalFolder, reasonOf(error), clock.nowMs(), true), true);
      return open(openOne(journalFolder, journalFormat));
    }
  }

  async function openRecords(): Promise<KeyedStore> {
    await prepare(tablesFolder, tablesFormat, false, false);
    return openOne(tablesFolder, tablesFormat);
  }

  function openOne(folder: string, format: StoreFormat): KeyedStore {
    const store = openKeptStore(folder, format, partsOf(folder, format, log));
    opened.set(format.store, store);
    return store;
  }

  const openEventOutbox = (format: StoreFormat, options: OutboxOptions | null, sessionId: string) => {
    if (options === null) return Promise.resolve(null);
    const parts = { options, sessionId, clock, time, log: log.child({ part: format.store }) };
    return openOutboxIn(
      join(dataDir, format.store),
      parts,
      () => openOne(join(dataDir, format.store), format),
      {
        name: format.store,
        onLost: (loss) => note(format, loss, false),
      },
    );
  };

  const isUsed = await isUsedFolder(dataDir);
  if (config.cluster === null) await prepare(journalFolder, journalFormat, isUsed, true);
  else refuseOwnJournal(dataDir);
  if (config.opcua !== null && config.cluster === null) {
    // The server's own key shows that it has run here.
    await prepare(ticketsFolder, ticketsFormat, existsSync(join(dataDir, "opcua", "server", "own")), true);
  }
  const tables = await openTables(openRecords, dataDir, { clock, log, isOnTrial });
  if (config.outbox !== null) {
    // The topics at the plant's brokers show that MQTT has run here.
    await prepare(join(dataDir, outboxFormat.store), outboxFormat, hasPublishedTopics(tables), false);
  }
  if (config.sparkplugOutbox !== null)
    await prepare(join(dataDir, sparkplugOutboxFormat.store), sparkplugOutboxFormat, false, false);
  const { events, cacheDirectory } = config.fleet;
  if (cacheDirectory !== null) await prepare(familiesFolder(cacheDirectory), familiesFormat, false, false);
  if (events.kind === "webhook") {
    await prepare(join(events.webhook.directory, "events"), eventsFormat, false, false);
  }
  // The members of a cluster share theirs.
  const journal = config.cluster === null ? await openJournal() : null;
  const journalLoss = lossOf(journalFormat);
  if (journalLoss !== null && config.opcua !== null && lossOf(ticketsFormat) === null) {
    const loss = { since: journalLoss.since, reason: "the journal was lost", keptAs: null };
    writeLoss(ticketsFolder, loss);
    note(ticketsFormat, loss, true);
  }
  const lostCluster = (loss: StoreLoss) => note(clusterFormat, loss, true);
  const mirror =
    config.cluster === null
      ? null
      : await openMirror(dataDir, { open: openOne, clock, log, lost: lostCluster });
  return {
    journal,
    mirror,
    areRecordsLost: journalLoss !== null,
    tables,
    ticketsFolder,
    ticketsLoss: lossOf(ticketsFormat),
    openOutbox: (sessionId) => openEventOutbox(outboxFormat, config.outbox, sessionId),
    openSparkplugOutbox: (sessionId) =>
      openEventOutbox(sparkplugOutboxFormat, config.sparkplugOutbox, sessionId),
    diskHealth: () => diskHealthOf(dataDir, opened),
    ...lossHealth(lost),
  };
}

/**
 * Opens an outbox; a damaged one is put aside, and begins empty.
 *
 * @param name of its component
 */
async function openOutboxIn(
  folder: string,
  parts: Omit<OutboxParts, "store" | "eventLog">,
  openStore: () => Store,
  { name, onLost }: { readonly name: string; readonly onLost: (loss: StoreLoss) => void },
): Promise<Outbox> {
  const open = (store: Store) => openOutbox({ ...parts, name, store, eventLog: openEventLog(folder) });
  const store = openStore();
  try {
    return await open(store);
  } catch (error) {
    if (!(error instanceof RecordDamaged)) throw error;
    await store.close();
    onLost(await loseStore(folder, error.message, parts.clock.nowMs(), false));
    return open(openStore());
  }
}

/** @throws OwnJournal if commands of a gateway that ran alone are recorded in the data folder */
export function refuseOwnJournal(dataDir: string): void {
  const folder = join(dataDir, "journal");
  if (!existsSync(join(folder, DATA_FILE))) return;
  const records = openKeptStore(folder, journalFormat);
  const [first] = records.keys({ from: "commands/", to: "commands0" });
  void records.close();
  if (first === undefined) return;
  throw new OwnJournal(
    `${folder} has the commands of a gateway that ran alone, which the other members do not know: move them with fleetgate journal to-cluster, or begin without them by fleetgate journal reset --discard`,
  );
}

/** Loaded here and not at the top: a gateway without a cluster needs nothing of it. */
async function openMirror(dataDir: string, parts: DiskMirrorParts): Promise<OpenDiskMirror> {
  const { openDiskMirror } = await import("../cluster/store/disk-mirror.ts");
  return openDiskMirror(join(dataDir, clusterFormat.store), parts);
}

/** `lost` grows while the gateway runs. */
function lossHealth(lost: readonly Lost[]): Pick<Stores, "health" | "lossToConfirm" | "commandsHealth"> {
  return {
    lossToConfirm: () => lossToConfirm(lost),
    health: () =>
      lost.length === 0 ? { state: "up" } : { state: "degraded", detail: lost.map(lossText).join("; ") },
    commandsHealth(health) {
      const refusal = refusalFor(lost);
      return refusal === null || health.state !== "up"
        ? health
        : { ...health, state: "degraded", detail: refusal };
    },
  };
}

function diskHealthOf(dataDir: string, opened: ReadonlyMap<string, Store>): Health {
  return diskHealth({
    dataDir,
    freeBytes,
    leastFreeBytes: LEAST_FREE_BYTES,
    isReadOnly: () => isReadOnly(join(dataDir, "journal", DATA_FILE)),
    delays: () => Array.from(opened, ([store, { figures }]) => ({ store, slowestMs: figures().slowestMs })),
  });
}

/** Why a journal cannot be opened. */
function reasonOf(error: unknown): string {
  if (error instanceof RecordDamaged) return error.message;
  return `a record cannot be read (${error instanceof Error ? error.name : "unknown"})`;
}

/** Why only stops and reads pass; null: nothing is to be confirmed. */
function refusalFor(lost: readonly Lost[]): string | null {
  const loss = lossToConfirm(lost);
  return loss === null ? null : `${loss}; only stops and reads pass; ${CONFIRM}`;
}

function lossToConfirm(lost: readonly Lost[]): string | null {
  const loss = lost.find((each) => each.mustBeConfirmed);
  return loss === undefined ? null : lossText(loss);
}

function lossText({ store, since, reason, keptAs }: Lost): string {
  const kept = keptAs === null ? "" : `, kept as ${keptAs}`;
  return `the store "${store}" is lost since ${since} (${reason}${kept})`;
}

/** A first start has an empty data folder, or one with only the certificates of OPC UA clients. */
async function isUsedFolder(folder: string): Promise<boolean> {
  const names = (await readdir(folder)).filter((name) => !ALWAYS_THERE.includes(name));
  return (
    !names.every((name) => name === "opcua") || !(await hasOnlyClientCertificates(join(folder, "opcua")))
  );
}

/** The OPC UA server's own folders and files, as `own`, exist since its first start. */
async function hasOnlyClientCertificates(folder: string): Promise<boolean> {
  if (!existsSync(folder)) return true;
  const names = await readdir(folder);
  if (names.some((name) => name !== "server")) return false;
  if (names.length === 0) return true;
  const parts = await readdir(join(folder, "server"));
  return parts.every((name) => name === "trusted" || name === "issuers");
}

/** The outbox outlives its files: lmdb writes to removed ones without an error. */
function partsOf(folder: string, format: StoreFormat, log: Log): StoreParts {
  if (format !== outboxFormat && format !== sparkplugOutboxFormat) return systemParts;
  const text = "somebody has removed the files of the outbox: its events are written again, none is lost";
  return { ...systemParts, onGone: () => log.error({ folder }, text) };
}
