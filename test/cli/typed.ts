import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** What a person sees at a terminal, and how the program ended. */
export interface Seen {
  readonly screen: string;
  readonly code: number | null;
}

/** `fleetgate` with standard input, which is no terminal. */
export function piped(folder: string, args: readonly string[], input: string | Uint8Array = "") {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: folder,
    input,
    encoding: "utf8",
  });
  return { code: status, out: stdout, err: stderr };
}

/** `fleetgate` at a terminal: each line is typed when its question has come. */
export async function typed(
  folder: string,
  args: readonly string[],
  lines: ReadonlyArray<readonly [question: string, line: string]>,
): Promise<Seen> {
  const words = [process.execPath, main, ...args].map((word) => `'${word}'`).join(" ");
  const script = spawn("script", ["-qec", words, "/dev/null"], { cwd: folder });
  let screen = "";
  let answered = 0;
  const left = [...lines];
  script.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
    for (;;) {
      const [question, line] = left[0] ?? [];
      if (question === undefined || line === undefined) return;
      const at = screen.indexOf(question, answered);
      if (at < 0) return;
      answered = at + question.length;
      left.shift();
      script.stdin.write(`${line}\r`);
    }
  });
  const [code] = (await once(script, "close")) as [number | null];
  return { screen, code };
}
