import type { RobotId } from "../../domain/robot.ts";
import { describeError, type Log } from "../../platform/log.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import type { Store } from "../../platform/store.ts";
import { openKeptStore } from "../../platform/stores/kept-store.ts";
import type { StoreFormat } from "../../platform/stores/store-marks.ts";

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
export async function openFamilyStore(folder: string, log: Log): Promise<FamilyStore> {
  try {
    await makeFolder(folder);
    return keptFamilies(openKeptStore(folder, familiesFormat), log);
  } catch (error) {
    log.error({ folder, cause: describeError(error) }, "robot families are not remembered over a restart");
    return transientFamilyStore();
  }
}

const PREFIX = "f/";
/** The limit of robots in the gateway. The service is asked about the others again. */
const MOST_KEPT = 10_000;

/** Keeps each robot's family under `f/<robot id>`. */
function keptFamilies(store: Store, log: Log): FamilyStore {
  const families = new Map<RobotId, FoundFamily>();
  for (const { key, value } of store.range({ from: PREFIX, to: "f0" })) {
    if (value === "cart" || value === "other") families.set(key.slice(PREFIX.length), value);
  }
  let isFailing = false;
  return {
    recall: (robotId) => families.get(robotId) ?? null,
    note(robotId, family) {
      if (families.get(robotId) === family) return;
      if (families.size >= MOST_KEPT && !families.has(robotId)) return;
      families.set(robotId, family);
      store.write([{ key: PREFIX + robotId, value: family }]).then(
        () => {
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing) log.error({ cause: describeError(error) }, "a robot's family could not be stored");
          isFailing = true;
        },
      );
    },
    close: store.close,
  };
}
