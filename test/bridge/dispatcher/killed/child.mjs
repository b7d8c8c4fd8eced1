// A process that is killed: the built dispatcher on a real journal, sending commands to
// a "service" that is a file. What is appended to a file survives the kill, as what
// has left on a socket would.
import { openSync, writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { createDispatcher } from "../../../../dist/bridge/dispatcher/dispatcher.js";
import { openDurableJournal } from "../../../../dist/bridge/dispatcher/durable-journal.js";
import { dispatcherDefaults } from "../../../../dist/bridge/dispatcher/options.js";
import { systemClock } from "../../../../dist/platform/clock.js";
import { silentLog } from "../../../../dist/platform/log.js";
import { openStore } from "../../../../dist/platform/store.js";

const [directory, count, life] = process.argv.slice(2);
const service = openSync(`${directory}/service`, "a");
const told = openSync(`${directory}/told`, "a");
const source = { door: "cli", name: "me" };

const move = {
  name: "Move",
  role: "operator",
  parse: (json) => ({
    ok: true,
    request: {
      json: JSON.stringify(json),
      robotId: json.robot,
      effect: "moves",
      subject: { kind: "robot", robotId: json.robot },
      repeat: { kind: "never" },
      evidence: { kind: "none" },
      identityField: null,
      conveyors: null,
    },
  }),
};

const dispatcher = createDispatcher({
  options: { ...dispatcherDefaults, rights: [{ source, role: "operator" }], maxQueue: 1_000 },
  catalogue: new Map([[move.name, move]]),
  port: {
    async call(_operation, requestJson) {
      writeSync(service, `${JSON.parse(requestJson).id}\n`);
      process.send("sent");
      await wait(Math.random() * 3);
      return { kind: "ok", responseJson: "{}", missionId: null };
    },
  },
  journal: openDurableJournal(openStore(`${directory}/journal`), { keepMs: 3_600_000, keepCount: 100_000 }),
  clock: systemClock,
  log: silentLog,
  sessionId: life,
  robot: (robotId) => ({ robotId, family: "cart", quality: "good" }),
  notify: () => {},
  audit: () => {},
});
await dispatcher.start();
const commands = Array.from({ length: Number(count) }, async (_, place) => {
  const id = `c${place}`;
  const outcome = await dispatcher.submit(
    {
      source,
      requestId: id,
      operation: "Move",
      effect: "moves",
      robotId: null,
      requestJson: JSON.stringify({ robot: `r${place % 7}`, id }),
      startByMs: Date.now() + 60_000,
    },
    new AbortController().signal,
  );
  writeSync(told, `${id} ${outcome.outcome}\n`);
});
await Promise.all(commands);
await dispatcher.close(1_000);
process.disconnect();
