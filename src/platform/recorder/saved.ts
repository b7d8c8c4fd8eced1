import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { inOrder, nextNumber } from "../numbered-names.ts";
import { ENDING } from "./recording.ts";

/**
 * Who asked for a saved recording. Each kind has files of its own, so that alarms replace no recording of a
 * user.
 */
export type SavedBy = "alarm" | "user";

/** The path of a recording that is saved now. */
export function savedPath(folder: string, by: SavedBy, nowMs: number, number: number): string {
  const time = new Date(nowMs).toISOString().replace(/[:.]/g, "-");
  return join(folder, `${by}-${time}-${number}${ENDING}`);
}

/**
 * Removes the oldest recordings, so that at most `keep` remain, and files that a crash has left half written.
 *
 * @returns the number of the next one
 */
export async function removeOldest(folder: string, by: SavedBy, keep: number): Promise<number> {
  const names = await readdir(folder);
  const own = inOrder(names.filter((name) => name.startsWith(`${by}-`) && name.endsWith(ENDING)));
  const halves = names.filter((name) => name.endsWith(`${ENDING}.new`));
  for (const name of [...own.slice(0, Math.max(0, own.length - keep)), ...halves])
    await rm(join(folder, name), { force: true });
  return nextNumber(own);
}
