import { expect, it } from "vitest";
import { createLogIn } from "../../../../src/northbound/web/access/log-in.ts";
import type { WebUser } from "../../../../src/northbound/web/options.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const anna: WebUser = { name: "anna", role: "operator", robots: null, password: "right" };
const attempt = { name: "anna", password: "right", address: "10.0.0.1", isThere: () => true };

function harness(users: WebUser[]) {
  const failures: string[] = [];
  const clock = createManualClock();
  const audit = {
    failed: (name: string, address: string) => void failures.push(`${name} ${address}`),
    began: () => {},
    ended: () => {},
  };
  return { clock, failures, logIn: createLogIn(() => users, audit, clock) };
}

it.each<[string, readonly WebUser[]]>([
  ["takes the user", []],
  ["changes its password", [{ ...anna, password: "another" }]],
])("a reload that %s while the password is compared refuses the log-in", async (_what, next) => {
  const users = [anna];
  const { logIn, failures } = harness(users);
  const answer = logIn(attempt);
  users.splice(0, 1, ...next);
  expect(await answer).toMatchObject({ kind: "wrong" });
  expect(failures).toEqual(["anna 10.0.0.1"]);
});

it("holds an attempt whose delay is short, and delays neither others nor other addresses", async () => {
  const { logIn, clock } = harness([anna]);
  expect(await logIn({ ...attempt, password: "wrong" })).toEqual({ kind: "wrong", delayMs: 500 });
  let isHeld = true;
  const held = logIn(attempt).then((result) => {
    isHeld = false;
    return result;
  });
  expect(await logIn({ ...attempt, address: "10.0.0.2" })).toMatchObject({ kind: "right" });
  expect(isHeld).toBe(true);
  // A second one meanwhile is not looked at.
  expect(await logIn(attempt)).toMatchObject({ kind: "later" });
  clock.advance(500);
  expect(await held).toMatchObject({ kind: "right", user: anna });
});

it("grows the delay to half a minute, and refuses at once what would have to wait long", async () => {
  const { logIn, clock } = harness([anna]);
  let delayMs = 0;
  for (let failure = 0; failure < 8; failure += 1) {
    clock.advance(delayMs);
    const result = await logIn({ ...attempt, password: "wrong" });
    if (result.kind === "wrong") delayMs = result.delayMs;
  }
  expect(delayMs).toBe(30_000);
  expect(await logIn(attempt)).toEqual({ kind: "later", delayMs: 30_000 });
});
