import { afterAll, beforeAll, expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createPatientClock, type PatientClock } from "../support/patient-clock.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { followRobot } from "./followed-robot.ts";

/**
 * The world stands still but for the steps of the tests: an answer that the service holds back never comes by
 * itself.
 */
let clock: ManualClock;
/** The gateway's: a pause of this process is nothing that an event has waited. */
let gatewayClock: PatientClock;
let harness: E2eHarness;

beforeAll(async () => {
  clock = createManualClock(Date.now());
  gatewayClock = createPatientClock();
  harness = await openE2eHarness({ clock, timeFactor: 1 }, {}, gatewayClock);
});
afterAll(async () => {
  await harness.close();
  gatewayClock.close();
});

/** Well under the 2 s for which an event waits, and well over what state and event are apart otherwise. */
const PLAINLY_LATER_MS = 500;

test("the event of a mission waits for the answer of its command, its state does not; in the end the command is known", async () => {
  const robot = await followRobot(harness, clock, "cart-03");
  const events = "robots/cart-03/event/mission";
  harness
    .simulator()
    .control.apply({ kind: "command", operation: "CreateMission", effect: "delay-taken", count: 1 });
  // Longer than the service waits for the robot: it must not have ended when the outcome is known.
  const goals = ["Station D", "Station A", "Station D"].map((destinationId) => ({ destinationId }));
  const request = { robotId: "cart-03", mission: { cartMission: { traverseMission: { goals } } } };
  const expires = new Date(Date.now() + 60_000).toISOString();
  await harness.mqtt.sendText("CreateMission", JSON.stringify({ id: "held", expires_at: expires, request }));

  await harness.mqtt.on("robots/cart-03/mission", (text) => text.includes('"STATE_RUNNING"'));
  const shownAtMs = gatewayClock.monotonicMs();
  const first = await harness.mqtt.on(events);
  expect(gatewayClock.monotonicMs() - shownAtMs).toBeGreaterThan(PLAINLY_LATER_MS);
  expect(JSON.parse(first.text)).toMatchObject({ from: null, to: "STATE_RUNNING", command_id: null });

  // The service gives up waiting for the robot; what the robot shows says that it took the command.
  clock.advance(10_000);
  expect(JSON.parse(await harness.mqtt.replyText("held"))).toMatchObject({ outcome: "probably_succeeded" });
  await robot.live(
    "the mission has ended",
    () => robot.values("Mission.StateText").at(-1) === "STATE_SUCCEEDED",
  );
  const last = await harness.mqtt.on(events, (text) => text.includes('"to":"STATE_SUCCEEDED"'));
  expect(JSON.parse(last.text)).toMatchObject({ command_id: "mqtt:e2e/held" });
});
