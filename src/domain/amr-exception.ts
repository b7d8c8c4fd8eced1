import type { Presence } from "./robot.ts";

/** What a robot reports of itself (`amrException` of the online list), as texts. */
export interface AmrException {
  readonly exception: readonly string[];
  readonly exceptionCodes: readonly string[];
  readonly level: number;
}

const none: AmrException = { exception: [], exceptionCodes: [], level: 0 };

/** The exceptions in a record of the online list. The shape of its elements is not documented. */
export function amrExceptionOf({ info }: Presence): AmrException {
  const found = info.amr_exception;
  if (!isRecord(found)) return none;
  return {
    exception: textsOf(found.exception),
    exceptionCodes: textsOf(found.exception_codes),
    level: Number.isInteger(found.level) ? Number(found.level) : 0,
  };
}

/** Whether the robot reports any exception. */
export function isException({ exception, exceptionCodes, level }: AmrException): boolean {
  return exception.length > 0 || exceptionCodes.length > 0 || level !== 0;
}

/** In one line for people, as `the robot's way is blocked (code 1001, level 1)`. */
export function exceptionText({ exception, exceptionCodes, level }: AmrException): string {
  const said = exception.length === 0 ? "the robot reports an exception" : exception.join("; ");
  const codes = exceptionCodes.map((code) => `code ${code}`);
  const details = [...codes, ...(level === 0 ? [] : [`level ${level}`])];
  return details.length === 0 ? said : `${said} (${details.join(", ")})`;
}

function textsOf(list: unknown): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.map((element: unknown) => (typeof element === "string" ? element : JSON.stringify(element)));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
