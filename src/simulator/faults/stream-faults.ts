import type { StreamMessage } from "../service/contract.ts";
import { createArmed } from "./armed.ts";
import type { StreamFault } from "./fault.ts";

type Deliver = (message: StreamMessage) => void;

/** Applies faults between the world and each subscriber. */
export interface StreamFaults {
  add(fault: StreamFault): void;
  /** The active faults, with the counts that are left. */
  list(): readonly StreamFault[];
  clear(): void;
  /** Switches off the matching ones. */
  remove(fits: (fault: StreamFault) => boolean): void;
  /** The function that delivers to one subscriber of `stream`, through the faults. */
  shape(stream: string, deliver: Deliver): Deliver;
}

/** Faults are applied in the order in which they were added, at most one to a message. */
export function createStreamFaults(): StreamFaults {
  const armed = createArmed<StreamFault>();

  const take = (stream: string, robotId: string) =>
    armed.take((fault) => (fault.stream ?? stream) === stream && (fault.robotId ?? robotId) === robotId)
      ?.effect;

  return {
    add: armed.add,
    list: armed.list,
    clear: armed.clear,
    remove: armed.remove,
    shape(stream, deliver) {
      // A message of a robot that waits until the next one has overtaken it.
      const overtaken = new Map<string, StreamMessage>();
      return (message) => {
        if (armed.list().length === 0 && overtaken.size === 0) {
          deliver(message);
          return;
        }
        const { robotId } = message;
        const late = overtaken.get(robotId);
        const effect = late === undefined ? take(stream, robotId) : undefined;
        if (effect === "drop") return;
        if (effect === "reorder") {
          overtaken.set(robotId, message);
          return;
        }
        deliver(message);
        if (effect === "repeat") deliver(message);
        if (late === undefined) return;
        overtaken.delete(robotId);
        deliver(late);
      };
    },
  };
}
