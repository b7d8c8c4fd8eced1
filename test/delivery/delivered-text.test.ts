import { expect, it } from "vitest";
import { deliveredText } from "../../src/delivery/delivery-tap.ts";
import type { StateChange } from "../../src/domain/change.ts";
import { createChunks } from "../../src/platform/recorder/chunks.ts";
import { entriesIn } from "../../src/platform/recorder/recording.ts";
import { standingAlarm } from "../support/test-alarms.ts";

const battery = (stamp: object): StateChange => ({
  kind: "battery",
  robotId: "r1",
  observed: {
    quality: "stale",
    value: { percent: 40, isCharging: false },
    stamp: { sequence: 7, sourceTimeMs: 1_000, receivedAtMs: 1_250, ...stamp },
  } as unknown as Extract<StateChange, { kind: "battery" }>["observed"],
});
const lines = (...changes: StateChange[]) => deliveredText({ changes, events: [] }, 1_300).split("\n");

it("names the message of a value: quality, sequence number, its age when it came, how long ago that was", () => {
  expect(lines(battery({}), battery({ sequence: null, sourceTimeMs: null }))).toEqual([
    "battery/r1 stale 7 250 50",
    "battery/r1 stale - - 50",
    "",
  ]);
});

it("names each alarm of the list of all by its id and revision: what it says is at its source", () => {
  const one = standingAlarm("BATTERY_LOW", "r1");
  const two = { ...standingAlarm("ROBOT_LOST", "r2"), id: "ROBOT_LOST-2", revision: 7 };
  expect(lines({ kind: "alarms", alarms: [one, two] })).toEqual([
    "alarms BATTERY_LOW-1.1 ROBOT_LOST-2.7",
    "",
  ]);
  expect(lines({ kind: "alarms", alarms: [] })).toEqual(["alarms ", ""]);
});

it("counts from the time of the entry, however late the entry is copied", () => {
  let nowMs = 1_300;
  const chunks = createChunks({ nowMs: () => nowMs });
  const slice = { changes: [battery({})], events: [] };
  chunks.write("told", { name: "mqtt", id: 1, text: (atMs) => deliveredText(slice, atMs) });
  nowMs = 2_000;
  const [entry] = entriesIn(chunks.take()?.bytes ?? Buffer.alloc(0), 0);
  expect(entry).toMatchObject({ atMs: 1_300, second: Buffer.from("battery/r1 stale 7 250 50\n") });
});
