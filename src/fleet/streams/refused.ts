import type { RobotId } from "../../domain/robot.ts";

/** The service could not be asked, so it is not known which robots it refuses. */
export class CannotAsk extends Error {
  override readonly name = "CannotAsk";
}

/**
 * The service refuses a selector as a whole, whichever robots are to blame. Finds the refused ones among
 * robots that are refused together, by asking for halves: k among n cost about 2k·log₂(n/k) questions.
 * Rejects with the error of `isRefused`.
 */
export async function findRefused(
  ids: readonly RobotId[],
  isRefused: (ids: readonly RobotId[]) => Promise<boolean>,
): Promise<readonly RobotId[]> {
  if (ids.length <= 1) return ids;
  const middle = Math.ceil(ids.length / 2);
  const left = ids.slice(0, middle);
  const right = ids.slice(middle);
  if (!(await isRefused(left))) return findRefused(right, isRefused);
  const found = await findRefused(left, isRefused);
  return (await isRefused(right)) ? [...found, ...(await findRefused(right, isRefused))] : found;
}
