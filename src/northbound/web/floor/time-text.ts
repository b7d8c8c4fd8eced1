const EARLIEST_MS = -62_135_596_800_000;
const LATEST_MS = 253_402_300_799_999;

/** A time of the gateway's clock as ISO 8601, UTC, with milliseconds. */
export function timeText(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Null also for a time outside the years 1 to 9999: a robot's clock may have any time. */
export function timeTextOrNull(atMs: number | null): string | null {
  return atMs !== null && atMs >= EARLIEST_MS && atMs <= LATEST_MS ? timeText(atMs) : null;
}
