import { describe, expect, test } from "vitest";
import {
  newTickets,
  restartTickets,
  ticketAccepted,
  ticketDone,
  ticketVoid,
  writeTicket,
} from "../../src/domain/ticket.ts";
import {
  BLOCK_SIZE,
  blockReserved,
  blockToReserve,
  CLOSED_SHOWN,
  diskIs,
  FIRST_WITHOUT_DISK,
  firstNumber,
  isUsedUp,
  rotateTicket,
  TAKEN_KEPT,
  TICKET_LIFE_MS,
  type TicketState,
} from "../../src/domain/ticket-numbers.ts";

const FIRST = 1_000;
const LAST = FIRST + BLOCK_SIZE - 1;
const plc = { user: "plc", userNo: 7, text: "mission to dock" } as const;

/** A slot that shows its first number. */
function opened(): TicketState {
  return blockReserved(newTickets("run", FIRST, 0), LAST, 0, 0);
}

function write(state: TicketState, number: number, isStop = false) {
  return writeTicket(state, { number, isStop, ...plc }, 0, 0.5);
}

function written(state: TicketState, ...numbers: readonly number[]): TicketState {
  return numbers.reduce((before, number) => write(before, number).state, state);
}

/** The open number is taken, and its command ends. */
function used(state: TicketState): TicketState {
  return ticketDone(write(state, state.open).state, state.open);
}

function usedTimes(state: TicketState, times: number): TicketState {
  return times === 0 ? state : usedTimes(used(state), times - 1);
}

function rotated(state: TicketState, times: number): TicketState {
  return times === 0
    ? state
    : rotated(rotateTicket(state, state.openSinceMs + TICKET_LIFE_MS, 0.5), times - 1);
}

describe("a start (+n)", () => {
  test("takes the open number: the command is being journaled, and the next number is shown", () => {
    const { state, action } = write(opened(), FIRST);
    expect(action).toBe("take");
    expect(state).toMatchObject({ open: FIRST + 1, taken: [FIRST], accepted: null, doneId: 0, closed: [] });
    expect(state.current).toEqual({ id: FIRST, requestId: `run.${FIRST}`, phase: "taking", ...plc });
  });

  test("of the open number is void with SLOT_IN_USE while a command runs, and a stop is taken", () => {
    const running = ticketAccepted(write(opened(), FIRST).state, FIRST);
    expect(write(running, FIRST + 1)).toMatchObject({
      action: "closed",
      state: {
        open: FIRST + 2,
        closed: [FIRST + 1],
        rejected: { id: FIRST + 1, error: "SLOT_IN_USE" },
        taken: [FIRST],
      },
    });
    expect(write(running, FIRST + 1, true).action).toBe("take");
  });

  test("beside a command of another user is void with USER_WITHOUT_NUMBER, if neither has a number", () => {
    const ask = (state: TicketState, number: number, user: string, userNo: number, isStop = false) =>
      writeTicket(state, { number, isStop, user, userNo, text: "" }, 0, 0.5);
    const running = ask(opened(), FIRST, "ann", 0).state;
    const rejected = (id: number, error: string) => ({ state: { rejected: { id, error } } });
    const next = FIRST + 1;
    expect(ask(running, next, "ben", 0)).toMatchObject(rejected(next, "USER_WITHOUT_NUMBER"));
    expect(ask(running, next, "ann", 0)).toMatchObject(rejected(next, "SLOT_IN_USE"));
    expect(ask(running, next, "line1", 7)).toMatchObject(rejected(next, "SLOT_IN_USE"));
    expect(ask(running, next, "ben", 0, true).action).toBe("take");
    // Closed would tell the command's own user that nothing was sent.
    const told = ask(running, FIRST, "ben", 0);
    expect(told).toMatchObject({ ...rejected(FIRST, "USER_WITHOUT_NUMBER"), action: "nothing" });
    expect(told.state.closed).toEqual([]);
    expect(ask(told.state, FIRST, "ben", 0).state).toBe(told.state);
  });

  test("of a taken number does nothing, however far its command is", () => {
    const taking = write(opened(), FIRST).state;
    const running = ticketAccepted(taking, FIRST);
    const done = ticketDone(running, FIRST);
    for (const state of [taking, running, done, used(done)]) {
      expect(write(state, FIRST)).toEqual({ state, action: "nothing" });
      expect(write(state, FIRST, true)).toEqual({ state, action: "nothing" });
    }
  });

  test.each([
    ["void", written(opened(), -FIRST, -(FIRST + 1)), FIRST, []],
    ["over because another one is shown", rotated(opened(), 1), FIRST, []],
  ])("of a number that is %s is closed with OUT_OF_TURN", (_what, state, number) => {
    const next = write({ ...state, closed: [] }, number);
    expect(next).toMatchObject({ action: "closed", state: { closed: [number], open: state.open } });
    expect(next.state.rejected).toEqual({ id: number, error: "OUT_OF_TURN" });
  });

  test.each([
    ["below the first number of the store", FIRST - 1],
    ["not shown yet", FIRST + 1],
    ["of a life without a disk", FIRST_WITHOUT_DISK + 5],
  ])("of a number %s says to look at the robot", (_what, number) => {
    const next = write(opened(), number);
    expect(next).toMatchObject({ action: "closed", state: { closed: [-number], open: FIRST } });
    expect(next.state.rejected).toEqual({ id: number, error: "UNKNOWN_NUMBER" });
  });
});

test("a number that was written before its time stays what its writer was told", () => {
  const early = write(opened(), FIRST + 1).state;
  const passed = rotated(early, 1);
  expect(passed).toMatchObject({ open: FIRST + 2, closed: [-(FIRST + 1)] });
  expect(written(passed, FIRST + 1, -(FIRST + 1)).closed).toEqual([-(FIRST + 1)]);
});

describe("closing (-n)", () => {
  test("ends the open number for good, and shows the next one", () => {
    const state = written(opened(), -FIRST);
    expect(state).toMatchObject({
      open: FIRST + 1,
      closed: [FIRST],
      taken: [],
      rejected: { id: FIRST, error: "OK" },
    });
    expect(write(state, FIRST).action).toBe("closed");
    expect(write(state, FIRST).state.current).toBeNull();
  });

  test("puts a number that is over into Closed", () => {
    const state = written(rotated(opened(), 2), -FIRST);
    expect(state).toMatchObject({ open: FIRST + 2, closed: [FIRST] });
  });

  test("says nothing of a taken number that is being journaled, or that AcceptedId or DoneId shows", () => {
    const taking = write(opened(), FIRST).state;
    const running = ticketAccepted(taking, FIRST);
    const done = ticketDone(running, FIRST);
    const behind = ticketAccepted(write(done, done.open).state, done.open);
    expect(behind).toMatchObject({ doneId: FIRST, accepted: { id: FIRST + 1 } });
    for (const state of [taking, running, done, behind]) {
      expect(write(state, -FIRST)).toEqual({ state, action: "nothing" });
    }
  });

  test("says to look at the robot for a taken number that is shown no more", () => {
    const later = usedTimes(opened(), 2);
    expect(write(later, -FIRST)).toMatchObject({ action: "closed", state: { closed: [-FIRST] } });
  });

  test("says so too for the number that a stop has displaced while it was being journaled", () => {
    const displaced = write(write(opened(), FIRST).state, FIRST + 1, true).state;
    expect(displaced.closed).toEqual([-FIRST]);
    const pushedOut = { ...displaced, closed: [] };
    expect(written(pushedOut, -FIRST).closed).toEqual([-FIRST]);
  });

  test.each([
    ["below the first number of the store", FIRST - 1],
    ["not shown yet", FIRST + 7],
    ["of a life without a disk", FIRST_WITHOUT_DISK + 5],
  ])("says to look at the robot for a number %s", (_what, number) => {
    const state = written(opened(), -number);
    expect(state).toMatchObject({ closed: [-number], open: FIRST });
    expect(state.rejected).toEqual({ id: number, error: "UNKNOWN_NUMBER" });
  });
});

test("0 changes nothing", () => {
  const state = opened();
  expect(write(state, 0)).toEqual({ state, action: "nothing" });
});

describe("Closed", () => {
  test("has the last eight, newest first; a repetition moves none", () => {
    const state = rotated(opened(), 10);
    const closing = Array.from({ length: CLOSED_SHOWN + 1 }, (_each, index) => -(FIRST + index));
    const full = written(state, ...closing);
    const shown = closing.map((number) => -number).reverse();
    expect(full.closed).toEqual(shown.slice(0, CLOSED_SHOWN));
    expect(written(full, -(FIRST + 3), FIRST + 4)).toBe(full);
  });

  test("has a number again that eight others have pushed out, when it is written again", () => {
    const state = rotated(opened(), 10);
    const closing = Array.from({ length: CLOSED_SHOWN + 1 }, (_each, index) => -(FIRST + index));
    const full = written(state, ...closing);
    expect(full.closed).not.toContain(FIRST);
    expect(written(full, -FIRST).closed[0]).toBe(FIRST);
    expect(written(full, FIRST).closed[0]).toBe(FIRST);
  });

  test("has a number that was void first, whatever is written later", () => {
    const state = written(opened(), -FIRST);
    expect(write(state, FIRST).state.rejected).toEqual({ id: FIRST, error: "OK" });
  });
});

describe("numbers", () => {
  test("change after 30 s, and not before; also when the clock was set back", () => {
    const state = opened();
    expect(rotateTicket(state, TICKET_LIFE_MS - 1, 0)).toBe(state);
    expect(rotateTicket(state, TICKET_LIFE_MS, 0).open).toBe(FIRST + 1);
    expect(rotateTicket(state, -1, 0).open).toBe(FIRST + 1);
  });

  test("pass over one that stands in Closed as not shown: it must not look closed when it is new", () => {
    const state = rotated(written(opened(), -(FIRST + 1), FIRST + 2), 1);
    expect(state.open).toBe(FIRST + 3);
    expect(write(state, FIRST + 1).state.current).toBeNull();
  });

  test("come in blocks, reserved before they are shown", () => {
    const fresh = newTickets("run", FIRST, 0);
    expect(fresh.open).toBe(0);
    expect(blockToReserve(fresh)).toBe(LAST);
    expect(blockReserved(fresh, LAST, 0, 0).open).toBe(FIRST);
  });

  test("are reserved ahead when fewer than 64 are left, and none is shown beyond the block", () => {
    const most = rotated(opened(), BLOCK_SIZE - 1 - 64);
    expect(blockToReserve(most)).toBeNull();
    expect(blockToReserve(rotated(most, 1))).toBe(LAST + BLOCK_SIZE);
    const last = rotated(opened(), BLOCK_SIZE - 1);
    expect(last.open).toBe(LAST);
    expect(rotated(last, 3)).toMatchObject({ open: 0, issuedTo: LAST });
    expect(blockReserved(rotated(last, 3), LAST + BLOCK_SIZE, 0, 0).open).toBe(LAST + 1);
  });

  test("are used up when no block below 2^30 is left", () => {
    const end = FIRST_WITHOUT_DISK - 10;
    const state: TicketState = { ...opened(), reservedTo: end, issuedTo: end };
    expect(blockToReserve(state)).toBeNull();
    expect(isUsedUp(state)).toBe(true);
    expect(isUsedUp({ ...state, issuedTo: end - 1 })).toBe(false);
    expect(isUsedUp(opened())).toBe(false);
  });

  test("of a slot that no store knows begin at random below 2^29", () => {
    expect(firstNumber(0)).toBe(1);
    expect(firstNumber(1 - 2 ** -53)).toBeLessThan(2 ** 29);
  });
});

describe("the last taken numbers", () => {
  test("are 64: an older one says to look at the robot, and one that was closed before it too", () => {
    const closedFirst = written(opened(), -FIRST);
    const state = usedTimes(closedFirst, TAKEN_KEPT + 1);
    expect(state.taken).toHaveLength(TAKEN_KEPT);
    expect(state.takenBefore).toBe(FIRST + 1);
    expect(written(state, -(FIRST + 1)).closed[0]).toBe(-(FIRST + 1));
    expect(written({ ...state, closed: [] }, -FIRST).closed).toEqual([-FIRST]);
    expect(written(state, FIRST + 1).current?.id).toBe(state.current?.id);
    expect(write(state, FIRST + 2)).toEqual({ state, action: "nothing" });
  });
});

describe("while the disk fails", () => {
  const failing = diskIs("failing", opened(), 0, 0.25);

  test("numbers are random from 2^30 on, and start stops only", () => {
    expect(failing.open).toBe(FIRST_WITHOUT_DISK + Math.floor((FIRST_WITHOUT_DISK - 1) / 4));
    expect(write(failing, failing.open)).toMatchObject({
      action: "closed",
      state: { current: null, closed: [failing.open], rejected: { error: "JOURNAL_FAILED" } },
    });
    expect(write(failing, failing.open, true).action).toBe("take");
  });

  test("the number that was open is over, and the random one when the disk is well again", () => {
    expect(write(failing, FIRST).action).toBe("closed");
    const well = diskIs("well", failing, 0, 0);
    expect(well.open).toBe(FIRST + 1);
    expect(written(well, failing.open)).toMatchObject({ closed: [failing.open], current: null });
  });

  test("no random number comes that was taken, is over, or stands in Closed as not shown", () => {
    const again = rotateTicket(failing, TICKET_LIFE_MS, 0.25);
    expect(again.open).toBe(failing.open + 1);
    const afterUse = writeTicket(failing, { number: failing.open, isStop: true, ...plc }, 0, 0.25).state;
    expect(afterUse.open).toBe(failing.open + 1);
    const foreseen = written(opened(), -failing.open);
    expect(diskIs("failing", foreseen, 0, 0.25).open).toBe(failing.open + 1);
  });

  test("no random number comes that stands in Closed since an earlier life", () => {
    const closed = written(failing, -failing.open);
    expect(closed.closed).toEqual([failing.open]);
    const restarted = restartTickets(closed, "next", 0);
    const shown = diskIs("failing", restarted, 0, 0.25).open;
    expect(restarted.closed).not.toContain(shown);
  });

  test("a random number of another life says to look at the robot", () => {
    const restarted = restartTickets(failing, "next", 0);
    expect(written(restarted, -failing.open).closed).toEqual([-failing.open]);
  });
});

test("a restart goes on behind the last block, and knows what was taken", () => {
  const kept = { ...ticketAccepted(write(opened(), FIRST).state, FIRST), reservedTo: LAST };
  const restarted = restartTickets(kept, "next", 0);
  expect(restarted).toMatchObject({ run: "next", open: 0, issuedTo: LAST, taken: [FIRST] });
  expect(restarted.current?.requestId).toBe(`run.${FIRST}`);
  const open = blockReserved(restarted, LAST + BLOCK_SIZE, 0, 0);
  expect(open.open).toBe(LAST + 1);
  expect(write(open, LAST).state.closed).toEqual([LAST]);
});

describe("a stop", () => {
  const running = ticketAccepted(write(opened(), FIRST).state, FIRST);
  const stopped = write(running, FIRST + 1, true).state;

  test("owns the slot from then on: of the displaced command the robot tells", () => {
    expect(stopped).toMatchObject({ closed: [-FIRST], accepted: { id: FIRST }, current: { id: FIRST + 1 } });
    expect(ticketAccepted(stopped, FIRST)).toBe(stopped);
    expect(ticketDone(stopped, FIRST)).toBe(stopped);
    expect(ticketDone(stopped, FIRST + 1)).toMatchObject({ accepted: { id: FIRST + 1 }, doneId: FIRST + 1 });
  });

  test("that turns out unrecorded gives the slot back to the command that ran", () => {
    const back = ticketVoid(stopped, FIRST + 1, "SHUTTING_DOWN");
    expect(back).toMatchObject({ closed: [FIRST + 1, -FIRST], taken: [FIRST], current: running.current });
    expect(ticketDone(back, FIRST)).toMatchObject({ accepted: { id: FIRST }, doneId: FIRST });
  });

  test("gives it back also over another stop that displaced it first, and never to one that was not accepted", () => {
    const second = write(stopped, FIRST + 2, true).state;
    expect(second.closed).toEqual([-(FIRST + 1), -FIRST]);
    expect(ticketVoid(second, FIRST + 2, "SHUTTING_DOWN").current).toEqual(running.current);
    const overUnaccepted = write(write(opened(), FIRST).state, FIRST + 1, true).state;
    expect(ticketVoid(overUnaccepted, FIRST + 1, "SHUTTING_DOWN").current).toBeNull();
  });
});

test("a start that the disk did not take is void, and the slot is free", () => {
  const state = ticketVoid(write(opened(), FIRST).state, FIRST, "JOURNAL_FAILED");
  expect(state).toMatchObject({
    current: null,
    taken: [],
    closed: [FIRST],
    rejected: { id: FIRST, error: "JOURNAL_FAILED" },
  });
  expect(write(state, FIRST).action).toBe("closed");
});
