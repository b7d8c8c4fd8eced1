import type { Text } from "./text.ts";

/** A unit of UN/CEFACT recommendation 20, as OPC UA part 8, 5.6.4.3 asks for. */
export interface Unit {
  /** The common code. */
  readonly code: string;
  readonly symbol: string;
  readonly text: Text;
}

export const percent: Unit = { code: "P1", symbol: "%", text: { en: "percent", de: "Prozent" } };
export const second: Unit = { code: "SEC", symbol: "s", text: { en: "second", de: "Sekunde" } };
export const metre: Unit = { code: "MTR", symbol: "m", text: { en: "metre", de: "Meter" } };
export const millimetre: Unit = { code: "MMT", symbol: "mm", text: { en: "millimetre", de: "Millimeter" } };
export const radian: Unit = { code: "C81", symbol: "rad", text: { en: "radian", de: "Radiant" } };
