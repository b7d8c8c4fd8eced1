import { expect, it } from "vitest";
import {
  createSessions,
  IDLE_MS,
  LONGEST_MS,
  MOST_OF_USER,
  type SessionEnd,
} from "../../../../src/northbound/web/access/sessions.ts";
import type { WebUser } from "../../../../src/northbound/web/options.ts";
import type { Clock } from "../../../../src/platform/clock.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const anna: WebUser = { name: "anna", role: "operator", robots: null, password: "a" };
const ben: WebUser = { name: "ben", role: "observer", robots: ["cart-1"], password: "b" };

function harness() {
  const clock = createManualClock();
  const ends: string[] = [];
  const sessions = createSessions(clock, ({ name }: WebUser, why: SessionEnd) => ends.push(`${name} ${why}`));
  return { clock, ends, sessions };
}

it("finds a session by its secret alone, and each secret is another", () => {
  const { sessions } = harness();
  const [first, second] = [sessions.open(anna), sessions.open(ben)];
  expect(first.secret).toMatch(/^[\w-]{43}$/);
  expect(second.secret).not.toBe(first.secret);
  expect(sessions.find(first.secret)?.user).toBe(anna);
  expect(sessions.find(second.secret)?.user).toBe(ben);
  expect(sessions.find("x".repeat(43))).toBeNull();
  expect(sessions.find("")).toBeNull();
});

it("ends an idle session, and keeps one that is used", () => {
  const { sessions, clock, ends } = harness();
  const idle = sessions.open(anna);
  const used = sessions.open(ben);
  clock.advance(IDLE_MS - 1);
  expect(sessions.find(used.secret)).not.toBeNull();
  clock.advance(1);
  expect(ends).toEqual(["anna idle"]);
  expect(sessions.find(idle.secret)).toBeNull();
  expect(sessions.find(used.secret)).not.toBeNull();
});

it("is not idle while a request is under way, and ends all the same when its time is over", () => {
  const { sessions, clock, ends } = harness();
  const { secret, session } = sessions.open(anna);
  let closed = 0;
  session.began(() => {
    closed += 1;
  });
  clock.advance(LONGEST_MS - 1);
  expect(sessions.find(secret)).not.toBeNull();
  clock.advance(1);
  expect(ends).toEqual(["anna expired"]);
  expect(closed).toBe(1);
  expect(sessions.count()).toBe(0);
});

it("counts the idle time from the end of the last request", () => {
  const { sessions, clock, ends } = harness();
  const { session } = sessions.open(anna);
  const done = session.began(() => {});
  clock.advance(IDLE_MS * 2);
  done();
  clock.advance(IDLE_MS - 1);
  expect(ends).toEqual([]);
  clock.advance(1);
  expect(ends).toEqual(["anna idle"]);
});

it("evicts the session of the same user that was used least recently", () => {
  const { sessions, clock, ends } = harness();
  const other = sessions.open(ben);
  const own = Array.from({ length: MOST_OF_USER }, () => sessions.open(anna));
  clock.advance(1_000);
  sessions.find(own[0]?.secret ?? "");
  sessions.open(anna);
  expect(ends).toEqual(["anna evicted"]);
  expect(sessions.find(own[0]?.secret ?? "")).not.toBeNull();
  expect(sessions.find(own[1]?.secret ?? "")).toBeNull();
  expect(sessions.find(other.secret)).not.toBeNull();
});

it("keeps a bounded number of sessions after 10,000 log-ins, and no timer of those that ended", () => {
  const clock = createManualClock();
  let timers = 0;
  const counting: Clock = {
    ...clock,
    after(delayMs, task) {
      timers += 1;
      const cancel = clock.after(delayMs, task);
      return () => {
        timers -= 1;
        cancel();
      };
    },
  };
  const sessions = createSessions(counting, () => {});
  for (let count = 0; count < 10_000; count += 1) sessions.open(anna);
  expect(sessions.count()).toBe(MOST_OF_USER);
  expect(timers).toBe(MOST_OF_USER);
});

it("ends the sessions of a user that is gone at once, and closes their requests", () => {
  const { sessions, ends } = harness();
  const one = sessions.open(anna);
  const other = sessions.open(ben);
  let closed = 0;
  one.session.began(() => {
    closed += 1;
  });
  sessions.endOf((user) => user === anna, "user_changed");
  expect(closed).toBe(1);
  expect(ends).toEqual(["anna user_changed"]);
  expect(sessions.find(one.secret)).toBeNull();
  expect(sessions.find(other.secret)).not.toBeNull();
});
