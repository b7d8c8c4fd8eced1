/**
 * How many letters must be added, removed, changed or swapped with their neighbour to turn one text into the
 * other.
 */
export function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, at(beforePrevious, column - 2) + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, to.length);
}

/** One letter may be wrong for each so many letters of a name. */
const LETTERS_AN_ERROR = 3;
/** Two names with so many first letters in common are near. */
const COMMON_LETTERS = 4;

/** The known name that `name` most likely means; undefined: none is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance && isNear(name.toLowerCase(), candidate.toLowerCase(), distance)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function isNear(name: string, known: string, distance: number): boolean {
  const longest = Math.max(name.length, known.length);
  if (distance <= Math.ceil(longest / LETTERS_AN_ERROR)) return true;
  const shortest = Math.min(name.length, known.length);
  return shortest >= COMMON_LETTERS && (name.startsWith(known) || known.startsWith(name));
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
