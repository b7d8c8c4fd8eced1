import { afterAll, beforeAll, expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { int32, text } from "./plc.ts";

/**
 * The world stands still but for the steps of the test: an answer that the service holds back never comes by
 * itself.
 */
let clock: ManualClock;
let harness: E2eHarness;

beforeAll(async () => {
  clock = createManualClock(Date.now());
  harness = await openE2eHarness({ clock, timeFactor: 1 }, { commands: { evidenceMs: 500, settleMs: 100 } });
});
afterAll(() => harness.close());

const ROBOT = "cart-02";
const slot = (name: string) => `Robots.${ROBOT}.MissionSlot.${name}`;
const toStation = (destinationId: string) => ({
  robotId: ROBOT,
  mission: { baseMission: { navigateMission: { goal: { destinationId } } } },
});

test("a cancel from a PLC's slot takes with it what another client's start was to do after the one in flight", async () => {
  const { simulator, mqtt, plc } = harness;
  await plc.shows(`Robots.${ROBOT}.ReadyForCommand`, true);
  simulator().control.apply({
    kind: "command",
    operation: "CreateMission",
    effect: "delay-not-taken",
    count: 1,
  });
  const first = mqtt.send("CreateMission", "in-flight", toStation("Station A"));
  const second = mqtt.send("CreateMission", "waiting", toStation("Station D"));
  // What comes after them from the same client is done: they are in the robot's queue.
  expect(await mqtt.send("ListWebhooks", "behind", {})).toMatchObject({ outcome: "succeeded" });

  const ticket = await plc.nextId(slot("NextId"));
  await plc.write(
    [slot("Operation"), int32(10)],
    [slot("TargetMissionId"), text("")],
    [slot("RequestId"), int32(ticket)],
  );
  const canceled = await second;
  expect(canceled).toMatchObject({ outcome: "refused", code: "CANCELED_BY_STOP" });
  expect(canceled.message).toMatch(/^the stop opcua:.+ overtook it before it was sent$/);
  await plc.shows(slot("DoneId"), ticket);
  // No mission was there to cancel: the service refuses what names none, and says so.
  expect([await plc.value(slot("Outcome")), await plc.value(slot("ErrorId"))]).toEqual([4, 3]);

  // The one in flight is the service's: it is told when that has waited for the robot in vain.
  clock.advance(10_000);
  expect(await first).toMatchObject({ outcome: "unknown", code: "DEADLINE_EXCEEDED" });
  const starts = harness
    .record(ROBOT)
    .filter(({ fact }) => fact.what === "received" && fact.operation === "CreateMission");
  expect(starts).toHaveLength(1);
});
