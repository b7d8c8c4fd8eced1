import type { Command, CommandStage } from "../../../src/domain/command.ts";
import { ending, type Outcome, refusal } from "../../../src/domain/outcome.ts";
import { shownNextId, type TicketState } from "../../../src/domain/ticket.ts";
import { createDurableTicketStore } from "../../../src/northbound/opcua/commands/durable-ticket-store.ts";
import { createSlot, type Slot } from "../../../src/northbound/opcua/commands/slot.ts";
import type { Writer } from "../../../src/northbound/opcua/commands/slot-parts.ts";
import { silentLog } from "../../../src/platform/log.ts";
import type { Store } from "../../../src/platform/store.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { fakeCatalogue } from "./fake-commands.ts";

const account = { name: "line1", role: "operator", confirms: false } as const;

/** A command under way in one life of the gateway. */
interface Flight {
  readonly wish: number;
  readonly id: string;
  stage: "received" | CommandStage;
  readonly onStage: (stage: CommandStage) => void;
  readonly end: (outcome: Outcome) => void;
}

/** What the journal keeps: synced before anything is sent. */
interface Entry {
  readonly wish: number;
  wasSent: boolean;
  outcome: Outcome | null;
}

/** What a client reads of the slot. */
export interface Shown {
  tickets: TicketState;
  outcome: Outcome | null;
}

/** One slot of a gateway that crashes, with its disk, its journal and its robot. Nothing but time is faked away. */
export function createPlant() {
  const clock = createManualClock();
  const journal = new Map<string, Entry>();
  const records = new Map<string, unknown>();
  /** Wishes in the order in which the robot carried them out. */
  const executed: number[] = [];
  /** Request ids that were used for two commands, and outcomes that were shown with a ticket that is not theirs. */
  const defects: string[] = [];
  /** What was first shown with each ticket that was AcceptedId and DoneId. */
  const finals = new Map<number, string>();
  let unsynced: Array<{ apply(): void; resolve(): void }> = [];
  let flights: Flight[] = [];
  let life = 0;
  let sessions = 0;
  const connected = new Set<string>();
  let parameters = { wish: 0, isStop: false };
  let shown: Shown;
  let slot: Slot;
  let stop = new AbortController();

  function storeOf(own: number): Store {
    return {
      get: (key) => records.get(key),
      range: () => [],
      write: (changes) =>
        new Promise((resolve) => {
          if (own !== life) return;
          const text = JSON.stringify(changes);
          unsynced.push({ resolve, apply: () => JSON.parse(text).forEach(keep) });
        }),
      figures: () => ({ records: 0, syncs: 0, failures: 0 }),
      close: () => Promise.resolve(),
    };
  }
  function keep({ key, value }: { key: string; value: unknown }): void {
    records.set(key, value);
  }

  function submit(command: Command, _signal: AbortSignal, onStage: (stage: CommandStage) => void = () => {}) {
    const wish: number = JSON.parse(command.requestJson).wish;
    const known = journal.get(command.requestId);
    if (known !== undefined || flights.some(({ id }) => id === command.requestId)) {
      defects.push(`request id ${command.requestId} for ${wish} was used before`);
      return Promise.resolve(known?.outcome ?? refusal("IDENTITY_REUSED", ""));
    }
    return new Promise<Outcome>((end) => {
      flights.push({ wish, id: command.requestId, stage: "received", onStage, end });
    });
  }

  /** Clients see every state of the tags, also those between two calls of the slot. */
  function inspect({ tickets: { acceptedId, doneId }, outcome }: Shown): void {
    if (acceptedId === 0 || acceptedId !== doneId) return;
    const name = outcome?.outcome ?? "none";
    const first = finals.get(doneId) ?? name;
    finals.set(doneId, first);
    if (name === "none" || name !== first) defects.push(`ticket ${doneId} was ${first}, then ${name}`);
  }

  function start(): void {
    life += 1;
    shown = { tickets: { acceptedId: 0 } as TicketState, outcome: null };
    const mine = shown;
    const tags = {
      showTickets(tickets: TicketState) {
        mine.tickets = tickets;
        inspect(mine);
      },
      showWritten() {},
      showLatched() {},
      showStage() {
        mine.outcome = null;
        inspect(mine);
      },
      showOutcome(outcome: Outcome) {
        mine.outcome = outcome;
        inspect(mine);
      },
      showError() {},
    };
    const draft = () => ({
      operation: parameters.isStop ? "UpdateMission" : "CreateMission",
      request: { robotId: "r1", wish: parameters.wish },
      missionId: null,
    });
    stop = new AbortController();
    slot = createSlot(
      { path: "S", parameters: [], tags, draft, reads: () => [], draftOf: draft, follow() {} },
      {
        commander: { submit },
        records: { recall: async (_source, id) => journal.get(id)?.outcome ?? null },
        ledger: { knows: () => false, refused() {} },
        catalogue,
        tickets: createDurableTicketStore(storeOf(life)),
        epoch: `life ${life}`,
        startByMs: 10_000,
        destinations: new Map(),
        offersConfirm: false,
        clock,
        log: silentLog,
        signal: stop.signal,
      },
    );
  }
  start();

  return {
    clock,
    executed,
    defects,
    shown: () => shown,
    nextId: () => shownNextId(shown.tickets),
    /** A client's session, in the place of the one that it had before. */
    newSession(before?: Writer): Writer {
      sessions += 1;
      clock.advance(1);
      if (before !== undefined) connected.delete(before.sessionId);
      const sessionId = `session ${sessions}`;
      connected.add(sessionId);
      return { sessionId, sinceMs: clock.nowMs(), isConnected: (id) => connected.has(id), account };
    },
    /** One write request: what is wanted, and the ticket. */
    write: (writer: Writer, wish: number | null, number: number, isStop = false) => {
      if (wish !== null) parameters = { wish, isStop };
      return slot.request(number, { kind: "request" }, writer);
    },
    tick: () => slot.tick(),
    sessionBegan: () => slot.sessionBegan(account.name),
    sync(): void {
      const synced = unsynced;
      unsynced = [];
      for (const { apply, resolve } of synced) {
        apply();
        resolve();
      }
    },
    /** The oldest or newest command goes one step on: journaled, sent, or ended as `how` says. */
    advance(how: "succeeded" | "refused" | "unknown" | "never journaled", which: 0 | -1): void {
      const flight = flights.at(which);
      if (flight === undefined) return;
      const end = () => {
        flights = flights.filter((other) => other !== flight);
      };
      const entry = journal.get(flight.id);
      if (entry === undefined && how === "never journaled") {
        end();
        flight.end(refusal("JOURNAL_FAILED", ""));
      } else if (entry === undefined) {
        journal.set(flight.id, { wish: flight.wish, wasSent: false, outcome: null });
        flight.onStage("accepted");
      } else if (!entry.wasSent) {
        entry.wasSent = true;
        flight.onStage("sent");
        if (how !== "refused") executed.push(flight.wish);
      } else {
        end();
        const isDone = executed.includes(flight.wish);
        entry.outcome = isDone && how === "succeeded" ? done : isDone ? notKnown : refusal("ABORTED", "");
        flight.end(entry.outcome);
      }
    },
    /** What was not synced is gone; the journal says what became of what it has. */
    crash(): void {
      stop.abort();
      unsynced = [];
      flights = [];
      for (const entry of journal.values()) entry.outcome ??= entry.wasSent ? notKnown : expired;
      clock.advance(1);
      start();
    },
  };
}

export type Plant = ReturnType<typeof createPlant>;

const stopping = fakeCatalogue("stops").get("UpdateMission");
const catalogue = new Map(fakeCatalogue());
if (stopping !== undefined) catalogue.set("UpdateMission", stopping);
const done = ending("succeeded", "OK", "", true);
const notKnown = ending("unknown", "OUTCOME_UNKNOWN", "", false);
const expired = ending("expired", "EXPIRED", "", true);
