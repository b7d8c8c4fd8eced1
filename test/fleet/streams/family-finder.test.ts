import { setMaxListeners } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CallEnding } from "../../../src/contracts/fleet-port.ts";
import type { Mission, MissionQueue } from "../../../src/domain/mission.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import {
  createFamilyFinder,
  type FamilyFinder,
  familyOf,
} from "../../../src/fleet/streams/robot-families.ts";
import { mission } from "../../delivery/fleet-updates.ts";
import { openedJson } from "../../support/fleet-requests.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

const { refusedRetryMs, backoffCapMs } = defaultFleetTimes;
const ok: CallEnding = { kind: "ok", responseJson: "{}", missionId: null };
const refused = (code: "INVALID_ARGUMENT" | "PERMISSION_DENIED"): CallEnding => ({
  kind: "refused",
  code,
  message: "no",
});
const unsaid: CallEnding = { kind: "not_sent", message: "no connection" };

let clock: ManualClock;
let stopping: AbortController;
/** Robots as they were asked for. */
let asked: string[];
let carts: string[];
let others: string[];
let known: Set<string>;

beforeEach(() => {
  clock = createManualClock();
  stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  asked = [];
  carts = [];
  others = [];
  known = new Set();
});
afterEach(() => stopping.abort());

function finder(answer: (robotId: string) => CallEnding): FamilyFinder {
  const listener = {
    isKnown: (robotId: string) => known.has(robotId),
    found: (robotId: string, family: string) => void (family === "cart" ? carts : others).push(robotId),
  };
  return createFamilyFinder(listener, {
    port: {
      async call(request) {
        const { robotId } = JSON.parse(openedJson(request).requestJson) as { robotId: string };
        asked.push(robotId);
        return answer(robotId);
      },
    },
    times: defaultFleetTimes,
    clock,
    random: () => 0.999,
    signal: stopping.signal,
  });
}

const timesOf = (robotId: string) => asked.filter((each) => each === robotId).length;

test("robots that are refused are asked for as seldom as their streams, and hold up no others", async () => {
  let mayKnow = false;
  const families = finder((robotId) => {
    if (robotId.startsWith("foreign") && !mayKnow) return refused("PERMISSION_DENIED");
    return robotId.startsWith("serve") ? refused("INVALID_ARGUMENT") : ok;
  });
  for (let index = 0; index < 20; index += 1) families.ask(`foreign-${index}`);
  families.ask("cart-1");
  families.ask("serve-1");
  await clock.settle(backoffCapMs * 4);
  expect(carts).toEqual(["cart-1"]);
  expect(families.pending()).toBe(20);
  await clock.settle(refusedRetryMs * 10);
  expect(timesOf("foreign-0")).toBeGreaterThanOrEqual(8);
  expect(timesOf("foreign-0")).toBeLessThanOrEqual(11);
  expect(timesOf("serve-1")).toBe(1);
  mayKnow = true;
  await clock.settle(refusedRetryMs * 2);
  expect(carts).toHaveLength(21);
  expect(families.pending()).toBe(0);
});

test("while the service cannot be asked, it is asked again within the backoff cap", async () => {
  let isAway = true;
  const families = finder(() => (isAway ? unsaid : ok));
  families.ask("cart-1");
  await clock.settle(60_000);
  isAway = false;
  await clock.settle(backoffCapMs);
  expect(carts).toEqual(["cart-1"]);
});

test("a robot whose family was found out otherwise is not asked about", async () => {
  const families = finder(() => unsaid);
  families.ask("r1");
  await clock.settle(0);
  known.add("r1").add("r2");
  families.ask("r2");
  const before = timesOf("r1");
  await clock.settle(10 * backoffCapMs);
  expect([timesOf("r1"), timesOf("r2"), families.pending(), carts]).toEqual([before, 0, 0, []]);
});

test("robots that were no carts once are asked about again one a second, and only once", async () => {
  let isAway = true;
  const families = finder((robotId) => {
    if (isAway) return unsaid;
    return robotId === "cart-1" ? ok : refused("INVALID_ARGUMENT");
  });
  for (const robotId of ["serve-1", "cart-1", "serve-2"]) families.askAgain(robotId);
  expect([asked, families.pending()]).toEqual([[], 0]);
  await clock.settle(1_000);
  expect(asked).toEqual(["serve-1"]);
  isAway = false;
  await clock.settle(60_000);
  expect(asked).toEqual(["serve-1", "cart-1", "serve-2", "serve-1"]);
  expect([carts, others]).toEqual([["cart-1"], ["serve-2", "serve-1"]]);
  families.askAgain("serve-3");
  await clock.settle(1_000);
  expect(others).toContain("serve-3");
});

const typed = (...types: ReadonlyArray<Mission["type"]>): MissionQueue => ({
  missions: types.map((type) => ({ ...mission("m", "STATE_RUNNING"), type })),
  currentMissionIndex: 0,
});
const cart = { family: "cart", type: "CART_TYPE_TRAVERSE" } as const;
const serve = { family: "serve", type: "SERVE_TYPE_NAVIGATE" } as const;
const base = { family: "base", type: "BASE_TYPE_NAVIGATE" } as const;

test.each([
  ["nothing", typed(), "unknown"],
  ["a charge mission", typed(null, { family: "none" }), "unknown"],
  ["a base mission, which every family takes", typed(base), "unknown"],
  ["a cart mission among base missions", typed(base, cart, base), "cart"],
  ["serve missions", typed(serve, serve, null), "serve"],
  ["missions that contradict", typed(cart, serve), "unknown"],
  ["a type that is none", typed({ family: "serve", type: "SERVE_TYPE_UNKNOWN" }), "unknown"],
  ["a type that nobody knows", typed({ family: "cart", type: { kind: "unrecognised", raw: 99 } }), "unknown"],
] as const)("of %s the family is told that is certain", (_, queue, family) => {
  expect(familyOf(queue)).toBe(family);
});
