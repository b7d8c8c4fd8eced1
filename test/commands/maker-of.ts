import type { Dispatcher } from "../../src/commands/dispatcher.ts";
import type { Batch } from "../../src/contracts/link.ts";
import { commandId } from "../../src/domain/command.ts";
import type { FleetEvent } from "../../src/domain/event.ts";

type MissionEvent = Extract<FleetEvent, { kind: "mission" }>;

/** Collects which command each mission event was attributed to when it was delivered. */
export interface Makers {
  /** For the dispatcher to deliver to. */
  deliver(batch: Batch): void;
  /** `<mission>=<command>` or `<mission>=null` of each mission event, in order. */
  readonly delivered: string[];
  /** The command that an event of this mission names now; null: none. */
  of(dispatcher: Pick<Dispatcher, "observe">, missionId: string): string | null;
}

export function createMakers(): Makers {
  const makers = new Map<string, string | null>();
  const delivered: string[] = [];
  return {
    deliver({ events }) {
      for (const event of events) {
        if (event.kind !== "mission") continue;
        const maker = event.command && commandId(event.command);
        makers.set(event.missionId, maker);
        delivered.push(`${event.missionId}=${maker}`);
      }
    },
    delivered,
    of(dispatcher, missionId) {
      makers.delete(missionId);
      const event = missionEvent(missionId, "no robot's", { from: "STATE_RUNNING", to: "STATE_SUCCEEDED" });
      dispatcher.observe({ changes: [], events: [event] });
      const maker = makers.get(missionId);
      if (maker === undefined) throw new Error(`the event of mission ${missionId} was not delivered`);
      return maker;
    },
  };
}

/** The event of a mission that is new on this robot, as the fleet state makes it. */
export function missionEvent(
  missionId: string,
  robotId: string,
  more: Partial<MissionEvent> = {},
): MissionEvent {
  return {
    kind: "mission",
    eventId: `e-${missionId}`,
    robotId,
    atMs: 0,
    missionId,
    from: null,
    to: "STATE_RUNNING",
    owner: "api",
    command: null,
    ...more,
  };
}
