import type { Client } from "@grpc/grpc-js";
import type { Clock } from "../../platform/clock.ts";
import type { Connection } from "./connection.ts";

/**
 * What is known when a call is over. `answered`: the service has answered it, so that all that was asked
 * before has arrived. `unanswered`: it was given up, or has not left. `late`: it was given up, and must not
 * arrive any more if it has not yet.
 */
export type CallFate = "answered" | "unanswered" | "late";

/** The right to one call on a connection that is READY. */
export interface CallPermit {
  readonly client: Client;
  /** The call is over. Call it once. */
  release(fate: CallFate): void;
}

/** A call that wants a permit. */
export interface Caller {
  readonly isStop: boolean;
  /** Names the robot of the call: a stop follows a start of its robot on the same connection. */
  readonly robot?: string | undefined;
}

/** A connection on which calls are made. */
export interface CallConnection {
  readonly client: Client;
  /** The number of calls on it now. */
  inUse(): number;
  /** Whether it has had a call since the last question. */
  wasUsed(): boolean;
  /** Something else is asked now. Call what it returns when the service has answered that. */
  ask(): () => void;
  /** Whether the service has answered the call with this number, or something that was asked after it. */
  hasAnswered(number: number): boolean;
  /** Gives it no calls from this moment on. */
  remove(): void;
}

/**
 * How many calls the open connections can take. The server allows a number of calls on each at once. A
 * further call would wait inside the connection, out of reach, and leave when it is no longer wanted.
 */
export interface CallCapacity {
  /** A permit, after waiting for it at most `waitMs`. A text: why there is none. */
  acquire(caller: Caller, waitMs: number): Promise<CallPermit | string>;
  /** Uses this connection for calls too, from now on. */
  add(connection: AddedConnection): CallConnection;
  /** How many calls wait for a permit. */
  waiting(): number;
  /** Ends the waiting of all calls. */
  giveUp(): void;
  figures(): { readonly connections: number; readonly calls: number };
}

export interface CallCapacityParts {
  readonly clock: Clock;
  /** Why there is no connection. */
  readonly problem: () => string;
  /** A call waits because the open connections are full; it goes on waiting. */
  readonly onShort: () => void;
}

interface AddedConnection extends Pick<Connection, "client" | "streamLimit"> {
  /** The call with this number was given up, and nothing shows that the service has received it. */
  readonly onLate: (number: number) => void;
}

/** How many calls on a connection are reserved for stops: one in ten at most. */
const KEPT_FOR_STOPS = 20;

interface Entry {
  readonly client: Client;
  readonly onLate: AddedConnection["onLate"];
  readonly limit: number;
  readonly keptForStops: number;
  inUse: number;
  wasUsed: boolean;
  /** Numbers what was asked on it. */
  asked: number;
  /** The service has answered what has this number: all that was asked before has arrived. */
  answered: number;
}

interface Waiter {
  readonly caller: Caller;
  readonly settle: (found: CallPermit | string) => void;
}

export function createCallCapacity({ clock, problem, onShort }: CallCapacityParts): CallCapacity {
  const open = new Set<Entry>();
  // Whether there is capacity depends on nothing else of a caller: only the first of each kind is looked at.
  const waiting = { stops: new Set<Waiter>(), others: new Set<Waiter>() };
  /** The connection on which a robot's start is under way: on another one, a stop might arrive before it. */
  const starts = new Map<string, Entry>();
  let calls = 0;

  function take({ isStop, robot }: Caller): CallPermit | null {
    const before = isStop && robot !== undefined ? starts.get(robot) : undefined;
    for (const connection of before !== undefined && open.has(before) ? [before, ...open] : open) {
      if (connection.inUse < connection.limit - (isStop ? 0 : connection.keptForStops)) {
        return permitOn(connection, isStop ? undefined : robot);
      }
    }
    return null;
  }

  function permitOn(connection: Entry, started: string | undefined): CallPermit {
    connection.inUse += 1;
    connection.wasUsed = true;
    connection.asked += 1;
    const number = connection.asked;
    calls += 1;
    if (started !== undefined) starts.set(started, connection);
    return {
      client: connection.client,
      release(fate) {
        connection.inUse -= 1;
        if (open.has(connection)) calls -= 1;
        if (started !== undefined && starts.get(started) === connection) starts.delete(started);
        if (fate === "answered") connection.answered = Math.max(connection.answered, number);
        if (fate === "late" && connection.answered < number) connection.onLate(number);
        admit();
      },
    };
  }

  const waitingCalls = () => waiting.stops.size + waiting.others.size;

  /** Stops first, then the call that has waited longest. */
  function admit(): void {
    for (const waiters of [waiting.stops, waiting.others]) {
      for (const { caller, settle } of waiters) {
        const permit = take(caller);
        if (permit === null) break;
        settle(permit);
      }
    }
    if (waitingCalls() > 0) onShort();
  }

  function whyNone(): string {
    if (open.size === 0) return `no connection to the service: ${problem()}`;
    return `${calls} calls are under way, and the service takes no more at once`;
  }

  function remove(connection: Entry): void {
    if (!open.delete(connection)) return;
    calls -= connection.inUse;
    admit();
  }

  return {
    acquire(caller, waitMs) {
      const permit = take(caller);
      if (permit !== null) return Promise.resolve(permit);
      const waiters = caller.isStop ? waiting.stops : waiting.others;
      const waited = wait(waiters, caller, (settle) => clock.after(waitMs, () => settle(whyNone())));
      onShort();
      return waited;
    },
    add(added) {
      const connection = entryOf(added);
      open.add(connection);
      admit();
      return {
        client: connection.client,
        inUse: () => connection.inUse,
        wasUsed() {
          const { wasUsed } = connection;
          connection.wasUsed = connection.inUse > 0;
          return wasUsed;
        },
        ask() {
          connection.asked += 1;
          const number = connection.asked;
          return () => {
            connection.answered = Math.max(connection.answered, number);
          };
        },
        hasAnswered: (number) => connection.answered >= number,
        remove: () => remove(connection),
      };
    },
    waiting: waitingCalls,
    giveUp() {
      for (const { settle } of [...waiting.stops, ...waiting.others]) settle(whyNone());
    },
    figures: () => ({ connections: open.size, calls }),
  };
}

function entryOf({ client, streamLimit, onLate }: AddedConnection): Entry {
  return {
    client,
    onLate,
    asked: 0,
    answered: 0,
    // One stream is reserved for pings: without it, a full connection would seem dead.
    limit: Math.max(1, streamLimit - 1),
    keptForStops: Math.min(KEPT_FOR_STOPS, Math.floor(streamLimit / 10)),
    inUse: 0,
    wasUsed: true,
  };
}

/** Waits among `waiters` until it is settled. `startTimer` returns a function that cancels the timer. */
function wait(
  waiters: Set<Waiter>,
  caller: Caller,
  startTimer: (settle: Waiter["settle"]) => () => void,
): Promise<CallPermit | string> {
  return new Promise((resolve) => {
    const waiter: Waiter = {
      caller,
      settle(found) {
        waiters.delete(waiter);
        cancel();
        resolve(found);
      },
    };
    const cancel = startTimer(waiter.settle);
    waiters.add(waiter);
  });
}
