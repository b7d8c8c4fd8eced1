import type { FleetEvent } from "../../domain/event.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Store } from "../../platform/store.ts";
import { RecordDamaged } from "../../platform/stores/record-seal.ts";
import { dropEvent } from "./drop-registry.ts";
import type { Entry } from "./lines.ts";
import { EVENTS, eventKey, numberOf, type StoredEvent } from "./records.ts";

/** Reads events from the store. */
export interface StoredEvents {
  /**
   * Reads the events of earlier runs, merged with those of the log that the store lacks: in order, in turns.
   *
   * @throws RecordDamaged
   */
  readAll(logged: LoggedEvents, take: TakeStored): Promise<void>;
  /** The event of an entry, with its marks. One that cannot be read is replaced by a report of its loss. */
  of(entry: Entry): FleetEvent;
  /** How many could not be read. */
  readonly damaged: number;
}

/** By number. */
type LoggedEvents = ReadonlyMap<number, StoredEvent>;

type TakeStored = (number: number, stored: StoredEvent, isStored: boolean) => void;

/** How many are read in one turn of the event loop at a start. */
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

  function reportDamaged({ key: cause, isOfCommand: isOfCommands, atMs }: Entry): FleetEvent {
    damaged += 1;
    const eventId = `${sessionId}.x${damaged}`;
    const times = { fromMs: atMs, toMs: atMs, atMs: clock.nowMs() };
    return dropEvent({ eventId, cause, isOfCommands, reason: "damaged", count: 1, ...times, sessionId });
  }

  return {
    async readAll(logged, take) {
      const others = [...logged].sort(([one], [other]) => one - other);
      let index = 0;
      function takeLogged(before: number): void {
        for (let other = others[index]; other !== undefined && other[0] <= before; other = others[index]) {
          index += 1;
          if (other[0] < before) take(other[0], other[1], false);
        }
      }
      let { from } = EVENTS;
      for (;;) {
        const records = [...store.range({ from, to: EVENTS.to, limit: READ_AT_ONCE })];
        for (const { key, value } of records) {
          takeLogged(numberOf(key));
          take(numberOf(key), value as StoredEvent, true);
        }
        if (records.length < READ_AT_ONCE) break;
        from = `${records.at(-1)?.key}\0`;
        await new Promise((resolve) => setImmediate(resolve));
      }
      takeLogged(Number.POSITIVE_INFINITY);
    },
    of(entry) {
      if (entry.event !== null) return entry.isHistory ? { ...entry.event, historical: true } : entry.event;
      try {
        return read(entry);
      } catch (error) {
        if (!(error instanceof RecordDamaged)) throw error;
        return reportDamaged(entry);
      }
    },
    get damaged() {
      return damaged;
    },
  };
}
