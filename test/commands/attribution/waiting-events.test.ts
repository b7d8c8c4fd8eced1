import { beforeEach, describe, expect, it } from "vitest";
import {
  type Attribution,
  createAttribution,
  createAttributionStage,
} from "../../../src/commands/attribution/attribution.ts";
import type { Batch } from "../../../src/contracts/link.ts";
import type { StateChange } from "../../../src/domain/change.ts";
import { type CommandIdentity, commandId } from "../../../src/domain/command.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { alarmEvent } from "../../support/test-alarms.ts";

let clock: ManualClock;
let attribution: Attribution;
let delivered: Batch[];
/** What was delivered, in order: `<event>` or `<event>=<command>`. */
let told: string[];

beforeEach(() => {
  clock = createManualClock();
  delivered = [];
  told = [];
  attribution = createAttribution({ clock, onForeign() {} });
  attribution.expect(making);
});

/** A command under way that makes a mission of the robot. */
const making = { id: "mqtt:plc/1", robotId: "r1" };

function deliver(batch: Batch): void {
  delivered.push(batch);
  for (const event of batch.events) {
    const maker = event.kind === "mission" ? event.command : undefined;
    const command = maker === undefined ? "" : `=${maker && commandId(maker)}`;
    told.push(`${event.eventId}${command}`);
  }
}

function apply(batch: Batch): void {
  deliver(attribution.apply(batch, deliver));
}

function offer(...events: FleetEvent[]): void {
  apply({ changes: [], events });
}

type MissionEvent = Extract<FleetEvent, { kind: "mission" }>;

function mission(eventId: string, robotId: string, more: Partial<MissionEvent> = {}): MissionEvent {
  return {
    kind: "mission",
    eventId,
    robotId,
    atMs: 0,
    missionId: `m-${robotId}`,
    from: null,
    to: "STATE_RUNNING",
    owner: "api",
    command: null,
    ...more,
  };
}

function byPlc(requestId: string): CommandIdentity {
  return { source: { protocol: "mqtt", name: "plc" }, requestId };
}

describe("a new mission on a robot whose command is under way", () => {
  it("is told when its command has named it, and what came after it after it", () => {
    offer(mission("1", "r1"), alarmEvent("2", "r1"), mission("3", "r2"));
    offer(mission("4", "r1", { from: "STATE_RUNNING", to: "STATE_SUCCEEDED" }));
    expect(told).toEqual(["3=null"]);
    attribution.claim("m-r1", byPlc("1"));
    attribution.settle(making);
    expect(told).toEqual(["3=null", "1=mqtt:plc/1", "2", "4=mqtt:plc/1"]);
    offer(alarmEvent("5", "r1"));
    clock.advance(10_000);
    expect(told.slice(4)).toEqual(["5"]);
  });

  it("is told without its command after 2 s", () => {
    offer(mission("1", "r1"));
    clock.advance(1_999);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual(["1=null"]);
    attribution.settle(making);
    expect(told).toHaveLength(1);
  });

  it("does not gather events without end, nor tell them out of order", () => {
    const many = Array.from({ length: 300 }, (_, index) => alarmEvent(String(index + 2), "r1"));
    offer(alarmEvent("0", "r1"), mission("1", "r1"), ...many);
    expect(told).toEqual(["0"]);
    clock.advance(0);
    expect(told).toEqual(["0", "1=null", ...many.map(({ eventId }) => eventId)]);
  });
});

it("shows a batch to all observers, in their order, before its events are attributed", () => {
  const seen: string[] = [];
  const robot: StateChange = { kind: "robot", robotId: "r1", family: "cart", quality: "good" };
  const observer = (name: string) => ({
    observed: (changes: readonly StateChange[]) =>
      void seen.push(`${name} ${changes.map(({ kind }) => kind)}`),
  });
  const finding = { observed: () => attribution.claim("m-r1", byPlc("1")) };
  const stage = createAttributionStage(attribution, [observer("a"), finding, observer("b")]);
  attribution.settle(making);
  deliver(stage.apply({ changes: [robot], events: [mission("1", "r1")] }, deliver));
  expect(seen).toEqual(["a robot", "b robot"]);
  expect(told).toEqual(["1=mqtt:plc/1"]);
});

describe("nothing waits", () => {
  it.each<[string, FleetEvent]>([
    ["of a robot without a command under way", mission("1", "r2")],
    ["of a mission that is not made by an api", mission("1", "r1", { owner: "panel" })],
    ["of a mission that was seen before", mission("1", "r1", { from: "STATE_DEFAULT" })],
    ["of a mission whose command is known", mission("1", "r1", { command: byPlc("0") })],
    ["that is no mission's", alarmEvent("1", "r1")],
  ])("%s", (_what, event) => {
    const batch = { changes: [], events: [event] };
    apply(batch);
    expect(delivered).toEqual([batch]);
  });

  it("of state, whatever its events do", () => {
    const change = { kind: "robot", robotId: "r1", family: "cart", quality: "good" } as const;
    apply({ changes: [change], events: [mission("1", "r1")] });
    expect(delivered).toEqual([{ changes: [change], events: [] }]);
  });
});
