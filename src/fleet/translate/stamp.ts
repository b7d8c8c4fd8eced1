import type { Stamp } from "../../domain/observed.ts";
import type { EventMetadata } from "../../wire/fleet/v1/common_pb.js";

/**
 * When and in which order a message was recorded. `receivedAtMs` is the gateway's
 * wall clock; the robot's time is cut to whole milliseconds, as it is published.
 */
export function stampFromProto(metadata: EventMetadata | undefined, receivedAtMs: number): Stamp {
  if (metadata === undefined) return { sourceTimeMs: null, sequence: null, receivedAtMs };
  const at = metadata.timestamp;
  return {
    sourceTimeMs: at === undefined ? null : Number(at.seconds) * 1000 + Math.floor(at.nanos / 1e6),
    sequence: Number(metadata.sequenceNumber),
    receivedAtMs,
  };
}
