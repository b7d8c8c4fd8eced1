import type { StreamId } from "../domain/update.ts";
import type { CachedValue, RobotEntry, Stream } from "./robot-entry.ts";

/** The registry of all streams that bring a value. Monotonic milliseconds. */
export interface StreamRegistry {
  /** A message of `streamId` brought or confirmed this value: that proves both the stream and the value. */
  confirm(robot: RobotEntry, cached: CachedValue, streamId: StreamId, nowMs: number): void;
  /** The stream, if it brings any value. */
  find(streamId: StreamId): Stream | undefined;
  readonly size: number;
}

/** A stream is kept while it brings a value, so there are never more streams than values. */
export function createStreamRegistry(): StreamRegistry {
  const streams = new Map<StreamId, Stream>();

  function move(robot: RobotEntry, cached: CachedValue, streamId: StreamId): Stream {
    const left = cached.stream;
    if (left !== null) {
      left.values.delete(cached);
      if (left.values.size === 0) streams.delete(left.id);
    }
    let stream = streams.get(streamId);
    if (stream === undefined) {
      stream = { id: streamId, provenAtMs: 0, values: new Map() };
      streams.set(streamId, stream);
    }
    stream.values.set(cached, robot);
    cached.stream = stream;
    return stream;
  }

  return {
    confirm(robot, cached, streamId, nowMs) {
      const stream = cached.stream?.id === streamId ? cached.stream : move(robot, cached, streamId);
      stream.provenAtMs = nowMs;
      cached.confirmedAtMs = nowMs;
      cached.doubtedFromMs = null;
    },
    find: (streamId) => streams.get(streamId),
    get size() {
      return streams.size;
    },
  };
}
