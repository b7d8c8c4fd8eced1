import type { Clock } from "./clock.ts";
import { createLineBudget } from "./line-budget.ts";

/** Decides which failed log-ons are reported, so that the log and the audit log stay bounded. */
export interface LogOnReports {
  /** Whether a failed log-on under this name is reported. Counts the others. */
  isDue(name: string): boolean;
}

const WINDOW_MS = 60_000;
/** Names of no user are free to invent. */
const MOST_OF_UNKNOWN = 10;
/** The delays bound the failures of users already, for each address. */
const MOST_OF_USERS = 60;

/**
 * Unknown names and users have a bound each, so that a flood of invented names hides no attempt on a user.
 *
 * @param isUser whether the configuration has the name
 * @param onLeftOut is called after a minute, with the number of failures that were not reported
 */
export function createLogOnReports(
  clock: Pick<Clock, "after">,
  isUser: (name: string) => boolean,
  onLeftOut: (count: number) => void,
): LogOnReports {
  const budgetOf = (most: number) => createLineBudget(clock, { most, windowMs: WINDOW_MS }, onLeftOut);
  const [ofUsers, ofUnknown] = [budgetOf(MOST_OF_USERS), budgetOf(MOST_OF_UNKNOWN)];
  return { isDue: (name) => (isUser(name) ? ofUsers : ofUnknown).take() };
}
