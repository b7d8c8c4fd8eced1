import { readFileSync } from "node:fs";
import { FG_LOAD_STATION } from "../../src/cli/export/block-files.ts";
import { structuredTextOf } from "../support/structured-text/markdown-blocks.ts";
import { parseStructuredText } from "../support/structured-text/parser.ts";
import { createPlc } from "../support/structured-text/plc.ts";
import type { Plc } from "./plc.ts";

const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
/** The programs that the pages give to their readers, word for word, with the blocks that they call. */
const pageProgram = parseStructuredText(
  FG_LOAD_STATION,
  read("examples/FG_Command.st"),
  read("examples/ServePlaces.st"),
  ...["plc.md", "load-station.md"].flatMap((page) => structuredTextOf(read(page))),
);

type Interpreter = ReturnType<typeof createPlc>;
export type Retained = ReturnType<Interpreter["retained"]>;
const outputs = [
  ...(["CanExecute", "Busy", "Done", "Error", "CommandAborted", "NotSent", "LookFirst"] as const),
  ...(["StopBusy", "StopDone", "StopError"] as const),
] as const;
type Output = (typeof outputs)[number];

/** A controller that runs a program of docs/plc.md for one slot, a cycle at a time. */
interface Controller<Inputs> {
  /** Reads, runs the program once, and writes. @param inputs what the machine asks for in this cycle */
  cycle(inputs?: Inputs): Promise<void>;
  /** A cycle in which nothing could be read. */
  cycleWithoutConnection(inputs?: Inputs): void;
  /** What the robot's `ReadyForCommand` was in the last cycle. */
  isReady(): boolean;
  /** `Answer` of the last cycle. */
  answer(): readonly number[];
  /** An output of the block, as `Done`. */
  output(name: Output): boolean;
  outcome(): number;
  /** A variable of the program, as `RobotIsHere`. */
  variable(name: string): unknown;
  /** What the controller keeps over a loss of power. */
  retained(): Retained;
}

/** It runs `CallCart`, which sends its robot to Station A. */
export type PageController = Controller<PageInputs>;
interface PageInputs {
  readonly call?: boolean;
  readonly halt?: boolean;
}

interface SequenceInputs {
  readonly place?: number;
}

/** What a read showed beside `Answer`. */
interface RobotRead {
  readonly isReady: boolean;
  readonly missionState: number;
}

/** It runs an instance of the block `FG_Command`; `wanted` begins with the operation. */
type BlockController = Controller<BlockInputs>;
interface BlockInputs {
  readonly execute?: boolean;
  readonly wanted?: readonly number[];
}

/**
 * `cyclic` writes in every cycle, `on-change` only what is not what it wrote last. `blocks` calls a block for
 * writing while the program asks for it: that takes some cycles. With `failing-blocks` each write ends with
 * an error, every second one before it has arrived. With `instructions`, as on an S7-1500, the read takes
 * some cycles too, in which the program goes on with the values of the last one.
 */
export type Driver = "cyclic" | "on-change" | "blocks" | "failing-blocks" | "instructions";

interface ControllerParts {
  readonly robot: string;
  readonly session: () => Pick<Plc, "shown" | "write">;
  readonly nowMs: () => number;
  readonly driver?: Driver;
  readonly retained?: Retained | undefined;
}

export function createPageController(parts: ControllerParts): PageController {
  const { nowMs, retained } = parts;
  const kept = retained === undefined ? {} : { retained };
  const plc = createPlc(pageProgram, { nowMs, run: "CallCart", ...kept });
  return createController<PageInputs>(plc, "slot.", parts, ({ call = false, halt = false }, robot) => {
    plc.set("ReadyForCommand", robot.isReady);
    plc.set("MissionState", robot.missionState);
    plc.set("CallRobot", call);
    plc.set("HaltRobot", halt);
  });
}

/** It runs the example `ServePlaces`, which sends its robot to one place after another. */
export function createSequenceController(parts: ControllerParts): Controller<SequenceInputs> {
  const { nowMs, retained } = parts;
  const kept = retained === undefined ? {} : { retained };
  const plc = createPlc(pageProgram, { nowMs, run: "ServePlaces", ...kept });
  return createController<SequenceInputs>(plc, "slot.", parts, ({ place = 0 }, robot) => {
    plc.set("ReadyForCommand", robot.isReady);
    plc.set("MissionState", robot.missionState);
    plc.set("Place", place);
  });
}

export function createBlockController(parts: ControllerParts): BlockController {
  const { nowMs, retained } = parts;
  const kept = retained === undefined ? {} : { retained };
  const plc = createPlc(pageProgram, { nowMs, run: "FG_Command", ...kept });
  return createController<BlockInputs>(plc, "", parts, ({ execute = false, wanted = [] }, robot) => {
    plc.set("Ready", robot.isReady);
    plc.set("Execute", execute);
    plc.set("Wanted", [0, ...wanted, ...new Array(11 - wanted.length).fill(0)]);
  });
}

function createController<Inputs extends object>(
  plc: Interpreter,
  prefix: string,
  { robot, session, driver = "cyclic" }: ControllerParts,
  setInputs: (inputs: Partial<Inputs>, robot: RobotRead) => void,
): Controller<Inputs> {
  const slot = (name: string) => `Robots.${robot}.MissionSlot.${name}`;
  let written = "";
  let last: RobotRead = { isReady: false, missionState: 0 };
  const block = createWriteBlock(driver === "failing-blocks");
  const hasInstructions = driver === "instructions";
  const hasBlock = driver === "blocks" || driver === "failing-blocks" || hasInstructions;
  const write = (command: readonly number[]) =>
    session().write([
      slot("Command"),
      { dataType: "Int32", arrayType: "Array", value: Int32Array.from(command) },
    ]);

  /** Runs the program once with the values of the last read, and writes. */
  async function run(inputs: Partial<Inputs>): Promise<void> {
    setInputs(inputs, last);
    if (hasBlock)
      for (const [name, value] of Object.entries(block.outputs())) plc.set(`${prefix}${name}`, value);
    plc.cycle();
    const command = plc.get("Command") as number[];
    if (hasBlock) return block.cycle(plc.get(`${prefix}DoWrite`) === true, command, write);
    if (driver === "on-change" && written === command.join()) return;
    await write(command);
    written = command.join();
  }

  return {
    async cycle(inputs) {
      if (hasInstructions) for (let cycle = 1; cycle < READ_CYCLES; cycle += 1) await run(inputs ?? {});
      const tags = [slot("Answer"), slot("MissionState"), `Robots.${robot}.ReadyForCommand`];
      const [answer, missionState, ready] = await session().shown(...tags);
      plc.set("Answer", Array.from(answer?.value as Iterable<number>));
      plc.set("Connected", true);
      last = { isReady: ready?.value === true, missionState: Number(missionState?.value ?? 0) };
      await run(inputs ?? {});
    },
    cycleWithoutConnection(inputs) {
      plc.set("Connected", false);
      setInputs(inputs ?? {}, { isReady: true, missionState: 0 });
      plc.cycle();
      written = "";
    },
    answer: () => plc.get(`${prefix}Answer`) as number[],
    isReady: () => last.isReady,
    variable: (name) => plc.get(name),
    output: (name) => plc.get(`${prefix}${name}`) === true,
    outcome: () => Number(plc.get(`${prefix}Outcome`)),
    retained: () => plc.retained(),
  };
}

const READ_CYCLES = 4;
const WRITE_CYCLES = 3;

/** A controller's block that writes a tag: it begins with the rising edge of `execute`. */
function createWriteBlock(fails: boolean) {
  let [left, count, wasExecuted] = [0, 0, false];
  let [begun, ended]: [string, "done" | "error" | null] = ["", null];
  return {
    outputs: () => ({ WriteBusy: left > 0, WriteDone: ended === "done", WriteError: ended === "error" }),
    async cycle(
      execute: boolean,
      command: readonly number[],
      write: (command: readonly number[]) => Promise<unknown>,
    ) {
      if (left > 0 && command.join() !== begun) throw new Error("Command changed while it was written");
      const isEdge = execute && !wasExecuted;
      wasExecuted = execute;
      if (left === 0) {
        ended = null;
        if (isEdge) [left, begun] = [WRITE_CYCLES, command.join()];
        return;
      }
      left -= 1;
      if (left > 0) return;
      count += 1;
      if (!fails || count % 2 === 0) await write(command);
      ended = fails ? "error" : "done";
    },
  };
}

/** A controller's time, in milliseconds. */
export interface PlcTime {
  nowMs: number;
}

const CYCLE_MS = 100;
const MOST_CYCLES = 2_000;

/** Runs cycles, one at least, until `is` holds. The controller's time goes on with each. */
export async function runUntil<Inputs>(
  controller: Controller<Inputs>,
  time: PlcTime,
  is: () => boolean,
  inputs?: Inputs,
): Promise<void> {
  for (let cycles = 0; cycles < MOST_CYCLES; cycles += 1) {
    await controller.cycle(inputs);
    time.nowMs += CYCLE_MS;
    if (is()) return;
  }
  const shown = outputs.filter((name) => controller.output(name));
  throw new Error(
    `in ${MOST_CYCLES} cycles the program does not get on: outputs ${shown.join(", ")}, ` +
      `ready ${controller.isReady()}, Answer ${controller.answer().join(" ")}`,
  );
}
