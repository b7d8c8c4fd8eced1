import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtHere, type DaemonBuild } from "../../daemon/daemon.ts";
import type { Kind } from "./faults.ts";

/** A mistake in the built program that the rounds must find. */
export interface Planted {
  readonly name: string;
  /** The rounds in which it shows. */
  readonly kinds: readonly Kind[];
  /** What stands once in the program, and what stands there instead. */
  readonly line: RegExp;
  readonly becomes: string;
}

export const planted: readonly Planted[] = [
  {
    name: "no guard",
    kinds: ["lease"],
    line: /return createWriter\(parts, \[ledBy\(epoch\)\], lost\)/,
    becomes: "return createWriter(parts, [], lost)",
  },
  {
    name: "no L",
    kinds: ["pause-slow"],
    line: /askedAtMs \+ times\.permissionMs/,
    becomes: "Number.POSITIVE_INFINITY",
  },
  {
    name: "no wait for robots in doubt",
    kinds: ["kill-late"],
    line: /doubtMs: Math\.max\(/,
    becomes: "doubtMs: 0 * Math.max(",
  },
  {
    name: "sending after an unsure write",
    kinds: ["split"],
    line: /return settle\(own, puts, result\.askedAtMs\)/,
    becomes: "return permit(puts, result.askedAtMs)",
  },
  {
    name: "telling before recording",
    kinds: ["cut-etcd"],
    line: /await (journal\.write\(recordOf[\w$]*\(job, outcome, finalAtMs\)\))/,
    becomes: "void $1.catch(() => {})",
  },
];

/** Beside the built program, for that finds its packages and files from there. */
const FOLDER = ".planted";

/** A copy of the built program with the mistake in it. */
export async function plant({ name, line, becomes }: Planted): Promise<DaemonBuild> {
  await rm(FOLDER, { recursive: true, force: true });
  await cp("dist", FOLDER, { recursive: true });
  let places = 0;
  for (const file of await readdir(FOLDER)) {
    if (!file.endsWith(".js")) continue;
    const path = join(FOLDER, file);
    const text = await readFile(path, "utf8");
    places += [...text.matchAll(new RegExp(line, "g"))].length;
    if (line.test(text)) await writeFile(path, text.replace(line, becomes));
  }
  if (places !== 1) throw new Error(`${name}: the program has its line ${places} times`);
  return { ...builtHere, script: join(FOLDER, "main.js") };
}
