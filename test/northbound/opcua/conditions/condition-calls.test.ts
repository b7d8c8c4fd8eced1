import { DataType, type MethodIds, resolveNodeId, Variant, VariantArrayType } from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KeptAlarms } from "../../../../src/state/alarm-registry.ts";
import { createFakeDisk, type FakeDisk } from "../memory-store.ts";
import type { Caller } from "../opcua-harness.ts";
import {
  type ConditionsHarness,
  call,
  commentOf,
  eventIdOf,
  type Listener,
  listen,
  nothingKept,
  robot,
  type Shown,
  startConditions,
} from "./conditions-harness.ts";

const acknowledge = "AcknowledgeableConditionType_Acknowledge";
const addComment = "ConditionType_AddComment";
const lostId = "ns=2;s=Robots.r1.Alarms.ROBOT_LOST";
let harness: ConditionsHarness;
let ann: Caller;
let all: Listener;
beforeEach(async () => {
  harness = await startConditions();
  ann = await harness.client("ann");
  all = await listen(ann);
});
afterEach(() => harness[Symbol.asyncDispose]());

async function restart(kept: KeptAlarms, disk: FakeDisk): Promise<void> {
  harness = await startConditions(kept, { disk });
  ann = await harness.client("ann");
  all = await listen(ann);
}

async function raise(code: "ROBOT_LOST" | "OUTCOME_UNKNOWN" = "ROBOT_LOST", text = "found"): Promise<Shown> {
  harness.set(robot("r1"), code, true, text);
  return all.until((event) => event.ConditionName === code && event.Message === text);
}

describe("Acknowledge", () => {
  it("acknowledges the alarm in the name of the session's user, with its comment", async () => {
    const { ConditionId, ...event } = await raise();
    expect(await call(ann, ConditionId, acknowledge, eventIdOf(event), commentOf("seen"))).toBe("Good");
    const by = { protocol: "opcua", name: "ann" };
    expect(harness.registry.all()).toMatchObject([{ acknowledged: { by }, comment: { text: "seen", by } }]);
    harness.publish();
    expect(await all.until((each) => each["AckedState.Id"] === true)).toMatchObject({
      ...{ ConditionId, ClientUserId: "opcua:ann", Comment: "seen", Retain: true, "ActiveState.Id": true },
    });
  });

  it("a second time is BadConditionBranchAlreadyAcked, also when the alarm is over", async () => {
    const lost = await raise();
    const unknown = await raise("OUTCOME_UNKNOWN");
    for (const event of [lost, unknown]) {
      const again = () => call(ann, event.ConditionId, acknowledge, eventIdOf(event), commentOf(null));
      expect(await again()).toBe("Good");
      expect(await again()).toBe("BadConditionBranchAlreadyAcked");
      harness.publish();
      expect(await again()).toBe("BadConditionBranchAlreadyAcked");
    }
  });

  it("of an EventId that the condition never had, or has no more, is BadEventIdUnknown", async () => {
    const before = await raise();
    const news = await raise("ROBOT_LOST", "news");
    const unknown = await raise("OUTCOME_UNKNOWN");
    const wrong = ["", "x", "ROBOT_LOST-0.1.1", `${news.EventId}9`, "\0\xff", "A.1.1+".repeat(50)];
    for (const EventId of [before.EventId, unknown.EventId, ...wrong]) {
      expect(await call(ann, lostId, acknowledge, eventIdOf({ EventId }), commentOf(null))).toBe(
        "BadEventIdUnknown",
      );
    }
    const none = { dataType: DataType.ByteString, value: null };
    expect(await call(ann, lostId, acknowledge, none, commentOf(null))).toBe("BadEventIdUnknown");
    expect(harness.registry.all().every(({ acknowledged }) => acknowledged === null)).toBe(true);
  });

  it("without the right is BadUserAccessDenied, and audited", async () => {
    const event = await raise();
    const tv = await harness.client("tv");
    expect(await call(tv, lostId, acknowledge, eventIdOf(event), commentOf("x"))).toBe("BadUserAccessDenied");
    expect(await call(tv, lostId, addComment, eventIdOf(event), commentOf("x"))).toBe("BadUserAccessDenied");
    expect(harness.registry.all()).toMatchObject([{ acknowledged: null, comment: null }]);
    expect(harness.refused).toMatchObject([
      [{ operation: "AcknowledgeAlarm", source: { name: "tv" }, robotId: "r1" }, { code: "NOT_ALLOWED" }],
      [{ operation: "CommentAlarm", source: { name: "tv" }, robotId: "r1" }, { code: "NOT_ALLOWED" }],
    ]);
  });

  it("without the right is BadUserAccessDenied, whatever else is wrong", async () => {
    const event = eventIdOf(await raise());
    const wrong = eventIdOf({ EventId: "ROBOT_LOST-0.1.1" });
    const tv = await harness.client("tv");
    const answers = async (...values: Parameters<typeof call>[3][]) => [
      await call(tv, lostId, addComment, ...values),
      await call(tv, lostId, acknowledge, ...values),
    ];
    const denied = ["BadUserAccessDenied", "BadUserAccessDenied"];
    expect(await answers(event, commentOf(""))).toEqual(denied);
    expect(await answers(wrong, commentOf("x"))).toEqual(denied);
    expect(await answers(event)).toEqual(denied);
    expect(await call(ann, lostId, acknowledge, event, commentOf(null))).toBe("Good");
    expect(await answers(event, commentOf(""))).toEqual(denied);
    expect(harness.refused).toHaveLength(8);
  });

  it("with wrong arguments changes nothing", async () => {
    const event = eventIdOf(await raise());
    const list = new Variant({
      ...{ dataType: DataType.ByteString, arrayType: VariantArrayType.Array },
      value: [Buffer.from("x")],
    });
    const number = { dataType: DataType.Int32, value: 1 };
    const plain = { dataType: DataType.String, value: "seen" };
    expect(await call(ann, lostId, acknowledge)).toBe("BadArgumentsMissing");
    expect(await call(ann, lostId, acknowledge, event)).toBe("BadArgumentsMissing");
    expect(await call(ann, lostId, acknowledge, event, commentOf("x"), number)).toBe("BadTooManyArguments");
    expect(await call(ann, lostId, acknowledge, list, commentOf("x"))).toBe("BadInvalidArgument");
    expect(await call(ann, lostId, acknowledge, event, plain)).toBe("BadInvalidArgument");
    for (const text of ["x".repeat(257), "x".repeat(1_000_000), "a\nb", "\x1b[2J"])
      expect(await call(ann, lostId, acknowledge, event, commentOf(text))).toBe("BadInvalidArgument");
    expect(harness.registry.all()).toMatchObject([{ acknowledged: null, comment: null }]);
  });

  it("a second time after a restart is BadConditionBranchAlreadyAcked, also when the alarm is over", async () => {
    await harness[Symbol.asyncDispose]();
    const disk = createFakeDisk();
    await restart(nothingKept, disk);
    const events = [await raise(), await raise("OUTCOME_UNKNOWN")];
    const acknowledgeAll = async () => {
      const statuses = [];
      for (const event of events)
        statuses.push(await call(ann, event.ConditionId, acknowledge, eventIdOf(event), commentOf(null)));
      return statuses;
    };
    expect(await acknowledgeAll()).toEqual(["Good", "Good"]);
    harness.set(robot("r1"), "ROBOT_LOST", false);
    const kept = harness.registry.kept();
    for (const alarms of [kept, kept]) {
      await harness[Symbol.asyncDispose]();
      await restart(alarms, disk);
      const again = "BadConditionBranchAlreadyAcked";
      expect(await acknowledgeAll()).toEqual([again, again]);
    }
  });

  it("is Uncertain while the disk does not have it", async () => {
    await harness[Symbol.asyncDispose]();
    harness = await startConditions(nothingKept, { storeProblem: async () => "the disk is full" });
    ann = await harness.client("ann");
    all = await listen(ann);
    const event = await raise();
    expect(await call(ann, lostId, acknowledge, eventIdOf(event), commentOf("seen"))).toBe("Uncertain");
    expect(harness.registry.all()).toMatchObject([{ comment: { text: "seen" } }]);
  });

  it("knows an EventId of the run before", async () => {
    const event = await raise();
    const kept = harness.registry.kept();
    await harness[Symbol.asyncDispose]();
    await restart(kept, createFakeDisk());
    expect(await all.refresh()).toEqual([event]);
    expect(await call(ann, lostId, acknowledge, eventIdOf(event), commentOf(null))).toBe("Good");
    expect(harness.registry.all()).toMatchObject([{ acknowledged: { by: { name: "ann" } } }]);
  });
});

it("AddComment changes the comment alone; an empty one changes nothing", async () => {
  const event = await raise();
  expect(await call(ann, lostId, addComment, eventIdOf(event), commentOf("in the workshop"))).toBe("Good");
  harness.publish();
  const commented = await all.until(({ Comment }) => Comment === "in the workshop");
  expect(commented).toMatchObject({ "AckedState.Id": false, ClientUserId: "opcua:ann" });
  expect(await call(ann, lostId, addComment, eventIdOf(commented), commentOf(""))).toBe("Good");
  expect(harness.registry.all()).toMatchObject([{ comment: { text: "in the workshop" } }]);
});

it("offers neither Confirm nor shelving, and stays enabled", async () => {
  const event = eventIdOf(await raise());
  const methods = [
    ...["AcknowledgeableConditionType_Confirm", "AlarmConditionType_Suppress"],
    ...["ConditionType_Enable", "ConditionType_Disable"],
  ] as ReadonlyArray<keyof typeof MethodIds>;
  const statuses = [];
  for (const method of methods) statuses.push(await call(ann, lostId, method, event, commentOf("x")));
  expect(statuses).toEqual([
    ...["BadMethodInvalid", "BadMethodInvalid"],
    ...["BadConditionAlreadyEnabled", "BadNotExecutable"],
  ]);
});

it("does not know a condition that cannot be", async () => {
  const event = eventIdOf(await raise());
  for (const path of ["Robots.r9.Alarms.ROBOT_LOST", "Robots.r1.Alarms.BATTERY_LOW", "Robots.r1.Alarms.NONE"])
    expect(await call(ann, `ns=2;s=${path}`, acknowledge, event, commentOf(null))).toBe("BadNodeIdUnknown");
  expect(await call(ann, "ns=2;s=Robots.r1.Alarms.BATTERY", acknowledge, event, commentOf(null))).toBe(
    "BadEventIdUnknown",
  );
  const onType = resolveNodeId("ConditionType").toString();
  expect(await call(ann, onType, addComment, event, commentOf("x"))).toBe("BadNodeIdInvalid");
});
