/**
 * The shortest decimal that a 32-bit float stands for: the wire's 1.2 arrives as
 * 1.2000000476837158 and is shown as 1.2. NaN and the infinities pass through.
 */
export function shortestFloat(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return value;
}
