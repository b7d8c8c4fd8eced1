import type { Batch, EventSubscribers, Link } from "../../src/contracts/link.ts";
import { short } from "./fake-state.ts";

/** A server in memory that refuses, breaks and stalls on demand. */
export interface InMemoryLink extends Link {
  /** What the server holds, in short. */
  readonly received: string[];
  readonly counts: { connects: number; attempts: number; disposals: number; mostAtOnce: number };
  /** How the server treats connections and writes. */
  behaviour: "serves" | "refuses" | "stalls" | "fails_writes";
  /** Events that the server does not take now. */
  readonly notTaken: Set<string>;
  /** Who takes events, from the next connection on; undefined: the server. */
  subscribers: EventSubscribers | undefined;
  /** Ends the open connection. */
  breakOff(cause: string): void;
  /** Tells that the open connection would rather be another. */
  moveOn(): void;
  /** Lets writes that stalled go on. */
  resume(): void;
}

export function createInMemoryLink(name = "mqtt"): InMemoryLink {
  const received: string[] = [];
  const counts = { connects: 0, attempts: 0, disposals: 0, mostAtOnce: 0 };
  let stalled: Array<() => void> = [];
  let breakOff: (cause: Error) => void = () => {};
  let moveOn: () => void = () => {};
  let writing = 0;

  async function write(batch: Batch): Promise<number> {
    writing += 1;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, writing);
    try {
      if (link.behaviour === "fails_writes") throw new Error("write refused");
      if (link.behaviour === "stalls") await new Promise<void>((resolve) => stalled.push(resolve));
      const missing = batch.events.findIndex(({ eventId }) => link.notTaken.has(eventId));
      const events = missing === -1 ? batch.events : batch.events.slice(0, missing);
      received.push(...short({ ...batch, events }));
      return events.length;
    } finally {
      writing -= 1;
    }
  }

  const link: InMemoryLink = {
    name,
    received,
    counts,
    behaviour: "serves",
    notTaken: new Set(),
    subscribers: undefined,
    async connect() {
      counts.attempts += 1;
      if (link.behaviour === "refuses") throw new Error("connection refused");
      counts.connects += 1;
      const lost = new Promise<Error>((resolve) => {
        breakOff = resolve;
      });
      const movesOn = new Promise<void>((resolve) => {
        moveOn = resolve;
      });
      return {
        write,
        lost,
        movesOn,
        ...(link.subscribers === undefined ? {} : { subscribers: link.subscribers }),
        async [Symbol.asyncDispose]() {
          counts.disposals += 1;
        },
      };
    },
    moveOn: () => moveOn(),
    breakOff: (cause) => breakOff(new Error(cause)),
    resume() {
      for (const go of stalled) go();
      stalled = [];
    },
  };
  return link;
}
