import { readFileSync } from "node:fs";

const script = /^#!\/usr\/bin\/env -S node (.*)$/m.exec(
  readFileSync(new URL("../../src/main.ts", import.meta.url), "utf8"),
);

/** The options with which Node.js runs the program, for the reasons in src/main.ts. */
export const nodeOptions: readonly string[] = script?.[1]?.split(" ") ?? [];
