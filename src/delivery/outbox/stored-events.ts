import type { FleetEvent } from "../../domain/event.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Store } from "../../platform/store.ts";
import { RecordDamaged } from "../../platform/stores/record-seal.ts";
import { dropEvent } from "./drop-book.ts";
import type { Entry } from "./entry.ts";
import { EVENTS, eventKey, numberOf, type StoredEvent } from "./records.ts";

/** Reads events from the store. */
export interface StoredEvents {
  /** Those of earlier runs, in order, in turns. @throws RecordDamaged */
  readAll(take: (number: number, stored: StoredEvent) => void): Promise<void>;
  /** The event of an entry, with its marks. One that cannot be read is told of as dropped, in its place. */
  of(entry: Entry): FleetEvent;
  /** How many could not be read. */
  readonly damaged: number;
}

/** Read in one turn of the event loop at a start. */
const READ_AT_ONCE = 2_000;

/** @param sessionId names this run */
export function openStoredEvents(store: Store, sessionId: string, clock: Clock): StoredEvents {
  let damaged = 0;

  function read({ number }: Entry): FleetEvent {
    const record = store.get(eventKey(number));
    if (record === undefined) throw new RecordDamaged("a record is missing");
    const [, seenBy, event] = record as StoredEvent;
    return { ...event, historical: true, ...(seenBy === sessionId ? {} : { sessionId: seenBy }) };
  }

  function tellDamaged({ key: cause, isOfCommand: isOfCommands, atMs }: Entry): FleetEvent {
    damaged += 1;
    const eventId = `${sessionId}.x${damaged}`;
    const times = { fromMs: atMs, toMs: atMs, atMs: clock.nowMs() };
    return dropEvent({ eventId, cause, isOfCommands, reason: "damaged", count: 1, ...times, sessionId });
  }

  return {
    async readAll(take) {
      let { from } = EVENTS;
      for (;;) {
        const records = [...store.range({ from, to: EVENTS.to, limit: READ_AT_ONCE })];
        for (const { key, value } of records) take(numberOf(key), value as StoredEvent);
        if (records.length < READ_AT_ONCE) return;
        from = `${records.at(-1)?.key}\0`;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    of(entry) {
      if (entry.event !== null) return entry.isHistory ? { ...entry.event, historical: true } : entry.event;
      try {
        return read(entry);
      } catch (error) {
        if (!(error instanceof RecordDamaged)) throw error;
        return tellDamaged(entry);
      }
    },
    get damaged() {
      return damaged;
    },
  };
}
