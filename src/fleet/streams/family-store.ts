import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { describeError } from "../../platform/error-text.ts";
import { makeFolder } from "../../platform/folder.ts";
import type { Log } from "../../platform/log.ts";
import { openKeptStore } from "../../platform/stores/kept-store.ts";
import { createLmdbStore } from "../../platform/stores/lmdb-store.ts";
import type { StoreFormat } from "../../platform/stores/store-marks.ts";
import type { Codec } from "../../platform/stores/table-store.ts";
import { createWriteBehind, type WriteBehind } from "../../platform/stores/write-behind.ts";

/** A new version needs the step from the old one in platform/stores/kept-store.ts. */
export const familiesFormat: StoreFormat = { store: "robot families", version: 2 };

/** Whether a robot has conveyors: only carts have. */
export type FoundFamily = "cart" | "other";

/**
 * The families that were found out, over restarts too. They may be wrong: a robot may have been replaced
 * meanwhile. If they are lost, the next start makes one call for each robot.
 */
export interface FamilyStore {
  /** The family that was found last; null: none. */
  recall(robotId: RobotId): FoundFamily | null;
  /** Keeps a family that was found. A disk that fails is logged once, and delays nothing. */
  note(robotId: RobotId, family: FoundFamily): void;
  /** Waits for writes under way. */
  close(): Promise<void>;
}

/** A memory that does not outlive the process. */
export function transientFamilyStore(): FamilyStore {
  const families = new Map<RobotId, FoundFamily>();
  return {
    recall: (robotId) => families.get(robotId) ?? null,
    note: (robotId, family) => void families.set(robotId, family),
    close: async () => {},
  };
}

/**
 * Opens the store in `folder`, which prepareStore has checked. Never rejects: without a disk, nothing is
 * recalled.
 */
export async function openFamilyStore(
  folder: string,
  clock: Pick<Clock, "after">,
  log: Log,
): Promise<FamilyStore> {
  try {
    await makeFolder(folder);
    const records = openKeptStore(folder, familiesFormat);
    const tables = createWriteBehind(createLmdbStore(records, log), clock, log);
    return {
      ...keptFamilies(tables),
      async close() {
        await tables.flushed();
        await records.close();
      },
    };
  } catch (error) {
    log.error({ folder, cause: describeError(error) }, "robot families are not remembered over a restart");
    return transientFamilyStore();
  }
}

/** The table of families, by robot. Its name is short, and on the disk of every plant. */
const FAMILIES = "f";
/** The limit of robots in the gateway. The service is asked about the others again. */
const MOST_KEPT = 10_000;

const familyCodec: Codec<FoundFamily> = {
  encode: (family) => family,
  decode: (json) => (json === "cart" || json === "other" ? json : null),
};

function keptFamilies(tables: WriteBehind): Omit<FamilyStore, "close"> {
  const table = tables.table(FAMILIES, familyCodec, "begin empty");
  const families = new Map<RobotId, FoundFamily>(table.entries());
  return {
    recall: (robotId) => families.get(robotId) ?? null,
    note(robotId, family) {
      if (families.get(robotId) === family) return;
      if (families.size >= MOST_KEPT && !families.has(robotId)) return;
      families.set(robotId, family);
      tables.keep([table.put(robotId, family)]);
    },
  };
}
