import { mkdirSync } from "node:fs";
import { describeError, type Log } from "../../platform/log.ts";
import { openStore, type Store } from "../../platform/store.ts";
import { createDurableTicketStore } from "./commands/durable-ticket-store.ts";
import type { TicketStore } from "./commands/ticket-store.ts";
import { openRobotRegister, type RobotRegister } from "./robot-register.ts";

/** What the server must know again after a restart. */
export interface Memory {
  readonly tickets: TicketStore;
  readonly robots: RobotRegister;
  /** Waits for what is being written. What comes after is refused. */
  close(): Promise<void>;
}

/**
 * Opens `folder` (made when it is missing) as an environment of its own. Where it cannot be used, tags are shown all the
 * same, and slots take nothing but stops: never rejects, never throws.
 */
export function openMemory(folder: string, log: Log): Memory {
  const store = watched(openOrBroken(folder, log), log);
  return { tickets: createDurableTicketStore(store), robots: openRobotRegister(store), close: store.close };
}

function openOrBroken(folder: string, log: Log): Store {
  try {
    makeFolder(folder);
    return openStore(folder);
  } catch (error) {
    log.error(
      { folder, cause: describeError(error) },
      "the tickets of slots cannot be read: slots take stops only",
    );
    return brokenStore(error);
  }
}

/** The store itself makes what a full disk did not take, as soon as there is room. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}

function brokenStore(cause: unknown): Store {
  return {
    get() {
      throw cause;
    },
    range: () => [],
    write: () => Promise.reject(cause),
    figures: () => ({ records: 0, syncs: 0, failures: 0 }),
    close: () => Promise.resolve(),
  };
}

/** Logs when the disk begins to fail, and when it is well again. */
function watched(store: Store, log: Log): Store {
  let failing = false;
  let closed = false;
  return {
    ...store,
    async write(changes) {
      try {
        await store.write(changes);
        if (failing) log.info({}, "the tickets of slots are kept again");
        failing = false;
      } catch (error) {
        if (!failing && !closed) {
          log.error(
            { cause: describeError(error) },
            "the tickets of slots cannot be kept: slots take stops only",
          );
        }
        failing = true;
        throw error;
      }
    },
    close() {
      closed = true;
      return store.close();
    },
  };
}
