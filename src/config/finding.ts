import type { ConfigPath } from "./problem.ts";

/** The result of a check of several keys. A warning does not keep the gateway from starting. */
export interface Finding {
  readonly path: ConfigPath;
  readonly message: string;
  readonly severity: "problem" | "warning";
}

/** A finding that keeps the gateway from starting. */
export function wrong(path: ConfigPath, message: string): Finding {
  return { path, message, severity: "problem" };
}

/** A finding that an operator should know of. */
export function unwise(path: ConfigPath, message: string): Finding {
  return { path, message, severity: "warning" };
}

/** Two keys that have no meaning without each other. */
export function together(
  section: Readonly<Record<string, unknown>>,
  path: ConfigPath,
  first: string,
  second: string,
): readonly Finding[] {
  const hasFirst = section[first] !== undefined;
  const hasSecond = section[second] !== undefined;
  if (hasFirst === hasSecond) return [];
  const [there, missing] = hasFirst ? [first, second] : [second, first];
  return [wrong([...path, there], `needs ${missing} beside it`)];
}
