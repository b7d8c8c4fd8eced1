// A foreign stack of OPC UA, in a process of its own that obeys a line at a time. A request is its name and
// arguments between tabs. The answer is a status code and JSON, and a notification is `*`, a node and JSON.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const here = import.meta.dirname;
const cache = join(here, "../../node_modules/.cache/open62541");
const PATIENCE_MS = 30_000;

/** Each stack: the file by which a checkout of it is known, and the command that starts its adapter. */
const stacks = {
  asyncua: {
    mark: "asyncua/client/client.py",
    program: (checkout) => ["python3", [join(here, "asyncua.py"), checkout]],
  },
  open62541: {
    mark: "include/open62541/client.h",
    program: (checkout) => [buildOpen62541(checkout), []],
  },
};

/** What an adapter answers with if its client cannot be tried with something on this machine. */
export class NotRun extends Error {}

/** Finds the stack whose checkout a folder has, and builds it. @returns its name, and what starts it */
export function findStack(checkout) {
  const [name, stack] = Object.entries(stacks).find(([, { mark }]) => existsSync(join(checkout, mark))) ?? [];
  if (stack === undefined) throw new Error(`${checkout} has none of ${Object.keys(stacks).join(", ")}`);
  const program = stack.program(checkout);
  return { name, start: () => startStack(program) };
}

function startStack(program) {
  const child = spawn(...program, { stdio: ["pipe", "pipe", "inherit"] });
  // It may have ended before it has read all: what asks it next is told so.
  child.stdin.on("error", () => {});
  const answers = [];
  const notifications = [];
  const watchers = new Set();
  createInterface(child.stdout).on("line", (line) => {
    const [first, ...rest] = line.split("\t");
    if (first === "*") {
      const value = plain(JSON.parse(rest[1]));
      notifications.push({ node: rest[0], value, at: notifications.length });
    } else answers.push({ status: first, value: plain(JSON.parse(rest[0])) });
    for (const look of [...watchers]) look();
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "exit").then(([code]) => {
    process.off("exit", kill);
    answers.push({ status: "Failed", value: `the adapter ended with ${code}` });
    for (const look of [...watchers]) look();
  });

  /** Resolves with what `find` returns, as soon as that is not undefined. */
  const until = (what, find) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        watchers.delete(look);
        resolve(found);
      };
      const timer = setTimeout(() => {
        watchers.delete(look);
        reject(new Error(`in ${PATIENCE_MS} ms not: ${what}`));
      }, PATIENCE_MS);
      watchers.add(look);
      look();
    });

  return {
    /** Resolves with the status code and the value. */
    async ask(...words) {
      child.stdin.write(`${words.join("\t")}\n`);
      const answer = await until(words.join(" "), () => answers.shift());
      if (answer.status === "NotRun") throw new NotRun(answer.value);
      return answer;
    },
    /** Resolves with the first notification, by number `from` on, of a node for whose value `is` holds. */
    notified: (node, is, from = 0) =>
      until(`${node} notified`, () =>
        notifications.slice(from).find((one) => one.node === node && is(one.value)),
      ),
    /** Ends the session, if there is one, and the process. */
    async close() {
      child.stdin.end("disconnect\n");
      const timer = setTimeout(kill, PATIENCE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** A value without its type, which the JSON of OPC UA has beside it. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  return value !== null && typeof value === "object" && "Value" in value ? plain(value.Value) : value;
}

/** Builds the library from a checkout, and our client on it. @returns the program */
function buildOpen62541(checkout) {
  mkdirSync(cache, { recursive: true });
  const run = (program, ...words) => execFileSync(program, words, { stdio: ["ignore", "ignore", "inherit"] });
  const options = ["UA_NAMESPACE_ZERO=REDUCED", "UA_ENABLE_ENCRYPTION=OPENSSL", "CMAKE_BUILD_TYPE=Release"];
  run("cmake", "-S", checkout, "-B", cache, ...options.map((option) => `-D${option}`));
  run("cmake", "--build", cache, "--target", "open62541");
  const folders = [join(checkout, "include"), join(checkout, "deps"), join(checkout, "plugins/include")];
  const includes = [...folders, join(cache, "src_generated")].map((folder) => `-I${folder}`);
  const program = join(cache, "fleetgate-client");
  const library = join(cache, "bin/libopen62541.a");
  run(
    "gcc",
    "-O1",
    "-Wall",
    ...includes,
    "-o",
    program,
    join(here, "open62541.c"),
    library,
    "-lssl",
    "-lcrypto",
  );
  return program;
}
