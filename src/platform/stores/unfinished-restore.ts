import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PlainError } from "../error-text.ts";
import { syncFolder } from "./store-marks.ts";

/** A restore was interrupted, so nothing may be started on the folder. */
class RestoreUnfinished extends PlainError {
  override readonly name = "RestoreUnfinished";
}

const MARK = "restore-unfinished";

/** From here on no gateway starts on the folder, until `endRestore`. */
export function beginRestore(dataDir: string): void {
  writeFileSync(join(dataDir, MARK), "", { mode: 0o600, flush: true });
  syncFolder(dataDir);
}

export function endRestore(dataDir: string): void {
  rmSync(join(dataDir, MARK), { force: true });
  syncFolder(dataDir);
}

/** @throws RestoreUnfinished */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, MARK))) return;
  throw new RestoreUnfinished(
    `the restore of a backup into ${dataDir} was not finished: run fleetgate restore with the same file again`,
  );
}
