import { readFileSync } from "node:fs";
import { structuredTextOf } from "../support/structured-text/markdown-blocks.ts";
import { parseStructuredText } from "../support/structured-text/parser.ts";
import { createPlc } from "../support/structured-text/plc.ts";
import type { Plc } from "./plc.ts";

/** The program that docs/plc.md gives to its readers, word for word. */
const pageProgram = parseStructuredText(
  ...structuredTextOf(readFileSync(new URL("../../docs/plc.md", import.meta.url), "utf8")),
);

/** What `CallCart` of the page reads and writes, with the types of a controller. */
const externals = {
  Connected: "BOOL",
  Answer: "ARRAY[0..19] OF DINT",
  UserNo: "DINT",
  CallRobot: "BOOL",
  HaltRobot: "BOOL",
  ReadyForCommand: "BOOL",
  Command: "ARRAY[0..11] OF DINT",
  RobotIsComing: "BOOL",
  Alarm: "BOOL",
} as const;

export type Retained = ReturnType<ReturnType<typeof createPlc>["retained"]>;

/** A controller that runs the program of docs/plc.md for one slot, a cycle at a time. */
export interface PageController {
  /** Reads, runs the program once, and writes. @param inputs what the machine's buttons are in this cycle */
  cycle(inputs?: { readonly call?: boolean; readonly halt?: boolean }): Promise<void>;
  /** A cycle in which nothing could be read. */
  cycleWithoutConnection(): void;
  /** An output of the block, as `Done`. */
  output(name: "Busy" | "Done" | "NotSent" | "LookFirst"): boolean;
  outcome(): number;
  /** What the controller keeps over a loss of power. */
  retained(): Retained;
}

interface ControllerParts {
  readonly robot: string;
  readonly session: () => Pick<Plc, "value" | "write">;
  readonly nowMs: () => number;
  /** `cyclic` writes in every cycle, `on-change` only what is not what it wrote last. */
  readonly driver?: "cyclic" | "on-change";
  readonly userNo?: number;
  readonly retained?: Retained | undefined;
}

export function createPageController(parts: ControllerParts): PageController {
  const { robot, session, nowMs, driver = "cyclic", userNo = 0, retained } = parts;
  const plc = createPlc(pageProgram, {
    externals,
    nowMs,
    run: "CallCart",
    ...(retained === undefined ? {} : { retained }),
  });
  const slot = (name: string) => `Robots.${robot}.MissionSlot.${name}`;
  let written = "";

  return {
    async cycle({ call = false, halt = false } = {}) {
      const answer = (await session().value(slot("Answer"))) as Iterable<number>;
      plc.set("Answer", Array.from(answer));
      plc.set("ReadyForCommand", (await session().value(`Robots.${robot}.ReadyForCommand`)) === true);
      plc.set("Connected", true);
      plc.set("UserNo", userNo);
      plc.set("CallRobot", call);
      plc.set("HaltRobot", halt);
      plc.cycle();
      const command = plc.get("Command") as number[];
      if (driver === "on-change" && written === command.join()) return;
      await session().write([slot("Command"), { dataType: "Int32", arrayType: "Array", value: command }]);
      written = command.join();
    },
    cycleWithoutConnection() {
      plc.set("Connected", false);
      plc.cycle();
      written = "";
    },
    output: (name) => plc.get(`slot.${name}`) === true,
    outcome: () => Number(plc.get("slot.Outcome")),
    retained: () => plc.retained(),
  };
}
