/**
 * The shortest decimal of a 32-bit float: 1.2 arrives as 1.2000000476837158 and is published as 1.2. NaN and
 * the infinities stay as they are.
 */
export function shortestFloat(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return value;
}
