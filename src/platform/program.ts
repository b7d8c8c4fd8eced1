import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { Clock } from "./clock.ts";
import { plain } from "./plain-text.ts";

/** How a program has ended. */
export interface ProgramEnd {
  /** Why it has not succeeded, as the end of a sentence; null: it has. */
  readonly problem: string | null;
  /** The end of what it has said, on one line. */
  readonly said: string;
}

export interface ProgramParts {
  /** Its path and its arguments. No shell reads them. */
  readonly command: readonly string[];
  /** Beside the `PATH` of a service. It gets nothing of this process's own. */
  readonly env: Readonly<Record<string, string>>;
  /** It is killed then, with all that it has started. */
  readonly timeoutMs: number;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const MOST_CHARACTERS = 500;
/** What a program has said is read so long after its end, if a child of it holds the pipes. */
const SAID_WITHIN_MS = 200;

/** Runs a program to its end. Never rejects. */
export function runProgram(
  { command, env, timeoutMs }: ProgramParts,
  clock: Pick<Clock, "after">,
): Promise<ProgramEnd> {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    // A group of its own, so that it can be killed with its children.
    const child = spawn(program, args, {
      ...{ env: { PATH, ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true },
    });
    const texts = [child.stdout, child.stderr].map(endOf);
    let cancelSaid = () => {};
    const end = (problem: string | null) => {
      cancel();
      cancelSaid();
      // A child that lives on may hold the pipes.
      for (const { stream } of texts) stream.destroy();
      resolve({
        problem,
        said: plain(
          texts
            .map(({ text }) => text().trim())
            .join(" ")
            .trim(),
        ),
      });
    };
    const cancel = clock.after(timeoutMs, () => {
      if (child.pid !== undefined) killGroup(child.pid);
      end(`the program has not ended within ${timeoutMs / 1_000} s`);
    });
    child.on("error", (error) => end(`the program cannot be started (${codeOf(error)})`));
    // The pipes may be read later than the exit is told: `close` comes when all is read.
    child.on("exit", (code, signal) => {
      cancel();
      cancelSaid = clock.after(SAID_WITHIN_MS, () => end(problemOf(code, signal)));
    });
    child.on("close", (code, signal) => end(problemOf(code, signal)));
  });
}

function problemOf(code: number | null, signal: NodeJS.Signals | null): string | null {
  if (code === 0) return null;
  return code === null ? `${signal} has ended the program` : `the program ended with exit code ${code}`;
}

function endOf(stream: Readable): { readonly stream: Readable; readonly text: () => string } {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (more: string) => {
    text = (text + more).slice(-MOST_CHARACTERS);
  });
  return { stream, text: () => text };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended at this moment.
  }
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : error.name;
}
