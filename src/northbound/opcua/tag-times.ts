import { type Stamp, sourceTimeOf } from "../../domain/observed.ts";
import { dateAt, type TagTimes } from "./node-opcua/tag.ts";

/** The range of a DateTime: 1601 to 9999 (OPC UA Part 6, DateTime). */
const EARLIEST_MS = Date.UTC(1601, 0, 1);
const LATEST_MS = Date.UTC(9999, 11, 31);

/**
 * The times of a robot's message. Conveyors have no time of their own, and a robot's clock may be wrong: then
 * it is the gateway's time.
 */
export function tagTimes(stamp: Stamp): TagTimes {
  const server = dateAt(stamp.receivedAtMs);
  const sourceTimeMs = sourceTimeOf(stamp);
  const isTime = sourceTimeMs !== null && sourceTimeMs >= EARLIEST_MS && sourceTimeMs <= LATEST_MS;
  return { source: isTime ? dateAt(sourceTimeMs) : server, server };
}
