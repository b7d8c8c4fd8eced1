import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { describeError } from "../../platform/error-text.ts";
import { makeFolder } from "../../platform/folder.ts";
import { isJsonObject } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import { brokenStore, type KeyedStore } from "../../platform/store.ts";
import { prepareStore } from "../../platform/stores/kept-store.ts";
import { createLmdbStore } from "../../platform/stores/lmdb-store.ts";
import { readLoss, type StoreFormat, type StoreLoss, writeLoss } from "../../platform/stores/store-marks.ts";
import type { Codec } from "../../platform/stores/table-store.ts";
import { createWriteBehind, type WritePace } from "../../platform/stores/write-behind.ts";
import type { StoreEntry } from "../protocol/cluster-store.ts";
import type { DiskMirror, SeenStore } from "../protocol/mirror.ts";

export interface DiskMirrorParts {
  /** Opens an environment that was prepared. */
  readonly open: (folder: string, format: StoreFormat) => KeyedStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with each loss that is not confirmed: now, or when it is found. */
  readonly lost: (loss: StoreLoss) => void;
}

export interface OpenDiskMirror extends DiskMirror {
  /** Writes the rest. */
  close(): Promise<void>;
}

/** A new version needs no step from the old one: the mirror is read anew. */
const format: StoreFormat = { store: "mirror", version: 1 };
/** Commands do not wait for it, and have the disk to themselves between two writes. */
const pace: WritePace = { fullMs: 20, pauseMs: 1_000, mostChanges: 500 };
/** The only record of its table. */
const SEEN = "store";

/**
 * Keeps in `folder` what the store of the cluster has, as far as this box has seen it. So a box that starts
 * while the store does not answer knows what it knew, and a start of all boxes with a store that knows less
 * is noticed. Such a loss stays until an operator has confirmed it (`fleetgate journal reset`).
 */
export async function openDiskMirror(folder: string, parts: DiskMirrorParts): Promise<OpenDiskMirror> {
  const { clock, log, lost } = parts;
  await makeFolder(folder);
  let loss = readLoss(folder);
  if (loss !== null) lost(loss);
  const records = await openRecords(join(folder, format.store), parts);
  const store = createLmdbStore(records, log);
  const entries = store.table("entries", entryCodec, "begin empty");
  const seen = store.table("seen", seenCodec, "begin empty");
  const { keep, flushed } = createWriteBehind(store, clock, log, pace);
  return {
    take: () => Array.from(entries.entries(), ([, entry]) => entry),
    before: seen.get(SEEN) ?? null,
    isLost: () => loss !== null,
    keep(changes, present) {
      const own = changes.map(([key, entry]) =>
        entry === null ? entries.remove(key) : entries.put(key, entry),
      );
      // First: what is written knows no more than the box says that it has seen.
      keep([seen.put(SEEN, present), ...own]);
    },
    lose(reason) {
      loss = { since: new Date(clock.nowMs()).toISOString(), reason, keptAs: null };
      lost(loss);
      try {
        writeLoss(folder, loss);
        keep([seen.remove(SEEN)]);
      } catch {
        // The disk fails. With the record of before, the next start finds the loss again.
      }
    },
    async close() {
      await flushed();
      await records.close();
    },
  };
}

/** The store has all that is in the mirror, so nothing of it is worth a gateway that does not start. */
async function openRecords(folder: string, { open, clock, log }: DiskMirrorParts): Promise<KeyedStore> {
  try {
    const preparation = {
      isExpected: false,
      mustBeConfirmed: false,
      isReadByOwner: true,
      nowMs: clock.nowMs(),
    };
    const loss = await prepareStore(folder, format, preparation);
    if (loss !== null) {
      log.warn(
        { folder, reason: loss.reason },
        "the mirror of etcd on this box cannot be read: it is read anew",
      );
      if (loss.keptAs !== null) await rm(loss.keptAs, { recursive: true, force: true });
    }
    return open(folder, format);
  } catch (error) {
    log.error({ folder, cause: describeError(error) }, "this box cannot keep its mirror of etcd on its disk");
    return brokenStore(error);
  }
}

const entryCodec: Codec<StoreEntry> = {
  encode: (entry) => entry,
  decode: (json) =>
    isJsonObject(json) && typeof json.value === "string" ? (json as unknown as StoreEntry) : null,
};

const seenCodec: Codec<SeenStore> = {
  encode: (seen) => seen,
  decode(json) {
    if (!isJsonObject(json)) return null;
    const { clusterId, revision } = json;
    return typeof clusterId === "string" && typeof revision === "number" ? { clusterId, revision } : null;
  },
};
