import { readFileSync } from "node:fs";

/** The names and numbers of this machine's users or groups. */
export interface Accounts {
  nameOf(number: number): string;
  /** Null: there is none of this name. */
  numberOf(name: string): number | null;
}

/** @param file /etc/passwd or /etc/group: in both the third field is the number */
export function readAccounts(file: string): Accounts {
  const names = new Map<number, string>();
  const numbers = new Map<string, number>();
  for (const line of textOf(file).split("\n")) {
    const [name = "", , number = ""] = line.split(":");
    if (!/^\d+$/.test(number)) continue;
    if (!names.has(Number(number))) names.set(Number(number), name);
    if (!numbers.has(name)) numbers.set(name, Number(number));
  }
  return {
    // A number that has no name, as in a container, stands for itself.
    nameOf: (number) => names.get(number) ?? String(number),
    numberOf: (name) => numbers.get(name) ?? (/^\d+$/.test(name) ? Number(name) : null),
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
