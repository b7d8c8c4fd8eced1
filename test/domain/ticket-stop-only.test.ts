import { expect, test } from "vitest";
import { stopOnlyTickets, writeStopOnly } from "../../src/domain/ticket.ts";
import {
  FIRST_WITHOUT_DISK,
  rotateTicket,
  stopOnlyNumber,
  TICKET_LIFE_MS,
  verdictOf,
} from "../../src/domain/ticket-numbers.ts";

const plc = { user: "plc", userNo: 7, text: "cancel" } as const;
/** The ends of what a random source gives, and its middle. */
const randoms = [0, 0.5, 1 - 2 ** -52] as const;

test("numbers of two members never meet, fit a DINT, and start nothing", () => {
  const numbers = [0, 1, 2].map((member) =>
    randoms.flatMap((random) => {
      const first = stopOnlyTickets("run", member, 0, random);
      return [first.open, rotateTicket(first, TICKET_LIFE_MS, random).open];
    }),
  );
  for (const [member, own] of numbers.entries()) {
    for (const number of own) {
      expect((number - FIRST_WITHOUT_DISK) % 3).toBe(member);
      expect(number).toBeLessThan(2 ** 31);
      expect(number).toBeGreaterThanOrEqual(FIRST_WITHOUT_DISK);
    }
  }
  expect(stopOnlyNumber(1, 2 ** 40 + 5)).toBeLessThan(2 ** 31);
});

test("a number of the leader is refused, and nothing is said of it", () => {
  const state = stopOnlyTickets("run", 0, 0, 0.5);
  for (const number of [4711, -4711, 1, -1, stopOnlyNumber(1, 3), -stopOnlyNumber(1, 3)]) {
    for (const isStop of [true, false]) {
      expect(writeStopOnly(state, { number, isStop, ...plc }, 0, 0.5)).toEqual({ state, action: "refused" });
    }
    expect(verdictOf(state, "plc", Math.abs(number))).toBe("none");
  }
});

test("a number that was replaced can start nothing any more", () => {
  const first = stopOnlyTickets("run", 0, 0, 0.25);
  const next = rotateTicket(first, TICKET_LIFE_MS, 0.5);
  const write = { number: first.open, isStop: true, ...plc };
  expect(writeStopOnly(next, write, 0, 0.5)).toEqual({ state: next, action: "refused" });
  expect(verdictOf(next, "plc", first.open)).toBe("never_sent");
});
