import { afterAll, beforeAll, expect, it } from "vitest";
import { whyText } from "../../../src/console/fleet/words.ts";
import { german } from "../../../src/console/texts/de.ts";
import { english } from "../../../src/console/texts/en.ts";
import { speak } from "../../../src/console/texts/texts.ts";
import type { Robot } from "../../../src/northbound/web/api/robot.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";

beforeAll(() => speak(german, []));
afterAll(() => speak(english, []));

const { idle } = standingRobot("cart-01");
const paused = (mission: Robot["mission"]) =>
  standingRobot("cart-01", { mission, idle: { ...idle, reason: "PAUSED" } });

it.each<[string, Robot["mission"], string]>([
  ["a paused mission", oneMission({ state: "STATE_PAUSED" }), "seine Mission ist pausiert"],
  ["a paused robot", null, "der Roboter ist pausiert"],
  [
    "a mission of which nothing is known",
    oneMission({ state: "STATE_PAUSED" }, "stale"),
    "der Roboter ist pausiert",
  ],
])("in German, too, it names what is paused: %s", (_, mission, text) => {
  expect(whyText(paused(mission))).toBe(text);
});
