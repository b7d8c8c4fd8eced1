const dateTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** An ISO 8601 time with a zone (RFC 3339) in milliseconds since 1970; null for anything else. */
export function dateTimeMs(value: unknown): number | null {
  const atMs = typeof value === "string" && dateTime.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
