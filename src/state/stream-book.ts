import type { StreamId } from "../domain/update.ts";
import type { RobotEntry, Slot, Stream } from "./robot-entry.ts";

/** The registry of all streams that bring a value. Monotonic milliseconds. */
export interface StreamBook {
  /** A message of `streamId` brought or confirmed this value: that proves both the stream and the value. */
  confirm(robot: RobotEntry, slot: Slot, streamId: StreamId, nowMs: number): void;
  /** The stream, if it brings any value. */
  find(streamId: StreamId): Stream | undefined;
  readonly size: number;
}

/** A stream is kept while it brings a value, so there are never more streams than values. */
export function createStreamBook(): StreamBook {
  const streams = new Map<StreamId, Stream>();

  function move(robot: RobotEntry, slot: Slot, streamId: StreamId): Stream {
    const left = slot.stream;
    if (left !== null) {
      left.slots.delete(slot);
      if (left.slots.size === 0) streams.delete(left.id);
    }
    let stream = streams.get(streamId);
    if (stream === undefined) {
      stream = { id: streamId, provenAtMs: 0, slots: new Map() };
      streams.set(streamId, stream);
    }
    stream.slots.set(slot, robot);
    slot.stream = stream;
    return stream;
  }

  return {
    confirm(robot, slot, streamId, nowMs) {
      const stream = slot.stream?.id === streamId ? slot.stream : move(robot, slot, streamId);
      stream.provenAtMs = nowMs;
      slot.confirmedAtMs = nowMs;
      slot.doubtedFromMs = null;
    },
    find: (streamId) => streams.get(streamId),
    get size() {
      return streams.size;
    },
  };
}
