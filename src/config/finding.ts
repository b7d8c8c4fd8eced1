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

/** A place in the configuration: keys, and numbers for places in lists. */
export type ConfigPath = readonly PropertyKey[];

/** A problem of a configuration, and where it is. */
export interface ConfigProblem {
  /** As `fleet.grpc.address` or `rights[2].role`; empty for the file as a whole. */
  readonly path: string;
  /** The line of the file, from 1; null: it concerns no line. */
  readonly line: number | null;
  /** What is wrong and what would be right. Never the content of a secret. */
  readonly message: string;
}

/** A path as a person writes it. */
export function pathText(path: ConfigPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[\w-]+$/.test(String(part))) text += text === "" ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text;
}
