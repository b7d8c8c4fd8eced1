/** From here on a slot's number starts nothing. */
export const FIRST_STOP_ONLY = 2 ** 30;
/** Of a configuration: numbers of members do not meet. */
const MOST_MEMBERS = 3;

export function mayStart(number: number): boolean {
  return number > 0 && number < FIRST_STOP_ONLY;
}

/** The number that a slot shows on a member that does not lead. `member` counts from 0. */
export function stopOnlyNumber(member: number, issued: number): number {
  return FIRST_STOP_ONLY + (issued % (FIRST_STOP_ONLY / (MOST_MEMBERS + 1))) * MOST_MEMBERS + member;
}
