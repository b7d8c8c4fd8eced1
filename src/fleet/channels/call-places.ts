import type { Client } from "@grpc/grpc-js";
import type { Clock } from "../../platform/clock.ts";

/** A call's place on a connection that is READY. */
export interface Place {
  readonly client: Client;
  /** The call is over. Once. */
  free(): void;
}

/** Who wants a place. */
export interface Caller {
  readonly isStop: boolean;
  /** Names the robot that the call is about: a stop follows a start of it on the same connection. */
  readonly robot?: string | undefined;
}

/** A connection on which calls are made. */
export interface CallConnection {
  readonly client: Client;
  /** Calls on it now. */
  inUse(): number;
  /** Whether it has had a call since this was asked last. */
  wasUsed(): boolean;
  /** Gives it no call any more, from this moment on. */
  remove(): void;
}

/**
 * The places for calls on the connections that are open. The server takes so many at once on each and no more: what is
 * handed to a connection beyond that would wait in it, out of reach, and leave when nobody wants it any more.
 */
export interface CallPlaces {
  /** A place, waiting for it at most `waitMs`. A text: why there is none. */
  find(caller: Caller, waitMs: number): Promise<Place | string>;
  /** Calls are made on this one too, from now on. */
  add(client: Client, streamLimit: number): CallConnection;
  /** Calls that wait for a place. */
  waiting(): number;
  /** Ends the waiting of all. */
  giveUp(): void;
  figures(): { readonly connections: number; readonly calls: number };
}

export interface CallPlacesParts {
  readonly clock: Clock;
  /** Why there is no connection. */
  readonly problem: () => string;
  /** Somebody waits, and goes on waiting with the connections that there are. */
  readonly onShort: () => void;
}

/** Of the calls that the server takes on a connection: so many are left to stops, one in ten at most. */
const KEPT_FOR_STOPS = 20;

interface Connection {
  readonly client: Client;
  readonly limit: number;
  readonly keptForStops: number;
  inUse: number;
  wasUsed: boolean;
}

interface Waiter {
  readonly caller: Caller;
  readonly settle: (found: Place | string) => void;
}

export function createCallPlaces({ clock, problem, onShort }: CallPlacesParts): CallPlaces {
  const open = new Set<Connection>();
  const waiters = new Set<Waiter>();
  /** Where a robot's start is under way: on another connection, a stop might come before it. */
  const starts = new Map<string, Connection>();

  function take({ isStop, robot }: Caller): Place | null {
    const before = isStop && robot !== undefined ? starts.get(robot) : undefined;
    for (const connection of before !== undefined && open.has(before) ? [before, ...open] : open) {
      if (connection.inUse < connection.limit - (isStop ? 0 : connection.keptForStops)) {
        return placeOn(connection, isStop ? undefined : robot);
      }
    }
    return null;
  }

  function placeOn(connection: Connection, started: string | undefined): Place {
    connection.inUse += 1;
    connection.wasUsed = true;
    if (started !== undefined) starts.set(started, connection);
    return {
      client: connection.client,
      free() {
        connection.inUse -= 1;
        if (started !== undefined && starts.get(started) === connection) starts.delete(started);
        admit();
      },
    };
  }

  /** Stops first, then who waits longest. */
  function admit(): void {
    for (const isStop of [true, false]) {
      for (const { caller, settle } of waiters) {
        if (caller.isStop !== isStop) continue;
        const place = take(caller);
        if (place === null) break;
        settle(place);
      }
    }
    if (waiters.size > 0) onShort();
  }

  function calls(): number {
    return [...open].reduce((sum, { inUse }) => sum + inUse, 0);
  }

  function whyNone(): string {
    if (open.size === 0) return `no connection to the service: ${problem()}`;
    return `${calls()} calls are under way, and the service takes no more at once`;
  }

  return {
    find(caller, waitMs) {
      const place = take(caller);
      if (place !== null) return Promise.resolve(place);
      return new Promise((resolve) => {
        const waiter: Waiter = {
          caller,
          settle(found) {
            waiters.delete(waiter);
            cancel();
            resolve(found);
          },
        };
        const cancel = clock.after(waitMs, () => waiter.settle(whyNone()));
        waiters.add(waiter);
        admit();
      });
    },
    add(client, streamLimit) {
      const connection: Connection = {
        client,
        // One stream is left for the sign of life: without it, a connection that is full would seem dead.
        limit: Math.max(1, streamLimit - 1),
        keptForStops: Math.min(KEPT_FOR_STOPS, Math.floor(streamLimit / 10)),
        inUse: 0,
        wasUsed: true,
      };
      open.add(connection);
      admit();
      return {
        client,
        inUse: () => connection.inUse,
        wasUsed() {
          const { wasUsed } = connection;
          connection.wasUsed = connection.inUse > 0;
          return wasUsed;
        },
        remove() {
          if (open.delete(connection)) admit();
        },
      };
    },
    waiting: () => waiters.size,
    giveUp() {
      for (const { settle } of [...waiters]) settle(whyNone());
    },
    figures: () => ({ connections: open.size, calls: calls() }),
  };
}
