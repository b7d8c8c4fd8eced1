import { afterAll, beforeAll, expect, test } from "vitest";
import { type E2eHarness, openIdleHarness } from "./e2e-harness.ts";
import type { Shown } from "./plc.ts";

/** Times at which a loss shows within a test, and long enough for a loaded machine to see each step. */
const quality = { streamSilenceMs: 1_500, resyncMs: 1_500, holdMs: 2_000 };
let harness: E2eHarness;

beforeAll(async () => {
  harness = await openIdleHarness(3, {}, { quality });
});
afterAll(() => harness.close());

type Step = "good" | "stale" | "offline" | "lost";

/** What both protocols must show at each step of a robot's quality. */
const steps = {
  good: { number: 0, status: "Good", reads: "a value" },
  stale: { number: 1, status: "UncertainLastUsableValue", reads: "a value" },
  offline: { number: 2, status: "UncertainNoCommunicationLastUsableValue", reads: "a value" },
  lost: { number: 3, status: "BadNoCommunication", reads: "nothing" },
} as const;

interface Witness {
  /** Waits until both protocols have shown the step, after the step that was awaited before. */
  shows(step: Step): Promise<void>;
}

/** Watches a robot's quality from now on; at first it must be good. */
async function watch(robotId: string): Promise<Witness> {
  const tag = (name: string) => `Robots.${robotId}.${name}`;
  await harness.plc.shows(tag("Quality"), 0);
  await harness.plc.shows(
    tag("Battery.ChargePercent"),
    await harness.plc.value(tag("Battery.ChargePercent")),
  );
  const tags = ["Quality", "Valid", "ReadyForCommand", "Battery.ChargePercent", "Mission.State"].map(tag);
  const shown = await harness.plc.follow(...tags);
  let seenTags = shown.entries.length;
  let seenTopics = harness.mqtt.received.entries.length;

  const tagShows = (name: string, is: (one: Shown) => boolean) =>
    shown.first(`${robotId} ${name}`, (one) => one.tag === tag(name) && is(one), seenTags);
  return {
    async shows(step) {
      const { number, status, reads } = steps[step];
      const isGood = step === "good";
      const carries = (one: Shown) => one.status === status && (one.value === null) === (reads === "nothing");
      await tagShows("Quality", (one) => one.value === number && one.status === "Good");
      await tagShows("Battery.ChargePercent", carries);
      await tagShows("Mission.State", carries);
      for (const topic of ["battery", "mission"]) {
        const { text } = await harness.mqtt.on(
          `robots/${robotId}/${topic}`,
          (message) => message.includes(`"quality":"${step}"`),
          seenTopics,
        );
        expect(text.endsWith('"state":null}')).toBe(reads === "nothing");
      }
      await harness.mqtt.on(`robots/${robotId}/availability`, (message) => message === step, seenTopics);
      await harness.plc.shows(tag("Valid"), isGood);
      await harness.plc.shows(tag("ReadyForCommand"), isGood);
      seenTags = shown.entries.length;
      seenTopics = harness.mqtt.received.entries.length;
    },
  };
}

test("a robot whose messages are lost: good, stale, lost, and good again", async () => {
  const robot = await watch("cart-01");
  const { control } = harness.simulator();
  control.apply({ kind: "stream", effect: "drop", robotId: "cart-01", count: 1_000_000 });
  await robot.shows("stale");
  await robot.shows("lost");
  // The others' messages come over the same stream.
  await harness.plc.shows("Robots.cart-02.Quality", 0);
  control.clearFaults();
  await robot.shows("good");
});

test("a robot that leaves: good, offline, lost, and good again; what moves it is refused meanwhile", async () => {
  const robot = await watch("cart-02");
  const { control } = harness.simulator();
  control.happen({ kind: "offline", robotId: "cart-02" });
  await robot.shows("offline");
  await harness.plc.shows("Robots.cart-02.Present", false);
  const goal = { destinationId: "Station A" };
  const request = { robotId: "cart-02", mission: { baseMission: { navigateMission: { goal } } } };
  const reply = await harness.mqtt.send("CreateMission", "to-an-absent-robot", request);
  expect(reply).toMatchObject({ outcome: "refused", code: "ROBOT_NOT_GOOD", retry_safe: true });
  await robot.shows("lost");
  control.happen({ kind: "online", robotId: "cart-02" });
  await robot.shows("good");
  await harness.plc.shows("Robots.cart-02.Present", true);
  expect(harness.record("cart-02").filter(({ fact }) => fact.what === "received")).toEqual([]);
});

test("a service that hangs: good, offline, lost, and good again", async () => {
  const robot = await watch("serve-01");
  const { control } = harness.simulator();
  control.apply({ kind: "silence" });
  await robot.shows("offline");
  await robot.shows("lost");
  await harness.plc.shows("Gateway.FleetLinkUp", false);
  control.clearFaults();
  await robot.shows("good");
  await harness.plc.shows("Gateway.FleetLinkUp", true);
});

test("a service that stops and starts again: good, offline, lost, and good again", async () => {
  const robot = await watch("base-01");
  await harness.stopService();
  await robot.shows("offline");
  await robot.shows("lost");
  await harness.startService();
  await robot.shows("good");
});
