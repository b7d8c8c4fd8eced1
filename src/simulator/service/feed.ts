import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import type { Robot } from "../world/robot.ts";
import type { StreamMessage } from "./contract.ts";

type Deliver = (message: StreamMessage) => void;

/** The latest message of one kind of each robot, and its subscribers. */
export interface Feed<M> {
  /**
   * Delivers the latest message of each robot before it returns, then every change. The returned function
   * ends it.
   */
  subscribe(robots: readonly Robot[], deliver: Deliver): () => void;
  /** The robot has changed. */
  changed(robot: Robot): void;
  /** Calls `listener` with each message of each robot. The returned function ends it. */
  listen(listener: (robotId: string, message: M) => void): () => void;
  /** The robot no longer reports: its last report stays the latest. */
  keep(robot: Robot): void;
}

/**
 * A feed whose messages `compose` makes from a robot's present state. A message is made only if there are
 * subscribers, and once for all of them.
 */
export function createFeed<D extends DescMessage>(
  schema: D,
  compose: (robot: Robot) => MessageShape<D>,
): Feed<MessageShape<D>> {
  const latest = new Map<Robot, StreamMessage & { readonly message: MessageShape<D> }>();
  const subscribers = new Map<Robot, Set<Deliver>>();
  const listeners = new Set<(robotId: string, message: MessageShape<D>) => void>();

  const latestOf = (robot: Robot) => {
    const known = latest.get(robot);
    if (known !== undefined) return known;
    const made = streamMessage(schema, robot.id, compose(robot));
    latest.set(robot, made);
    return made;
  };

  return {
    subscribe(robots, deliver) {
      // One function for each subscription, so that one caller can have the same robot twice.
      const own: Deliver = (message) => deliver(message);
      for (const robot of robots) {
        own(latestOf(robot));
        const set = subscribers.get(robot);
        if (set === undefined) subscribers.set(robot, new Set([own]));
        else set.add(own);
      }
      return () => {
        for (const robot of robots) {
          const set = subscribers.get(robot);
          set?.delete(own);
          if (set?.size === 0) subscribers.delete(robot);
        }
      };
    },
    changed(robot) {
      latest.delete(robot);
      const wanted = subscribers.get(robot);
      if (wanted === undefined && listeners.size === 0) return;
      const message = latestOf(robot);
      for (const listener of listeners) listener(robot.id, message.message);
      if (wanted !== undefined) for (const deliver of wanted) deliver(message);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    keep(robot) {
      latestOf(robot);
    },
  };
}

function streamMessage<D extends DescMessage>(schema: D, robotId: string, message: MessageShape<D>) {
  let encoded: Uint8Array | undefined;
  return {
    robotId,
    message,
    bytes() {
      encoded ??= toBinary(schema, message);
      return encoded;
    },
  };
}
