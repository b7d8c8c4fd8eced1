import type { QueuedEvent } from "../../../src/delivery/event-queue.ts";
import type { EventLog, LogLine } from "../../../src/delivery/outbox/event-log.ts";
import { type Outbox, openOutbox } from "../../../src/delivery/outbox/outbox.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import { refusal } from "../../../src/domain/outcome.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createRunningTime } from "../../../src/platform/running-time.ts";
import { type Store, StoreFailed } from "../../../src/platform/store.ts";
import { createLossyDisk } from "../../commands/lossy-store.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { alarmEvent } from "../../support/test-alarms.ts";

const usual = { maxEvents: 1_000, maxAgeMs: 3_600_000, replayRate: 100_000 };

/** An outbox on a disk that syncs, fails or hangs on demand, and that is killed and starts again. */
export function createOutboxScene(options: Partial<typeof usual> = {}) {
  const clock = createManualClock();
  const disk = createLossyDisk();
  const logFiles = createLossyLog();
  let isFailing = false;
  let writes = 0;
  let runs = 0;
  let box: Outbox;
  let life = new AbortController();
  /** What the file of the running time says: a crash loses what it does not say yet. */
  let keptMs = 0;
  let time = createRunningTime(0, clock);
  /** The fields of each line of the log that reports an error. */
  const errors: object[] = [];
  const log = { ...silentLog, error: (fields: object) => void errors.push(fields) };

  function storeOf(): Store {
    const store = disk.open();
    return {
      ...store,
      write(changes) {
        writes += 1;
        return isFailing ? Promise.reject(new StoreFailed("the disk is full")) : store.write(changes);
      },
    };
  }

  async function start(): Promise<void> {
    runs += 1;
    time = createRunningTime(keptMs, clock);
    const parts = { options: { ...usual, ...options }, clock, time, log };
    box = await openOutbox({
      ...parts,
      store: storeOf(),
      eventLog: logFiles.open(() => isFailing),
      sessionId: `run${runs}`,
    });
    life = new AbortController();
    running = box.run(life.signal, () => {});
  }

  let running: Promise<void> = Promise.resolve();

  /** Promises settle, without time. */
  async function turns(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  return {
    clock,
    disk,
    start,
    turns,
    get box() {
      return box;
    },
    /** Everything that was queued is logged, and may be handed over; the store has what it was given. */
    async sync() {
      for (let step = 0; step < 4; step += 1) {
        await turns();
        disk.sync();
      }
      await turns();
    },
    /** 100 ms pass: what still waits is in the store, and the log has what was released. */
    async tidy() {
      for (let step = 0; step < 2; step += 1) {
        await clock.settle(50);
        disk.sync();
        await turns();
      }
    },
    /** The store takes over what the log has. */
    async takeOver() {
      await clock.settle(600_000);
      for (let step = 0; step < 4; step += 1) {
        disk.sync();
        await turns();
      }
    },
    fail(is: boolean) {
      isFailing = is;
    },
    /** How often the store was written to: each time costs a disk of flash several pages and a sync. */
    storeWrites: () => writes,
    runningMs: () => time.totalMs(),
    /** The running time is kept, as it is every few minutes. */
    keepTime() {
      keptMs = time.totalMs();
    },
    /** `kill -9`: what was written survives, also without a sync. */
    async crash() {
      disk.crash();
      logFiles.crash();
      await start();
    },
    /** What was not synced is gone. */
    async cutPower() {
      disk.crash();
      logFiles.cutPower();
      await start();
    },
    hang(is: boolean) {
      logFiles.hang(is);
    },
    logSyncs: logFiles.syncs,
    errors,
    async stop() {
      life.abort();
      for (let step = 0; step < 6; step += 1) {
        await turns();
        disk.sync();
      }
      await running;
      keptMs = time.totalMs();
    },
    /** Connects, and has told all state. */
    open() {
      box.setOpen(true);
      box.stateIsPublished();
    },
    close: () => box.setOpen(false),
    /** What is handed over, in short; it has arrived. */
    take(most = 1_000): string[] {
      const held = box.peek(most);
      box.release(held);
      return held.map(short);
    },
  };
}

interface LossyFile {
  readonly number: number;
  readonly lines: LogLine[];
  synced: number;
}

/** Files that keep what was appended when the process ends, and lose what was not synced with the power. */
function createLossyLog() {
  let files: LossyFile[] = [];
  let starts = 0;
  let syncs = 0;
  let isHanging = false;
  let whenAnswered: Array<() => void> = [];

  function open(isFailing: () => boolean): EventLog {
    starts += 1;
    const start = starts;
    let number = 1;
    let size = 0;
    const current = () => files.find((file) => file.number === number);
    return {
      read(stored) {
        number = Math.max(stored, ...files.map((file) => file.number)) + 1;
        return Promise.resolve(files.flatMap((file) => (file.number > stored ? file.lines : [])));
      },
      async append(lines) {
        if (isHanging) await new Promise<void>((resolve) => whenAnswered.push(resolve));
        if (isFailing()) throw new Error("the disk is full");
        if (start !== starts) return new Promise(() => {});
        if (current() === undefined) files.push({ number, lines: [], synced: 0 });
        current()?.lines.push(...(JSON.parse(JSON.stringify(lines)) as LogLine[]));
        size += JSON.stringify(lines).length;
      },
      turn() {
        number += 1;
        size = 0;
        return number - 1;
      },
      async remove(upTo) {
        if (start === starts) files = files.filter((file) => file.number > upTo);
      },
      async sync() {
        const file = current();
        if (file === undefined || file.synced === file.lines.length) return;
        syncs += 1;
        file.synced = file.lines.length;
      },
      isGone: () => false,
      get bytes() {
        return size;
      },
      close: () => Promise.resolve(),
    };
  }

  return {
    open,
    syncs: () => syncs,
    hang(is: boolean) {
      isHanging = is;
      if (is) return;
      for (const answer of whenAnswered) answer();
      whenAnswered = [];
    },
    crash() {
      starts += 1;
      whenAnswered = [];
    },
    cutPower() {
      starts += 1;
      whenAnswered = [];
      for (const file of files) file.lines.length = file.synced;
    },
  };
}

/** `e1`, `e1 historical`, or `2 dropped`. */
export function short({ event }: QueuedEvent): string {
  const name = event.kind === "dropped" ? `${event.count} of ${event.robotId} dropped` : event.eventId;
  return event.historical === true && event.kind !== "dropped" ? `${name} historical` : name;
}

/** An event of a robot; which alarm it is does not matter here. */
export function alarm(eventId: string, robotId = "r1", atMs = 0): FleetEvent {
  return { ...alarmEvent(eventId, robotId), atMs };
}

/** The end of a command, with an answer of the service. */
export function command(requestId: string, atMs = 0): FleetEvent {
  return {
    kind: "command",
    eventId: requestId,
    robotId: "",
    atMs,
    command: { source: { protocol: "mqtt", name: "scada" }, requestId },
    operation: "GetOnlineRobots",
    from: "received",
    outcome: { ...refusal("QUEUE_FULL", ""), responseJson: "a long list" },
  };
}
