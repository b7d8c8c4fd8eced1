import { readFileSync } from "node:fs";

const script = /^#!\/usr\/bin\/env -S node (.*)$/m.exec(
  readFileSync(new URL("../../src/main.ts", import.meta.url), "utf8"),
);

const launcher = readFileSync(new URL("../../packaging/fleetgate.sh", import.meta.url), "utf8");

/** What the launcher of a plant tells the system's allocator. */
export const allocatorOptions: Readonly<Record<string, string>> = Object.fromEntries(
  [...launcher.matchAll(/^export (MALLOC_\w+)="\$\{\1:-(\d+)\}"$/gm)].map(([, name, value]) => [name, value]),
);

/** The options with which Node.js runs the program, for the reasons in src/main.ts. */
export const nodeOptions: readonly string[] = script?.[1]?.split(" ") ?? [];
