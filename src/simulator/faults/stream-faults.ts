import type { StreamMessage } from "../service/contract.ts";
import type { StreamFault } from "./fault.ts";

type Deliver = (message: StreamMessage) => void;

/** Stands between the world and each subscriber. */
export interface StreamFaults {
  add(fault: StreamFault): void;
  /** What is switched on, with the counts that are left. */
  list(): readonly StreamFault[];
  clear(): void;
  /** What one subscriber of `stream` is delivered through. */
  shape(stream: string, deliver: Deliver): Deliver;
}

/** Faults befall messages in the order they were added, one message at most one fault. */
export function createStreamFaults(): StreamFaults {
  let armed: StreamFault[] = [];

  function take(stream: string, robotId: string): StreamFault["effect"] | undefined {
    const found = armed.find(
      (fault) => (fault.stream ?? stream) === stream && (fault.robotId ?? robotId) === robotId,
    );
    if (found === undefined) return undefined;
    armed = armed
      .map((fault) => (fault === found ? { ...fault, count: fault.count - 1 } : fault))
      .filter((fault) => fault.count > 0);
    return found.effect;
  }

  return {
    add(fault) {
      armed.push(fault);
    },
    list: () => armed,
    clear() {
      armed = [];
    },
    shape(stream, deliver) {
      // A message of a robot that waits until its next one has overtaken it.
      const overtaken = new Map<string, StreamMessage>();
      return (message) => {
        if (armed.length === 0 && overtaken.size === 0) {
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
