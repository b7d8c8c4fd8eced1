import { parseStructuredText } from "./parser.ts";
import { createPlc, type PlcOptions } from "./plc.ts";
import type { HostValue } from "./plc-memory.ts";

type Options = Partial<PlcOptions>;

/** A PLC with a program, at time 0 unless `options` say otherwise. */
export function plcOf(text: string, options: Options = {}) {
  return createPlc(parseStructuredText(text), { nowMs: () => 0, ...options });
}

/** The value of `result` after one cycle of these statements; `variables` are the lines of a VAR block. */
export function resultOf(type: string, statements: string, variables = ""): HostValue {
  const plc = plcOf(`VAR result : ${type}; ${variables} END_VAR\n${statements}`);
  plc.cycle();
  return plc.get("result");
}

/** The message of the error when a text is read, compiled and run once; null: there is none. */
export function errorOf(text: string, options: Options = {}): string | null {
  try {
    plcOf(text, options).cycle();
    return null;
  } catch (error) {
    if (error instanceof Error) return error.message;
    throw error;
  }
}
