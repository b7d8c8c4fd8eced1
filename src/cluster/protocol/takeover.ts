import type { Takeover } from "../../contracts/cluster.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Mirror } from "./mirror.ts";
import {
  decode,
  LEADER_KEY,
  LED_KEY,
  LEFT_KEY,
  type LeaderRecord,
  type LedRecord,
  type LeftRecord,
} from "./records.ts";

/** Follows who leads. Returns how the newest leader of another process has ended; null: none is known. */
export function watchTakeover(
  mirror: Pick<Mirror, "subscribe" | "get">,
  clock: Clock,
  process: string,
): () => Takeover | null {
  let last: LeaderRecord | null = null;
  let freeSinceMs: number | null = null;
  mirror.subscribe((key, entry) => {
    if (key === LEADER_KEY && entry === null) freeSinceMs = clock.monotonicMs();
    if (key !== LED_KEY || entry === null) return;
    const record = decode<LedRecord>(entry);
    if (record.process !== process) last = record;
  });
  return () => {
    if (last === null) return null;
    const entry = mirror.get(LEFT_KEY);
    const left = entry === undefined ? null : decode<LeftRecord>(entry);
    const tookMs = freeSinceMs === null ? null : clock.monotonicMs() - freeSinceMs;
    const isOwnWill = left?.process === last.process;
    return {
      ...{ from: last.member, tookMs },
      why: isOwnWill ? left.why : "lost",
      note: isOwnWill ? (left.note ?? null) : null,
    };
  };
}
