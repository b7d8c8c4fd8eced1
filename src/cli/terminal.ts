import { createInterface } from "node:readline";
import { type Readable, Writable } from "node:stream";
import { Refused } from "./exit.ts";

/** Asks a person. */
export interface Terminal {
  /** The line that was typed, without spaces around it. Rejects with Refused when the person gives up. */
  ask(question: string): Promise<string>;
  /** The same without an echo; spaces are kept. */
  askSecret(question: string): Promise<string>;
  say(text: string): void;
  close(): void;
}

interface Waiting {
  resolve(line: string): void;
  reject(error: Error): void;
}

/** A terminal on two streams: of the process, or of a test. */
export function openTerminal(input: Readable, output: Writable): Terminal {
  let isHidden = false;
  const echo = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) output.write(chunk);
      done();
    },
  });
  // Without a history: the arrow keys must not bring a password back.
  const lines = createInterface({ input, output: echo, terminal: true, historySize: 0 });
  /** Lines that were pasted before their question was asked. */
  const early: string[] = [];
  let waiting: Waiting | null = null;
  let isOver = false;

  const giveUp = () => {
    isOver = true;
    isHidden = false;
    output.write("\n");
    waiting?.reject(new Refused(["cancelled"]));
    waiting = null;
  };
  lines.on("line", (line) => {
    if (waiting === null) return void early.push(line);
    waiting.resolve(line);
    waiting = null;
  });
  lines.on("SIGINT", () => lines.close());
  lines.on("close", () => {
    if (!isOver) giveUp();
  });

  const next = (question: string): Promise<string> => {
    if (isOver) return Promise.reject(new Refused(["cancelled"]));
    lines.setPrompt(question);
    lines.prompt();
    const line = early.shift();
    if (line !== undefined) return Promise.resolve(line);
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
    });
  };

  return {
    ask: async (question) => (await next(question)).trim(),
    async askSecret(question) {
      const line = next(question);
      isHidden = true;
      try {
        return await line;
      } finally {
        isHidden = false;
        if (!isOver) output.write("\n");
      }
    },
    say: (text) => void output.write(`${text}\n`),
    close() {
      isOver = true;
      lines.close();
    },
  };
}
