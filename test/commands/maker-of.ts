import type { Stage } from "../../src/contracts/stage.ts";
import type { Pipeline } from "../../src/delivery/pipeline.ts";
import { commandId } from "../../src/domain/command.ts";
import type { FleetEvent } from "../../src/domain/event.ts";

type MissionEvent = Extract<FleetEvent, { kind: "mission" }>;

/** Collects which command each mission event was attributed to when it was delivered. */
export interface Makers {
  /** The stage to which the dispatcher delivers. */
  readonly stage: Stage;
  /** `<mission>=<command>` or `<mission>=null` of each mission event, in order. */
  readonly delivered: string[];
  /** The command that an event of this mission names now; null: none. */
  of(pipeline: Pick<Pipeline, "enter">, missionId: string): string | null;
}

export function createMakers(): Makers {
  const makers = new Map<string, string | null>();
  const delivered: string[] = [];
  return {
    stage: {
      name: "delivery",
      apply(batch) {
        for (const event of batch.events) {
          if (event.kind !== "mission") continue;
          const maker = event.command && commandId(event.command);
          makers.set(event.missionId, maker);
          delivered.push(`${event.missionId}=${maker}`);
        }
        return batch;
      },
    },
    delivered,
    of(pipeline, missionId) {
      makers.delete(missionId);
      const event = missionEvent(missionId, "no robot's", { from: "STATE_RUNNING", to: "STATE_SUCCEEDED" });
      pipeline.enter({ changes: [], events: [event] });
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
