import { expect, it } from "vitest";
import type { JournalRecord } from "../../src/commands/journal/journal.ts";
import { holdIn, packRecord, recordCodec, unpackRecord } from "../../src/commands/journal/stored-record.ts";
import { ending } from "../../src/domain/outcome.ts";
import { plc } from "./commands-harness.ts";

const accepted: JournalRecord = {
  id: "opcua:plc/r1",
  digest: "d",
  command: {
    source: plc,
    requestId: "r1",
    operation: "Go",
    effect: "moves",
    robotId: "AMR01",
    requestJson: '{"robot":"AMR01","to":"A"}',
    startByMs: 10,
  },
  queue: "robot/AMR01",
  robotId: "AMR01",
  acceptedAtMs: 1,
  sentAtMs: null,
  finalAtMs: null,
  sentJson: '{"robot":"AMR01","to":"A"}',
  baseline: null,
  outcome: null,
};
const sent: JournalRecord = { ...accepted, sentAtMs: 0, baseline: { missionIds: [], missionState: null } };
const records: ReadonlyArray<[string, JournalRecord]> = [
  ["was accepted", accepted],
  ["was sent", sent],
  ["was sent with its identity filled in", { ...sent, sentJson: '{"sequence":"opcua:plc/r1"}' }],
  ["names its robot by number", { ...sent, command: { ...accepted.command, robotId: null } }],
  ["ended before its robot was known", { ...accepted, robotId: null }],
  [
    "has its outcome",
    { ...sent, finalAtMs: 2, sentJson: "", baseline: null, outcome: ending("succeeded", "OK", "", false) },
  ],
  ["made several missions", { ...sent, missionIds: ["m1", "m2"] }],
];

it.each(records)("a record of a command that %s is read as it was written", (_, record) => {
  const stored: unknown = JSON.parse(JSON.stringify(packRecord(record, 7)));
  const read = recordCodec.decode(stored);
  expect(read && unpackRecord(record.id, read)).toEqual(record);
});

it("a request is stored once, and the identity in the key alone", () => {
  const text = JSON.stringify(packRecord(sent, 7));
  expect(text.split(JSON.stringify(accepted.command.requestJson))).toHaveLength(2);
  expect(text).not.toContain(accepted.id);
});

it.each([
  [{ another: "version" }, true],
  [undefined, false],
])(
  "a hold is lifted when its record is removed, and by no record of a newer version: %j",
  (value, isHeld) => {
    const key = JSON.stringify(["AMR01", plc.protocol, plc.name]);
    expect(holdIn({ table: "holds", key, value })).toMatchObject({
      isHeld,
      hold: { robotId: "AMR01", owner: plc },
    });
  },
);
