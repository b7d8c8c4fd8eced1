// A process that is killed: the built dispatcher on a real journal, sending commands to
// a "service" that is a file. What is appended to a file survives the kill, as what
// has left on a socket would.
import { openSync, writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { createDispatcher } from "../../../.build/commands/dispatcher.js";
import { createIntake } from "../../../.build/commands/intake/intake.js";
import { openDurableJournal } from "../../../.build/commands/journal/durable-journal.js";
import { dispatcherDefaults, intakeDefaults } from "../../../.build/commands/options.js";
import { systemClock } from "../../../.build/platform/clock.js";
import { createLive } from "../../../.build/platform/live.js";
import { silentLog } from "../../../.build/platform/log.js";
import { createRunningTime } from "../../../.build/platform/running-time.js";
import { openStore } from "../../../.build/platform/store.js";
import { createLmdbStore } from "../../../.build/platform/stores/lmdb-store.js";

const [directory, count, life, seed, defect, end] = process.argv.slice(2);
const service = openSync(`${directory}/service`, "a");
const told = openSync(`${directory}/told`, "a");
const source = { protocol: "cli", name: "me" };
/** A planted defect: what was written is called synced before it is even written. */
const LIE_MS = 50;
const store = openStore(`${directory}/journal`);
const late = [];
const lying = {
  ...store,
  write(changes) {
    late.push(wait(LIE_MS).then(() => store.write(changes)));
    return Promise.resolve();
  },
  async close() {
    await Promise.all(late);
    await store.close();
  },
};
let state = Number(seed);
/** The same at each run of a seed (Park and Miller). */
function chance() {
  state = (state * 48_271) % 2_147_483_647;
  return state / 2_147_483_647;
}

const move = {
  name: "Move",
  role: "operator",
  parse: (json) => ({
    ok: true,
    request: {
      json: JSON.stringify(json),
      payload: json,
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

const rights = createLive({ rules: [{ source, role: "operator" }], accounts: [] });
const catalogue = new Map([[move.name, move]]);
const dispatcher = createDispatcher({
  config: { options: { ...dispatcherDefaults, maxQueue: 1_000 }, rights, stations: createLive([]) },
  fleet: {
    catalogue,
    port: {
      async call({ id }) {
        writeSync(service, `${id}\n`);
        process.send?.("sent");
        await wait(chance() * 3);
        return { kind: "ok", responseJson: "{}", missionId: null };
      },
    },
    robot: (robotId) => ({ robotId, family: "cart", quality: "good" }),
    stopRequest: () => ({ operation: move.name, request: {} }),
  },
  journal: openDurableJournal(
    createLmdbStore(defect === "sync" ? lying : store, silentLog),
    { keepMs: 3_600_000, keepCount: 100_000 },
    createRunningTime(0, systemClock),
  ),
  earlierRuns: {},
  outputs: { deliver() {}, audit() {} },
  clock: systemClock,
  log: silentLog,
  sessionId: life,
});
const intake = createIntake({
  options: intakeDefaults,
  rights,
  catalogue,
  execution: dispatcher,
  audit: () => {},
  clock: systemClock,
  log: silentLog,
});
await dispatcher.start();
const commands = Array.from({ length: Number(count) }, async (_, place) => {
  const id = `c${place}`;
  const outcome = await intake.submit(
    {
      source,
      requestId: id,
      operation: "Move",
      request: { json: { robot: `r${place % 7}`, id } },
      expiry: { withinMs: 60_000 },
    },
    null,
  );
  writeSync(told, `${id} ${outcome.outcome}\n`);
});
await Promise.all(commands);
// On a busy machine the one who kills it comes late.
if (end === "killed") await new Promise(() => setInterval(() => {}, 60_000));
await dispatcher.close(1_000);
if (process.connected) process.disconnect();
