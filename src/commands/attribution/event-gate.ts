import type { Batch } from "../../contracts/link.ts";
import type { FleetNotice } from "../../domain/change.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";

/** What the gate asks, and where it hands on. */
export interface EventGateParts {
  readonly clock: Clock;
  /** Whether a mission that is new on this robot may yet turn out to be our command's. */
  readonly expectsMission: (robotId: RobotId) => boolean;
  readonly commandOf: (missionId: string) => string | null;
  /** Takes the notices that were held back, in order. */
  readonly pass: (notices: readonly FleetNotice[]) => void;
}

/**
 * Streams are faster than answers: they show a mission before the service has said which command made it. Such an
 * event is held back until that is known, and with it, for the order, whatever else happens to its robot.
 */
export interface EventGate {
  /** The batch without the events that have to wait. State never waits. */
  admit(batch: Batch): Batch;
  /** Nothing is expected on this robot any more: hands on what waits for it. */
  release(robotId: RobotId): void;
}

/** An event that comes late is worse than one that does not name its command. */
const LONGEST_HOLD_MS = 2_000;
const MOST_HELD = 256;

interface Held {
  readonly notices: FleetNotice[];
  cancel: () => void;
}

export function createEventGate(parts: EventGateParts): EventGate {
  const held = new Map<RobotId, Held>();

  function release(robotId: RobotId): void {
    const waiting = held.get(robotId);
    if (waiting === undefined) return;
    held.delete(robotId);
    waiting.cancel();
    parts.pass(waiting.notices.map(attributed));
  }

  function attributed(notice: FleetNotice): FleetNotice {
    if (notice.kind !== "mission" || notice.commandId !== null) return notice;
    return { ...notice, commandId: parts.commandOf(notice.missionId) };
  }

  function mustWait(notice: FleetNotice): boolean {
    if (held.has(notice.robotId)) return true;
    if (notice.kind !== "mission" || notice.from !== null || notice.commandId !== null) return false;
    return notice.owner === "api" && parts.expectsMission(notice.robotId);
  }

  function hold(notice: FleetNotice): void {
    const { robotId } = notice;
    let waiting = held.get(robotId);
    if (waiting === undefined) {
      waiting = { notices: [], cancel: parts.clock.after(LONGEST_HOLD_MS, () => release(robotId)) };
      held.set(robotId, waiting);
    }
    waiting.notices.push(notice);
    if (waiting.notices.length !== MOST_HELD) return;
    // Not at once: what came before in the same batch is not handed on yet.
    waiting.cancel();
    waiting.cancel = parts.clock.after(0, () => release(robotId));
  }

  return {
    admit(batch) {
      if (!batch.notices.some(mustWait)) return batch;
      const notices: FleetNotice[] = [];
      for (const notice of batch.notices) {
        if (mustWait(notice)) hold(notice);
        else notices.push(notice);
      }
      return { changes: batch.changes, notices };
    },
    release,
  };
}
