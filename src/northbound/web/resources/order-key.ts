const DIGITS = 16;

/** A number as text with the same order, for integers that are not negative. */
export function orderKey(value: number): string {
  return String(Math.max(0, Math.trunc(value))).padStart(DIGITS, "0");
}

/** The same in the opposite order. */
export function reverseOrderKey(value: number): string {
  return orderKey(Number.MAX_SAFE_INTEGER - Math.max(0, Math.trunc(value)));
}
