const dateTime = /^(\d{4})-(\d\d)-(\d\d)[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * An ISO 8601 time with a zone (RFC 3339) in milliseconds since 1970; null for anything else, such as a date
 * that does not exist.
 */
export function dateTimeMs(value: unknown): number | null {
  const parts = typeof value === "string" ? dateTime.exec(value) : null;
  if (parts === null || !isDate(Number(parts[1]), Number(parts[2]), Number(parts[3]))) return null;
  const atMs = Date.parse(parts[0]);
  return Number.isNaN(atMs) ? null : atMs;
}

/** JavaScript reads 31 February as 3 March. */
function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
