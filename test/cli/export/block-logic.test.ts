import { describe, expect, it } from "vitest";
import { FG_COMMAND } from "../../../src/cli/export/block-files.ts";
import { parseStructuredText } from "../../support/structured-text/parser.ts";
import { createPlc } from "../../support/structured-text/plc.ts";

const block = parseStructuredText(FG_COMMAND);
const START = [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const STOP = [0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const OUTPUTS = ["Busy", "Done", "Error", "CommandAborted", "NotSent", "LookFirst"] as const;
const OF_STOP = ["StopBusy", "StopDone", "StopError"] as const;

type Retained = ReturnType<ReturnType<typeof createPlc>["retained"]>;
interface Cycle {
  readonly execute?: boolean;
  readonly stop?: boolean;
  readonly connected?: boolean;
  readonly ms?: number;
}

/** A controller with the block; the gateway's answers are the test's. */
function createProgram(retained?: Retained) {
  let nowMs = 0;
  const plc = createPlc(block, {
    nowMs: () => nowMs,
    run: "FG_Command",
    ...(retained === undefined ? {} : { retained }),
  });
  const answer = new Array(20).fill(0);
  plc.set("Wanted", START);
  plc.set("StopWith", STOP);
  plc.set("Ready", true);
  function cycle({ execute = false, stop = false, connected = true, ms = 100 }: Cycle = {}): void {
    nowMs += ms;
    plc.set("Answer", [...answer]);
    plc.set("Connected", connected);
    plc.set("Execute", execute);
    plc.set("Stop", stop);
    plc.cycle();
  }
  return {
    cycle,
    /** The gateway shows a number to use next, and what became of the user's last. */
    answers(next: number, number: number, verdict: number, outcome = 0): void {
      answer[7] = next;
      [answer[9], answer[10], answer[11]] = [number, verdict, outcome];
    },
    /** What the block writes: the number and the operation. */
    written: () => (plc.get("Command") as readonly number[]).slice(0, 2),
    shown: () => [...OUTPUTS, ...OF_STOP].filter((name) => plc.get(name) === true),
    number: (name: string) => Number(plc.get(name)),
    retained: () => plc.retained(),
  };
}

/** It has closed the number that it found, 11, and sees 12. */
function freeProgram() {
  const program = createProgram();
  program.answers(11, 0, 0);
  program.cycle();
  program.cycle();
  expect(program.written()).toEqual([-11, 0]);
  program.answers(12, 11, 4);
  program.cycle();
  program.cycle();
  expect(program.written()).toEqual([0, 0]);
  return program;
}

describe("a stop that did not arrive", () => {
  it("is not sent again after a long time without connection, when nobody asks for it any more", () => {
    const program = freeProgram();
    program.cycle({ stop: true });
    expect(program.written()).toEqual([12, 10]);
    for (let count = 0; count < 20; count += 1) program.cycle({ connected: false, ms: 30_000 });
    program.cycle();
    expect(program.written()).toEqual([-12, 0]);
    program.answers(13, 12, 4);
    program.cycle();
    expect(program.shown()).toEqual(["StopError"]);
    expect(program.number("StopErrorID")).toBe(-5);
    program.cycle();
    expect([program.written(), program.shown()]).toEqual([[0, 0], []]);
  });

  it("is not sent again after a loss of power, when nobody asks for it any more", () => {
    const before = freeProgram();
    before.cycle({ stop: true });
    const program = createProgram(before.retained());
    program.answers(13, 12, 4);
    for (let count = 0; count < 5; count += 1) program.cycle();
    expect(program.written()).toEqual([0, 0]);
  });

  it("is sent again at once while it is asked for", () => {
    const program = freeProgram();
    program.cycle({ stop: true });
    program.answers(13, 12, 4);
    // In the first call the block sees that its write has ended.
    program.cycle({ stop: true });
    program.cycle({ stop: true });
    expect([program.written(), program.shown()]).toEqual([[13, 10], ["StopBusy"]]);
  });

  it("is sent again a second after another stop displaced it", () => {
    const program = freeProgram();
    program.cycle({ stop: true });
    program.answers(13, 12, 5);
    for (let ms = 0; ms < 900; ms += 100) program.cycle({ stop: true });
    expect([program.written(), program.shown()]).toEqual([[0, 0], ["StopBusy"]]);
    for (let ms = 0; ms < 300; ms += 100) program.cycle({ stop: true });
    expect(program.written()).toEqual([13, 10]);
  });
});

describe("an edge while Busy", () => {
  it("is not told as done by the answer to the command before", () => {
    const program = freeProgram();
    program.cycle({ execute: true });
    program.cycle();
    expect(program.shown()).toEqual(["Busy"]);
    program.answers(13, 12, 3, 3);
    program.cycle({ execute: true });
    expect([program.shown(), program.number("ErrorID")]).toEqual([["Error", "NotSent"], -3]);
    program.cycle({ execute: true });
    expect(program.shown()).toEqual(["Error", "NotSent"]);
    program.cycle();
    expect(program.shown()).toEqual([]);
    program.cycle({ execute: true });
    expect(program.written()).toEqual([13, 1]);
  });

  it("that is over before the answer changes nothing", () => {
    const program = freeProgram();
    program.cycle({ execute: true });
    program.cycle();
    program.cycle({ execute: true });
    program.cycle();
    program.answers(13, 12, 3, 3);
    program.cycle();
    expect(program.shown()).toEqual(["Done"]);
  });

  it("at power-up belongs to the command that was under way", () => {
    const before = freeProgram();
    before.cycle({ execute: true });
    const program = createProgram(before.retained());
    program.answers(13, 12, 3, 3);
    program.cycle({ execute: true });
    expect(program.shown()).toEqual(["Done"]);
  });
});
