import { spawn } from "node:child_process";
import { once } from "node:events";

const HOLD = `
const { open } = require("lmdb");
const database = open(process.argv[1], { compression: false });
database.transactionSync(() => {
  require("node:fs").writeSync(1, "held");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

/** Lets no commit of a store return, until the result is called: another process is in a transaction. */
export async function holdCommits(path: string): Promise<() => Promise<void>> {
  const holder = spawn(process.execPath, ["-e", HOLD, path], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(holder, "exit");
  await Promise.race([
    once(holder.stdout, "data"),
    ended.then(() => Promise.reject(new Error("the store could not be held"))),
  ]);
  return async () => {
    holder.kill("SIGKILL");
    await ended;
  };
}
