import { createDurableTicketStore } from "../../../src/northbound/opcua/commands/ticket-store.ts";
import { openAcknowledgedAlarms } from "../../../src/northbound/opcua/conditions/acknowledged-alarms.ts";
import type { OpcUaStore } from "../../../src/northbound/opcua/opcua-store.ts";
import { openRobotRegister } from "../../../src/northbound/opcua/robot-register.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { type KeyedStore, StoreFailed } from "../../../src/platform/store.ts";
import { createLmdbStore } from "../../../src/platform/stores/lmdb-store.ts";
import { createMemoryDisk } from "../../support/memory-tables.ts";

/** A disk of which a test says what it does. */
export interface FakeDisk {
  /** The memory as a server opens it after a start. */
  open(): OpcUaStore;
  /** What writes do from now on: `hang` are those that nobody hears of again. */
  behave(how: "well" | "failing" | "hanging"): void;
  /** Writes that hang. */
  hanging(): number;
  /** Writes that hang come through, in their order. */
  release(): void;
  /** What lies under a key; written by a test to spoil it. */
  readonly records: Map<string, unknown>;
}

export function createFakeDisk(): FakeDisk {
  const records = new Map<string, unknown>();
  let held: Array<() => void> = [];
  const tables = createMemoryDisk();
  let how: "well" | "failing" | "hanging" = "well";
  const store: KeyedStore = {
    get: (key) => records.get(key),
    range: () => [],
    keys: () => [],
    async write(changes) {
      if (how === "hanging") await new Promise<void>((resolve) => held.push(resolve));
      if (how === "failing") {
        const cause = new Error("the disk is full: 0.3 MB free, at least 8.0 are needed");
        throw new StoreFailed("cannot write to slots", { cause });
      }
      for (const { key, value } of changes) records.set(key, JSON.parse(JSON.stringify(value)));
    },
    figures: () => ({ records: 0, syncs: 0, failures: 0, slowestMs: 0 }),
    close: () => Promise.resolve(),
  };
  return {
    open: () => ({
      tickets: createDurableTicketStore(createLmdbStore(store, silentLog)),
      ticketsLost: null,
      robots: openRobotRegister(tables.open()),
      acknowledged: openAcknowledgedAlarms(tables.open()),
      close: store.close,
    }),
    behave(next) {
      how = next;
    },
    hanging: () => held.length,
    release() {
      const released = held;
      held = [];
      for (const resolve of released) resolve();
    },
    records,
  };
}
