/** Names of files that are numbered, so that their order does not depend on the wall clock: `…-12.json`. */
const NUMBER = /-(\d+)\.[a-z]+$/;

/** The oldest first. Names of earlier versions have no number, and come before all others. */
export function inOrder(names: readonly string[]): string[] {
  return names.toSorted((a, b) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1));
}

/** The number for the next one. */
export function nextNumber(names: readonly string[]): number {
  return Math.max(0, ...names.map(numberOf)) + 1;
}

function numberOf(name: string): number {
  return Number(NUMBER.exec(name)?.[1] ?? 0);
}
