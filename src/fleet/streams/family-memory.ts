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
 * The families that were found out, over restarts too. It may be wrong: a robot may have been replaced
 * meanwhile. A lost memory costs the next start one call for each robot.
 */
export interface FamilyMemory {
  /** What was found out last; null: nothing. */
  recall(robotId: RobotId): FoundFamily | null;
  /** Keeps what was found out. A disk that fails is logged once, and nothing waits for it. */
  note(robotId: RobotId, family: FoundFamily): void;
  /** Waits for what is being written. */
  close(): Promise<void>;
}

/** A memory that no restart survives. */
export function forgetfulFamilyMemory(): FamilyMemory {
  const families = new Map<RobotId, FoundFamily>();
  return {
    recall: (robotId) => families.get(robotId) ?? null,
    note: (robotId, family) => void families.set(robotId, family),
    close: async () => {},
  };
}

/**
 * Opens the store in `folder`, which prepareStore has looked at. Never rejects: without a disk, nothing is
 * recalled.
 */
export async function openFamilyMemory(folder: string, log: Log): Promise<FamilyMemory> {
  try {
    await makeFolder(folder);
    return keptFamilies(openKeptStore(folder, familiesFormat), log);
  } catch (error) {
    log.error({ folder, cause: describeError(error) }, "robot families are not remembered over a restart");
    return forgetfulFamilyMemory();
  }
}

const PREFIX = "f/";
/** As many robots as the gateway takes. What is not kept is asked for again. */
const MOST_KEPT = 10_000;

/** Keeps each robot's family under `f/<robot id>`. */
function keptFamilies(store: Store, log: Log): FamilyMemory {
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
