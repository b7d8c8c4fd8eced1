// How long a gateway did not answer on its control socket, and did not let commands in: the longest time of
// each, in milliseconds, as JSON on SIGTERM.
//
//     outage.mjs SOCKET
import { request } from "node:http";

const [socketPath] = process.argv.slice(2);
const PERIOD_MS = 100;
const longest = { unanswered: 0, closed: 0 };
const last = { unanswered: performance.now(), closed: performance.now() };

function note(kind) {
  const now = performance.now();
  longest[kind] = Math.max(longest[kind], Math.round(now - last[kind]));
  last[kind] = now;
}

function look() {
  const asked = request({ socketPath, path: "/api/v1/status", timeout: 1_000 }, async (answer) => {
    let text = "";
    for await (const part of answer) text += part;
    note("unanswered");
    if (!JSON.parse(text).parts.some(({ name }) => name === "upgrade")) note("closed");
  });
  asked.on("error", () => {});
  asked.on("timeout", () => asked.destroy());
  asked.end();
}

setInterval(look, PERIOD_MS);
process.on("SIGTERM", () => {
  note("unanswered");
  note("closed");
  process.stdout.write(`${JSON.stringify(longest)}\n`);
  process.exit(0);
});
