import { expect, it } from "vitest";
import { createLogIn } from "../../../../src/northbound/web/access/session-routes.ts";
import type { WebUser } from "../../../../src/northbound/web/options.ts";
import { hashPassword } from "../../../../src/platform/password.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const anna: WebUser = { name: "anna", role: "operator", robots: null, password: "right" };
const ben: WebUser = { ...anna, name: "ben", password: await hashPassword("right") };
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
  clock.advance(500);
  expect(await held).toMatchObject({ kind: "right", user: anna });
});

it("delays each attempt by four seconds at most: a right one gets its look beside wrong ones", async () => {
  const { logIn, clock } = harness([anna]);
  for (let failure = 0; failure < 8; failure += 1) {
    const wrong = logIn({ ...attempt, password: "wrong" });
    clock.advance(4_000);
    await wrong;
  }
  const crowd = Array.from({ length: 31 }, () => logIn({ ...attempt, password: "wrong" }));
  const right = logIn(attempt);
  // Of one user at one address 32 may wait.
  expect(await logIn(attempt)).toEqual({ kind: "later", delayMs: 4_000 });
  clock.advance(4_000);
  expect(await right).toMatchObject({ kind: "right" });
  for (const result of crowd) expect(await result).toMatchObject({ kind: "wrong", delayMs: 4_000 });
});

it("three addresses with changing names keep nobody out who comes from a fourth", async () => {
  const { logIn } = harness([anna, ben]);
  const crowd = Array.from({ length: 300 }, (_, number) =>
    logIn({ ...attempt, name: `invented-${number}`, address: `10.0.0.${(number % 3) + 1}` }),
  );
  const answered: string[] = [];
  for (const result of crowd) void result.then(({ kind }) => answered.push(kind));
  expect(await logIn({ ...attempt, name: "ben", address: "10.0.0.4" })).toMatchObject({ kind: "right" });
  // It did not have to wait until the others were through.
  expect(answered.filter((kind) => kind === "wrong").length).toBeLessThan(10);
  await Promise.all(crowd);
  expect(answered.filter((kind) => kind === "later").length).toBeGreaterThan(200);
});
