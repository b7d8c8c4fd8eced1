import type { QueuedEvent } from "../../../src/delivery/event-queue.ts";
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

/** An outbox on a disk that syncs, fails or hangs on demand, and that crashes and starts again. */
export function createOutboxScene(options: Partial<typeof usual> = {}) {
  const clock = createManualClock();
  const disk = createLossyDisk();
  let isFailing = false;
  let runs = 0;
  let box: Outbox;
  let life = new AbortController();
  /** What the file of the running time says: a crash loses what it does not say yet. */
  let keptMs = 0;
  let time = createRunningTime(0, clock);

  function storeOf(): Store {
    const store = disk.open();
    return {
      ...store,
      write: (changes) =>
        isFailing ? Promise.reject(new StoreFailed("the disk is full")) : store.write(changes),
    };
  }

  async function start(): Promise<void> {
    runs += 1;
    time = createRunningTime(keptMs, clock);
    const parts = { options: { ...usual, ...options }, clock, time, log: silentLog };
    box = await openOutbox({ ...parts, store: storeOf(), sessionId: `run${runs}` });
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
    /** Everything that was queued is on the disk, and may be handed over. */
    async sync() {
      for (let step = 0; step < 4; step += 1) {
        await turns();
        disk.sync();
      }
      await turns();
    },
    /** What was released leaves the disk. */
    async tidy() {
      for (let step = 0; step < 2; step += 1) {
        await clock.settle(100);
        disk.sync();
        await turns();
      }
    },
    fail(is: boolean) {
      isFailing = is;
    },
    runningMs: () => time.totalMs(),
    /** The running time is kept, as it is every few minutes. */
    keepTime() {
      keptMs = time.totalMs();
    },
    async crash() {
      disk.crash();
      await start();
    },
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
      box.stateIsTold();
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
