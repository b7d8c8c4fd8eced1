import { setMaxListeners } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CallEnding } from "../../../src/contracts/fleet-port.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { createFamilyFinder, type FamilyFinder } from "../../../src/fleet/streams/family-finder.ts";
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

beforeEach(() => {
  clock = createManualClock();
  stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  asked = [];
  carts = [];
});
afterEach(() => stopping.abort());

function finder(answer: (robotId: string) => CallEnding): FamilyFinder {
  return createFamilyFinder({
    port: {
      async call(_, json) {
        const { robotId } = JSON.parse(json) as { robotId: string };
        asked.push(robotId);
        return answer(robotId);
      },
    },
    times: defaultFleetTimes,
    clock,
    chance: () => 0.999,
    signal: stopping.signal,
    onCart: (robotId) => void carts.push(robotId),
  });
}

const timesOf = (robotId: string) => asked.filter((each) => each === robotId).length;

test("robots that are refused are asked for as seldom as their streams, and hold up no others", async () => {
  let mayKnow = false;
  const families = finder((robotId) => {
    if (robotId.startsWith("foreign") && !mayKnow) return refused("PERMISSION_DENIED");
    return robotId.startsWith("serve") ? refused("INVALID_ARGUMENT") : ok;
  });
  for (let place = 0; place < 20; place += 1) families.ask(`foreign-${place}`);
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
