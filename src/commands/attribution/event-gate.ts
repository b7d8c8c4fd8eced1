import type { Batch } from "../../contracts/link.ts";
import type { CommandIdentity } from "../../domain/command.ts";
import type { FleetEvent } from "../../domain/event.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";

export interface EventGateParts {
  readonly clock: Clock;
  /** Whether a mission that is new on this robot may still be attributed to a command under way. */
  readonly isExpected: (robotId: RobotId) => boolean;
  readonly commandOf: (missionId: string) => CommandIdentity | null;
  /** Takes the events that were held back, in order. */
  readonly pass: (events: readonly FleetEvent[]) => void;
}

/**
 * Attribution: names the command that made a mission in the events of the mission. Streams are faster than
 * answers, and show a mission before the service has said which command made it. Such an event waits until
 * that is known, and later events of its robot wait behind it, so that their order stays.
 */
export interface EventGate {
  /** The batch with its events attributed, without those that have to wait. State never waits. */
  admit(batch: Batch): Batch;
  /** Nothing is expected on this robot any more: passes on what waits for it. */
  release(robotId: RobotId): void;
}

/** A later event is worse than one that does not name its command. */
const LONGEST_HOLD_MS = 2_000;
const MOST_HELD = 256;

interface Held {
  readonly events: FleetEvent[];
  cancel: () => void;
}

export function createEventGate(parts: EventGateParts): EventGate {
  const held = new Map<RobotId, Held>();

  function release(robotId: RobotId): void {
    const waiting = held.get(robotId);
    if (waiting === undefined) return;
    held.delete(robotId);
    waiting.cancel();
    parts.pass(waiting.events.map(attributed));
  }

  function attributed(event: FleetEvent): FleetEvent {
    if (event.kind !== "mission" || event.command !== null) return event;
    const command = parts.commandOf(event.missionId);
    return command === null ? event : { ...event, command };
  }

  function mustWait(event: FleetEvent): boolean {
    if (held.has(event.robotId)) return true;
    if (event.kind !== "mission" || event.from !== null || event.command !== null) return false;
    return event.owner === "api" && parts.isExpected(event.robotId);
  }

  function hold(event: FleetEvent): void {
    const { robotId } = event;
    let waiting = held.get(robotId);
    if (waiting === undefined) {
      waiting = { events: [], cancel: parts.clock.after(LONGEST_HOLD_MS, () => release(robotId)) };
      held.set(robotId, waiting);
    }
    waiting.events.push(event);
    if (waiting.events.length !== MOST_HELD) return;
    // Not at once: what came before in the same batch is not passed on yet.
    waiting.cancel();
    waiting.cancel = parts.clock.after(0, () => release(robotId));
  }

  return {
    admit(batch) {
      if (batch.events.length === 0) return batch;
      const events: FleetEvent[] = [];
      for (const unattributed of batch.events) {
        const event = attributed(unattributed);
        if (mustWait(event)) hold(event);
        else events.push(event);
      }
      return { changes: batch.changes, events };
    },
    release,
  };
}
