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
