import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FG_COMMAND } from "../../src/cli/export/block-files.ts";
import { ControlConveyorRequestSchema } from "../../src/wire/fleet/v1/service_pb.js";
import { parseStructuredText } from "../support/structured-text/parser.ts";
import { createPlc } from "../support/structured-text/plc.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";

/**
 * The exported block against a gateway, called in each way in which a program may call it. A command is known
 * by the conveyor and the direction, so that the record of the service says which of them were sent.
 */
const ROBOT = "cart-01";
const CYCLE_MS = 100;
const READ_CYCLES = 4;
/** The gateway's time is real, however fast the cycles pass. */
const ANSWER_WITHIN_MS = 50_000;
/** So long a start stays under way of which the answer is lost, at least. */
const EVIDENCE_MS = 2_000;
/** So long the service waits for a robot: less than the 10 s for which the next command may wait behind. */
const CONFIRM_WAIT_MS = 5_000;
const block = parseStructuredText(FG_COMMAND);
/** Conveyor and direction. */
const CW = [1, 2] as const;
const CCW = [1, 3] as const;
/** The cart has no such conveyor. */
const REFUSED = [7, 2] as const;
const STOP = [1, 1] as const;

let harness: E2eHarness;
beforeAll(async () => {
  harness = await openE2eHarness(
    { confirmWaitMs: CONFIRM_WAIT_MS },
    { commands: { evidenceMs: EVIDENCE_MS } },
  );
  await harness.plc.shows(`Robots.${ROBOT}.Conveyors.1.Rolling`, false);
});
afterAll(() => harness.close());

/** When the block is called, and with which read. */
const callings = [
  "in every cycle",
  "in every fourth cycle",
  "only when a read is done",
  "with the read of the cycle before",
  "in every cycle with the last read",
] as const;
type Calling = (typeof callings)[number];

type Sample = readonly [answer: readonly number[], isReady: boolean];

async function read(): Promise<Sample> {
  const [answer, ready] = await harness.plc.shown(
    `Robots.${ROBOT}.ConveyorSlot.Answer`,
    `Robots.${ROBOT}.ReadyForCommand`,
  );
  return [answer?.value as readonly number[], ready?.value === true];
}

/** The read whose values the block gets in this cycle; null: the block is not called. */
function createReads(calling: Calling): (cycle: number) => Promise<Sample | null> {
  let asked: Sample | null = null;
  let last: Sample | null = null;
  return async (cycle) => {
    const place = cycle % READ_CYCLES;
    if (calling === "in every cycle") return read();
    if (calling === "in every fourth cycle") return place === 0 ? read() : null;
    if (calling === "with the read of the cycle before") {
      last = asked;
      asked = await read();
      return last;
    }
    // The values are those of the begin of the read.
    if (place === 0) asked = await read();
    if (place === READ_CYCLES - 1) last = asked;
    const isDone = place === READ_CYCLES - 1;
    return calling === "in every cycle with the last read" || isDone ? last : null;
  };
}

interface Ended {
  readonly done: boolean;
  readonly outcome: number;
  readonly notSent: boolean;
}

const whole = (command: readonly number[]) => [0, ...command, ...new Array(11 - command.length).fill(0)];
const answers = ["Done", "Error", "CommandAborted"] as const;

/** A program with one instance of the block. */
function createProgram(calling: Calling) {
  let nowMs = 0;
  let cycles = 0;
  const begunAt = performance.now();
  let wasExecuted = false;
  const plc = createPlc(block, { nowMs: () => nowMs, run: "FG_Command" });
  const reads = createReads(calling);
  const is = (name: string) => plc.get(name) === true;
  const hasEnded = () => answers.some(is);

  function checkOutputs(execute: boolean, stop: boolean): void {
    const ofStop = ["StopBusy", "StopDone", "StopError"].filter(is);
    expect(ofStop.length, `outputs ${ofStop.join(", ")}`).toBeLessThanOrEqual(1);
    if (stop) expect(ofStop, "with Stop TRUE").toHaveLength(1);
    const shown = ["Busy", ...answers].filter(is);
    expect(shown.length, `outputs ${shown.join(", ")}`).toBeLessThanOrEqual(1);
    if (execute) expect(shown, "with Execute TRUE").toHaveLength(1);
    if (execute && !wasExecuted) expect(is("Done"), "Done in the call of the edge").toBe(false);
    if (is("CanExecute")) expect([execute, ...shown], "with CanExecute TRUE").toEqual([false]);
    wasExecuted = execute;
  }

  async function cycle(execute: boolean, wanted: readonly number[], stop = false): Promise<void> {
    cycles += 1;
    if (performance.now() - begunAt > ANSWER_WITHIN_MS)
      throw new Error(`no answer: ${["Busy", ...answers].filter(is).join(", ")}`);
    nowMs += CYCLE_MS;
    const sample = await reads(cycles);
    if (sample === null) return;
    const [answer, isReady] = sample;
    const inputs = { Connected: true, Ready: isReady, Execute: execute, Stop: stop };
    for (const [name, value] of Object.entries(inputs)) plc.set(name, value);
    plc.set("Answer", answer);
    plc.set("Wanted", whole(wanted));
    plc.set("StopWith", whole(STOP));
    plc.cycle();
    checkOutputs(execute, stop);
    const value = Int32Array.from(plc.get("Command") as number[]);
    await harness.plc.write([
      `Robots.${ROBOT}.ConveyorSlot.Command`,
      { dataType: "Int32", arrayType: "Array", value },
    ]);
  }

  const ended = (): Ended => ({
    done: is("Done"),
    outcome: Number(plc.get("Outcome")),
    notSent: is("NotSent"),
  });
  return {
    is,
    cycle,
    /** Execute is TRUE until the gateway has recorded the command. */
    async accepted(wanted: readonly number[]): Promise<void> {
      do await cycle(true, wanted);
      while (!hasEnded() && (plc.get("Answer") as readonly number[])[0] !== plc.get("my"));
    },
    async untilFree() {
      while (!is("CanExecute")) await cycle(false, CW);
    },
    /** Execute is TRUE until the command has ended. */
    async held(wanted: readonly number[]): Promise<Ended> {
      do await cycle(true, wanted);
      while (!hasEnded());
      return ended();
    },
    /** Execute is TRUE until the block answers; the command ends later. */
    async pulsed(wanted: readonly number[]): Promise<Ended> {
      do await cycle(true, wanted);
      while (!is("Busy") && !hasEnded());
      while (!hasEnded()) await cycle(false, wanted);
      return ended();
    },
  };
}

/** What the service has received since `seq`, as the commands that were wanted. */
function receivedSince(seq: number): readonly unknown[] {
  return harness
    .record(ROBOT)
    .filter((entry) => entry.seq > seq)
    .flatMap(({ fact }) =>
      fact.what === "received" && fact.operation === "ControlConveyor"
        ? fromJson(ControlConveyorRequestSchema, fact.request as JsonValue).commands
        : [],
    )
    .map(({ index, command }) => [index, command]);
}
const lastSeq = () => harness.record(ROBOT).at(-1)?.seq ?? 0;

const done: Ended = { done: true, outcome: 3, notSent: false };
const refused: Ended = { done: false, outcome: 4, notSent: false };
const notSent: Ended = { done: false, outcome: 0, notSent: true };
const executes = ["held", "pulsed"] as const;

test.each(callings.flatMap((calling) => executes.map((execute) => [calling, execute] as const)))(
  "called %s, Execute %s: five commands in a row are each sent once, and told as they ended",
  async (calling, execute) => {
    const program = createProgram(calling);
    const seq = lastSeq();
    const ends: Ended[] = [];
    const commands = [CW, CCW, REFUSED, CCW, CW];
    for (const wanted of commands) {
      await program.untilFree();
      ends.push(await program[execute](wanted));
    }
    expect(ends).toEqual([done, done, refused, done, done]);
    expect(receivedSince(seq)).toEqual(commands);
  },
);

test.each(callings)(
  "called %s, Execute held before the first call: it starts nothing, and says so",
  async (calling) => {
    const program = createProgram(calling);
    const seq = lastSeq();
    expect(await program.held(CW)).toEqual(notSent);
    for (let cycles = 0; cycles < 40; cycles += 1) await program.cycle(true, CW);
    expect(receivedSince(seq)).toEqual([]);
    await program.untilFree();
    expect(await program.held(CCW)).toEqual(done);
    expect(receivedSince(seq)).toEqual([CCW]);
  },
);

test.each(["in every cycle", "in every cycle with the last read"] as const)(
  "called %s, by a program that drops Execute for one cycle only between two commands",
  async (calling) => {
    const program = createProgram(calling);
    const seq = lastSeq();
    await program.untilFree();
    const ends: Ended[] = [];
    for (const wanted of [CW, CCW, CW, CCW]) {
      ends.push(await program.held(wanted));
      await program.cycle(false, CW);
    }
    expect(ends).toEqual([done, done, done, done]);
    expect(receivedSince(seq)).toEqual([CW, CCW, CW, CCW]);
  },
);

test("a stop aborts the command that is under way, and the next one is sent", async () => {
  const program = createProgram("only when a read is done");
  await program.untilFree();
  const seq = lastSeq();
  harness.simulator().control.apply({
    ...{ kind: "command", operation: "ControlConveyor", robotId: ROBOT },
    ...{ effect: "delay-taken", count: 1 },
  });
  await program.accepted(CW);
  do await program.cycle(true, CW, true);
  while (!program.is("StopDone"));
  expect(["CommandAborted", "NotSent", "LookFirst"].filter(program.is)).toEqual(["CommandAborted"]);
  await program.untilFree();
  expect(await program.held(CCW)).toEqual(done);
  expect(receivedSince(seq)).toEqual([CW, STOP, CCW]);
});
