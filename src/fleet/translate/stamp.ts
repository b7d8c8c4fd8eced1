import type { Stamp } from "../../domain/observed.ts";
import type { EventMetadata } from "../../wire/fleet/v1/common_pb.js";

/** Not negative, and small enough to be compared exactly: no robot has sent 2^53 messages. */
function isCountable(sequence: bigint): boolean {
  return sequence >= 0n && sequence <= BigInt(Number.MAX_SAFE_INTEGER);
}

/**
 * The times and the number of a message. `receivedAtMs` is the gateway's wall clock; the robot's time is cut
 * to whole milliseconds, as it is published.
 */
export function stampFromProto(metadata: EventMetadata | undefined, receivedAtMs: number): Stamp {
  if (metadata === undefined) return { sourceTimeMs: null, sequence: null, receivedAtMs };
  const at = metadata.timestamp;
  return {
    sourceTimeMs: at === undefined ? null : Number(at.seconds) * 1000 + Math.floor(at.nanos / 1e6),
    sequence: isCountable(metadata.sequenceNumber) ? Number(metadata.sequenceNumber) : null,
    receivedAtMs,
  };
}
