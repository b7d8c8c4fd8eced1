import { FG_COMMAND, FG_LOAD_STATION } from "../../../src/cli/export/block-files.ts";
import { parseStructuredText } from "../../support/structured-text/parser.ts";
import { createPlc } from "../../support/structured-text/plc.ts";
import type { HostValue } from "../../support/structured-text/plc-memory.ts";
import type { Shown } from "../plc.ts";

/** What the machine's own signals are in a cycle. */
export interface Signals {
  readonly Enable: boolean;
  readonly Load: boolean;
  readonly Unload: boolean;
  readonly Reset: boolean;
  readonly Ready: boolean;
  readonly InPlace: boolean;
  readonly Occupied: boolean;
  readonly Turning: boolean;
}

/** How the last write of `Command` goes. */
export interface WriteState {
  readonly WriteBusy: boolean;
  readonly WriteDone: boolean;
  readonly WriteError: boolean;
}

/** The tags that the block reads, in the order of a read. */
export const readNames = [
  "Slot.Answer",
  "Slot.Leased",
  "Valid",
  "RobotHere",
  "RobotHereNo",
  "Loaded",
  "Rolling",
  "Permitted",
] as const;

type Retained = ReturnType<ReturnType<typeof createPlc>["retained"]>;

export interface ControllerParts {
  readonly nowMs: () => number;
  /** Inputs that are constants of the program: times, `Conveyor`. TIME is in milliseconds. */
  readonly constants: Readonly<Record<string, number>>;
  readonly retained?: Retained | undefined;
  /** Another block, to show that a mistake in it is found. */
  readonly source?: string | undefined;
}

/** A controller that runs `FG_LoadStation` as it is exported. */
export type StationController = ReturnType<typeof createStationController>;

export function createStationController({ nowMs, constants, retained, source }: ControllerParts) {
  const program = parseStructuredText(FG_COMMAND, source ?? FG_LOAD_STATION);
  const plc = createPlc(program, {
    nowMs,
    run: "FG_LoadStation",
    ...(retained === undefined ? {} : { retained }),
  });
  for (const [name, value] of Object.entries(constants)) plc.set(name, value);
  return {
    /** One cycle. @param tags what was read in it, in the order of `readNames`; null: nothing */
    cycle(signals: Signals, tags: readonly Shown[] | null, write: WriteState): void {
      plc.set("Connected", tags?.[0]?.status === "Good");
      for (const [at, { value, status }] of (tags ?? []).entries()) {
        const name = readNames[at]?.replace("Slot.", "") ?? "";
        const isGood = status === "Good" || at === 0;
        // As the page says: what is not good is FALSE, and with it Valid.
        if (isGood) plc.set(name, value as HostValue);
        else plc.set("Valid", false);
      }
      for (const [name, value] of Object.entries({ ...signals, ...write })) plc.set(name, value);
      plc.cycle();
    },
    is: (name: "Run" | "Permit" | "DoWrite" | "Done" | "RobotHere" | "Valid" | "Leased") =>
      plc.get(name) === true,
    number: (name: "StepNo" | "ErrorID" | "CommandErrorID" | "Heartbeat") => Number(plc.get(name)),
    command: () => plc.get("Command") as readonly number[],
    retained: () => plc.retained(),
    all: (...names: readonly string[]) =>
      names.map((name) => `${name}=${JSON.stringify(plc.get(name))}`).join(" "),
  };
}
