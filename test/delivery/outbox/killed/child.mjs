// A process that is killed: the built outbox on a real store. What it hands over is a line of a file: what
// is appended to a file survives the kill, as what has left on a socket would. A kill may come in the middle
// of a line, so a life begins with a new one, and a whole line ends with a full stop.
import { openSync, writeSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { openEventLog } from "../../../../.build/delivery/outbox/event-log.js";
import { openOutbox } from "../../../../.build/delivery/outbox/outbox.js";
import { outboxFormat } from "../../../../.build/delivery/outbox/records.js";
import { systemClock } from "../../../../.build/platform/clock.js";
import { silentLog } from "../../../../.build/platform/log.js";
import { createRunningTime } from "../../../../.build/platform/running-time.js";
import { openKeptStore, prepareStore } from "../../../../.build/platform/stores/kept-store.js";

const [directory, life, count, most] = process.argv.slice(2);
const arrived = openSync(`${directory}/arrived`, "a");
writeSync(arrived, "\n");
const folder = `${directory}/outbox`;
const loss = await prepareStore(folder, outboxFormat, {
  isExpected: Number(life) > 0,
  mustBeConfirmed: false,
  nowMs: Date.now(),
});
if (loss !== null) throw new Error(`life ${life}: ${loss.reason}`);
const options = { maxEvents: Number(most), maxAgeMs: 3_600_000, replayRate: 1_000_000 };
const time = createRunningTime(0, systemClock);
const parts = { options, sessionId: `life${life}`, clock: systemClock, time, log: silentLog };
const store = openKeptStore(folder, outboxFormat);
const box = await openOutbox({ ...parts, store, eventLog: openEventLog(folder) });
const stop = new AbortController();
const ran = box.run(stop.signal, () => {});

/** So many steps of the disk have some of the events, however slow it is. */
const FIRST_SYNCS = 3;
let isReady = false;
const isLast = count === "0";
let number = 0;
/** Connected for half of the time, and for all of the last life. */
for (let round = 0; isLast ? box.length > 0 : true; round += 1) {
  const robot = round % 5;
  for (let event = 0; event < Number(count); event += 1) {
    number += 1;
    const eventId = `${life}:${String(number).padStart(8, "0")}`;
    box.push({
      kind: "mission",
      eventId,
      robotId: `r${robot}`,
      atMs: Date.now(),
      missionId: `m${event % 7}`,
      from: null,
      to: "STATE_RUNNING",
      owner: "",
      command: null,
    });
  }
  if (isLast || round % 100 === 50) {
    box.setOpen(true);
    box.stateIsPublished();
  } else if (round % 100 === 0) box.setOpen(false);
  if (isLast || round % 100 > 50) {
    const held = box.peek(200);
    const lines = held.map(({ event }) =>
      event.kind === "dropped" ? `dropped ${event.count} .\n` : `${event.robotId} ${event.eventId} .\n`,
    );
    if (lines.length > 0) writeSync(arrived, lines.join(""));
    // Some are said to have arrived, and others come again.
    if (isLast || round % 3 > 0) box.release(held);
  }
  if (!isReady && box.health().figures.storeSyncs >= FIRST_SYNCS) {
    isReady = true;
    process.send("ready");
  }
  await turn();
}
stop.abort();
await ran;
