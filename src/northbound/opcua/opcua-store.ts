import { describeError } from "../../platform/error-text.ts";
import type { Log } from "../../platform/log.ts";
import { brokenStore, type KeyedStore, StoreFailed } from "../../platform/store.ts";
import { openKeptStore } from "../../platform/stores/kept-store.ts";
import { createLmdbStore } from "../../platform/stores/lmdb-store.ts";
import type { StoreFormat, StoreLoss } from "../../platform/stores/store-marks.ts";
import { replacement, type TableStore } from "../../platform/stores/table-store.ts";
import type { WriteBehind } from "../../platform/stores/write-behind.ts";
import { createDurableTicketStore, TICKETS, type TicketStore } from "./commands/ticket-store.ts";
import { type AcknowledgedAlarms, openAcknowledgedAlarms } from "./conditions/acknowledged-alarms.ts";
import { openRobotRegister, type RobotRegister } from "./robot-register.ts";

/** A new version needs the step from the old one in platform/stores/kept-store.ts. */
export const ticketsFormat: StoreFormat = { store: "slots", version: 3 };

/** The data of the server that survive a restart. */
export interface OpcUaStore {
  /** While tickets are lost, `load` throws and `save` rejects: slots take only stops. */
  readonly tickets: TicketStore;
  /** Since when and why tickets are lost; null: they are not, or an operator has confirmed it. */
  readonly ticketsLost: StoreLoss | null;
  readonly robots: RobotRegister;
  readonly acknowledged: AcknowledgedAlarms;
  /** Shares what operators decide on clients in the store in this folder; absent: there is no cluster. */
  readonly shareClients?: ((folder: string, signal: AbortSignal) => void) | undefined;
  /** Waits for the writes under way. Refuses later ones. */
  close(): Promise<void>;
}

/**
 * Opens the stores of a server. If the tickets cannot be used, tags are shown all the same, and slots take
 * only stops: never rejects, never throws.
 *
 * @param ticketsFolder the store of tickets, which prepareStore has made
 * @param tables those that have the robots, and the alarms that were acknowledged
 * @param loss what prepareStore has found; after the operator's confirmation each slot begins as a new one
 * @param shared the tickets of a cluster, in place of that store; null: there is none
 */
export function openMemory(
  ticketsFolder: string,
  tables: WriteBehind,
  log: Log,
  loss: StoreLoss | null = null,
  shared: TicketStore | null = null,
): OpcUaStore {
  const kept = { robots: openRobotRegister(tables), acknowledged: openAcknowledgedAlarms(tables) };
  if (shared !== null) return { tickets: shared, ticketsLost: null, ...kept, close: () => Promise.resolve() };
  const records = watched(openOrBroken(ticketsFolder, log), log);
  const store = createLmdbStore(records, log);
  if (loss !== null) removeTickets(store, log);
  return {
    tickets: loss === null ? createDurableTicketStore(store) : lostTickets(loss),
    ticketsLost: loss,
    ...kept,
    close: records.close,
  };
}

/**
 * Removes all tickets from a store: with a lost journal, an old ticket would be reported as never sent. The
 * loss stays until an operator confirms it, and each start until then tries again what fails now.
 */
export function removeTickets(store: TableStore, log: Log): void {
  store.write(replacement(store, { [TICKETS]: {} })).catch((error: unknown) => {
    log.error(
      { cause: describeError(error) },
      "sequence numbers that are lost cannot be removed: start the gateway again before fleetgate journal reset",
    );
  });
}

function lostTickets({ since, reason }: StoreLoss): TicketStore {
  const failure = () =>
    new StoreFailed(
      `lost since ${since} (${reason}); an operator confirms that with fleetgate journal reset`,
    );
  return {
    keepWithinMs: 0,
    load() {
      throw failure();
    },
    save: () => Promise.reject(failure()),
  };
}

function openOrBroken(folder: string, log: Log): KeyedStore {
  try {
    return openKeptStore(folder, ticketsFormat);
  } catch (error) {
    log.error(
      { folder, cause: describeError(error) },
      "the sequence numbers of slots cannot be read: slots take stops only",
    );
    return brokenStore(error);
  }
}

/** Logs when the disk begins to fail, and when it works again. */
function watched(store: KeyedStore, log: Log): KeyedStore {
  let failing = false;
  let closed = false;
  return {
    ...store,
    async write(changes) {
      try {
        await store.write(changes);
        if (failing) log.info({}, "the sequence numbers of slots are kept again");
        failing = false;
      } catch (error) {
        if (!failing && !closed) {
          log.error(
            { cause: describeError(error) },
            "the sequence numbers of slots cannot be kept: slots take stops only",
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
