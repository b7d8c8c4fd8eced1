import { beforeEach, describe, expect, it } from "vitest";
import type { PublishedBefore } from "../../src/contracts/fleet-view.ts";
import { codeText } from "../../src/domain/coded.ts";
import type { FleetEvent } from "../../src/domain/event.ts";
import type { BatteryStateName } from "../../src/domain/robot.ts";
import type { FleetUpdate } from "../../src/domain/update.ts";
import type { FleetState } from "../../src/state/fleet-state.ts";
import { conveyor, conveyorsEvent, mission, missionEvent, stamp } from "../delivery/fleet-updates.ts";
import { newFleetState } from "../support/fleet-state.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

let clock: ManualClock;
let state: FleetState;

beforeEach(() => {
  clock = createManualClock();
  state = newFleetState(clock, {
    times: { streamSilenceMs: 30_000, resyncMs: 60_000, holdMs: 60_000 },
  });
});

function short(event: FleetEvent): string {
  switch (event.kind) {
    case "mission":
      return `${event.missionId} ${event.from && codeText(event.from)} → ${codeText(event.to)}`;
    case "conveyor":
      return `conveyor ${event.to.index}`;
    case "battery":
      return `${codeText(event.from)} → ${codeText(event.to)} at ${event.chargePercent}`;
    case "alarm":
      return event.alarm.code;
    case "command":
      return event.command.requestId;
    case "lease":
      return event.station;
    case "hold":
      return event.to;
    case "dropped":
      return event.reason;
  }
}

const eventsOf = (event: FleetUpdate) => state.apply(event).events.map(short);

describe("mission events", () => {
  it("come for new missions and for transitions, and for nothing else", () => {
    expect(eventsOf(missionEvent("r1", ["m1:RUNNING", "m2:DEFAULT"]))).toEqual([
      "m1 null → STATE_RUNNING",
      "m2 null → STATE_DEFAULT",
    ]);
    expect(eventsOf(missionEvent("r1", ["m1:RUNNING", "m2:DEFAULT"]))).toEqual([]);
    expect(eventsOf(missionEvent("r1", ["m1:SUCCEEDED", "m2:RUNNING"]))).toEqual([
      "m1 STATE_RUNNING → STATE_SUCCEEDED",
      "m2 STATE_DEFAULT → STATE_RUNNING",
    ]);
  });

  it("follow a mission that moved in the queue, and say nothing of one that vanished", () => {
    state.apply(missionEvent("r1", ["m1:SUCCEEDED", "m2:RUNNING"]));
    expect(eventsOf(missionEvent("r1", ["m2:PAUSED"]))).toEqual(["m2 STATE_RUNNING → STATE_PAUSED"]);
  });

  it("name the owner and the time of receipt, and no command: that is for attribution", () => {
    const [event] = state.apply(missionEvent("r1", ["m1:RUNNING"], "missions", 1_234)).events;
    expect(event).toEqual({
      kind: "mission",
      eventId: expect.any(String),
      robotId: "r1",
      atMs: 1_234,
      missionId: "m1",
      from: null,
      to: "STATE_RUNNING",
      owner: "api",
      command: null,
    });
  });

  it("have ids that are never used twice", () => {
    const ids = new Set<string>();
    let count = 0;
    for (const robotId of ["r1", "r2"]) {
      for (const text of ["m1:RUNNING", "m1:PAUSED", "m1:RUNNING", "m1:FAILED"]) {
        for (const { eventId } of state.apply(missionEvent(robotId, [text])).events) {
          ids.add(eventId);
          count += 1;
        }
      }
    }
    expect(count).toBe(8);
    expect(ids.size).toBe(count);
  });

  it("compare states without a name by their number", () => {
    const unnamed = (raw: number): FleetUpdate => {
      const missions = [mission("m1", { kind: "unrecognised", raw })];
      return {
        kind: "mission",
        robotId: "r1",
        stream: "m",
        stamp: stamp(),
        queue: { missions, currentMissionIndex: 0 },
      };
    };
    state.apply(unnamed(9));
    expect(eventsOf(unnamed(9))).toEqual([]);
    expect(eventsOf(unnamed(10))).toEqual(["m1 9 → 10"]);
  });
});

describe("battery events", () => {
  const battery = (name: BatteryStateName, chargePercent: number): FleetUpdate => ({
    ...{ kind: "battery", robotId: "r1", stream: "b", stamp: stamp() },
    battery: { chargePercent, state: name, chargeMethod: "CHARGE_METHOD_NONE" },
  });

  it("come when the state is another one, and for no charge alone", () => {
    expect(eventsOf(battery("STATE_DISCHARGING", 20))).toEqual([]);
    expect(eventsOf(battery("STATE_DISCHARGING", 19))).toEqual([]);
    expect(eventsOf(battery("STATE_CHARGING", 19))).toEqual(["STATE_DISCHARGING → STATE_CHARGING at 19"]);
    expect(eventsOf(battery("STATE_CHARGING", 99))).toEqual([]);
    expect(eventsOf(battery("STATE_FULL", 100))).toEqual(["STATE_CHARGING → STATE_FULL at 100"]);
  });
});

describe("the id of a mission's event", () => {
  const idsOf = (...queues: readonly (readonly string[])[]) => {
    const own = newFleetState(clock, { sessionId: String(Math.random()) });
    return queues.flatMap((queue) =>
      own.apply(missionEvent("r1", queue)).events.map(({ eventId }) => eventId),
    );
  };

  it("is made of what happened, so it is the same in every run", () => {
    expect(idsOf(["m1:RUNNING", "m2:DEFAULT"])).toEqual(idsOf(["m1:RUNNING", "m2:DEFAULT"]));
    expect(new Set(idsOf(["m1:RUNNING"], ["m1:PAUSED"], ["m1:RUNNING"])).size).toBe(3);
  });

  it("names the run where the robot gave no time", () => {
    const update = missionEvent("r1", ["m1:RUNNING"]);
    const timeless = {
      ...update,
      stamp: { sourceTimeMs: null, sequence: null, receivedAtMs: 5 },
    } as FleetUpdate;
    expect(state.apply(timeless).events[0]?.eventId).toBe("s1-1");
  });
});

describe("what happened while the gateway was down", () => {
  const restarted = (update: FleetUpdate, robots: Partial<PublishedBefore>) => {
    const publishedBefore = { missions: () => null, conveyors: () => null, ...robots };
    const own = newFleetState(clock, { publishedBefore });
    return [own.apply(update), own.apply(update)].flatMap(({ events }) => events);
  };
  const missions = new Map([
    ["m1", "STATE_RUNNING"],
    ["m2", "STATE_RUNNING"],
    ["gone", "STATE_RUNNING"],
  ] as const);

  it("is one jump from the state that was told last, and nothing where that is the state still", () => {
    const events = restarted(missionEvent("r1", ["m1:SUCCEEDED", "m2:RUNNING", "m3:DEFAULT"]), {
      missions: () => missions,
    });
    expect(events.map(short)).toEqual(["m1 STATE_RUNNING → STATE_SUCCEEDED", "m3 null → STATE_DEFAULT"]);
    expect(events.every(({ jump }) => jump === true)).toBe(true);
  });

  it("is no jump on a robot of which nothing was told", () => {
    const events = restarted(missionEvent("r1", ["m1:SUCCEEDED"]), {});
    expect(events.map(({ jump }) => jump)).toEqual([undefined]);
  });

  it("is one jump of a conveyor too", () => {
    const loaded = conveyor(1, { payload: "PAYLOAD_STATE_LOADED" });
    const events = restarted(conveyorsEvent("r1", [conveyor(0), loaded]), {
      conveyors: () => [conveyor(0), conveyor(1)],
    });
    expect(events).toMatchObject([{ kind: "conveyor", from: conveyor(1), to: loaded, jump: true }]);
  });
});

describe("conveyor events", () => {
  it("come when a conveyor is new or changes", () => {
    expect(eventsOf(conveyorsEvent("r1", [conveyor(0), conveyor(1)]))).toEqual(["conveyor 0", "conveyor 1"]);
    expect(eventsOf(conveyorsEvent("r1", [conveyor(0), conveyor(1)]))).toEqual([]);
    const loaded = conveyor(1, { payload: "PAYLOAD_STATE_LOADED" });
    const { events } = state.apply(conveyorsEvent("r1", [conveyor(0), loaded]));
    expect(events).toMatchObject([{ kind: "conveyor", from: conveyor(1), to: loaded }]);
  });
});
