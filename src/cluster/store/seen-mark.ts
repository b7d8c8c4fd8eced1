import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../platform/folder.ts";
import { isJsonObject } from "../../platform/json.ts";
import { readLoss, type StoreLoss, writeLoss } from "../../platform/stores/store-marks.ts";
import type { SeenMark, SeenStore } from "../protocol/mirror.ts";

const FILE = "seen.json";

/**
 * Keeps in `folder` how much of the store of the cluster this box has seen, so that a start of all boxes with
 * a store that knows less is noticed. A loss stays until an operator has confirmed it (`fleetgate journal
 * reset`).
 *
 * @param lost is called with each loss that is not confirmed: now, or when it is found
 */
export async function openSeenMark(
  folder: string,
  clock: { nowMs(): number },
  lost: (loss: StoreLoss) => void,
): Promise<SeenMark> {
  await makeFolder(folder);
  const before = readSeen(folder);
  let loss = readLoss(folder);
  if (loss !== null) lost(loss);
  return {
    before,
    isLost: () => loss !== null,
    note(seen) {
      try {
        writeSeen(folder, seen);
      } catch {
        // The disk fails, as others say. A mark that is older than what was seen is true all the same.
      }
    },
    lose(reason, seen) {
      loss = { since: new Date(clock.nowMs()).toISOString(), reason, keptAs: null };
      lost(loss);
      try {
        writeLoss(folder, loss);
        writeSeen(folder, seen);
      } catch {
        // The disk fails. With the mark of before, the next start finds the loss again.
      }
    },
  };
}

/** Null: nothing was seen, or the file cannot be understood. */
function readSeen(folder: string): SeenStore | null {
  try {
    const seen: unknown = JSON.parse(readFileSync(join(folder, FILE), "utf8"));
    if (!isJsonObject(seen)) return null;
    const { clusterId, revision } = seen;
    return typeof clusterId === "string" && typeof revision === "number" ? { clusterId, revision } : null;
  } catch {
    return null;
  }
}

function writeSeen(folder: string, seen: SeenStore): void {
  const path = join(folder, FILE);
  writeFileSync(`${path}.part`, JSON.stringify(seen), { mode: 0o600 });
  renameSync(`${path}.part`, path);
}
