import type { ServerResponse } from "node:http";
import type { Peer } from "../../../contracts/peers.ts";
import type { RobotId } from "../../../domain/robot.ts";
import type { Closed, Gap, SnapshotRobots } from "../api/stream.ts";

/** A browser opens six connections to a host over HTTP/1.1, for all its tabs together. */
const MOST_OF_BROWSER = 4;

/** What readers are sent. */
interface ReaderSources {
  readonly ring: EventRing;
  readonly robotIds: () => Iterable<RobotId>;
  /** Those of these robots that exist, as a snapshot has them. */
  readonly robots: (ids: readonly RobotId[]) => SnapshotRobots["robots"];
  /** The time as text. */
  readonly at: () => string;
  /** The last tick with the present time; empty: there was none. */
  readonly tickAgain: () => string;
}

/** A client that wants to read. */
export type NewReader = Pick<StreamClient, "response" | "browser" | "whose"> & {
  /** The id of the last event that it has seen; null: none. */
  readonly lastEventId: string | null;
};

/** All readers of the stream. */
export interface Readers {
  readonly count: number;
  /** The readers over one listener. */
  peers(part: string): readonly Peer[];
  /**
   * If the bound is reached, a new reader ends the oldest stream of the user with the most.
   *
   * @param first makes the message with which its stream begins
   * @returns false: the bound is reached, and no user has more than one
   */
  add(reader: NewReader, first: () => string): boolean;
  /**
   * Closes readers that have not read what was sent. Call it before a round of messages: one round may be
   * larger than the bound.
   */
  closeSlow(): void;
  /** Sends the same message to all, and then the events that they lack. */
  sendAll(message: Buffer | null): void;
  /** Robots have changed: a reader in the middle of its snapshot gets them again as a whole. */
  changed(ids: Iterable<RobotId>): void;
  endAll(code: Closed["code"], reason: string): void;
}

export const MOST_STREAMS = 64;
/** A reader with more unread bytes at the next round of messages is closed. */
const MOST_UNREAD_BYTES = 256 * 1024;
/** With more unread bytes, the rest of a snapshot, and old events, wait. */
const ENOUGH_UNREAD_BYTES = 64 * 1024;
const PIECE_ROBOTS = 50;
const PIECE_EVENTS = 100;
const FULL = `${MOST_STREAMS} readers follow the gateway, and most of them are of this user: close some`;
const REPLACED = "four other tabs of this browser follow the gateway: close one of them";

export function createReaders(sources: ReaderSources): Readers {
  const { ring, at } = sources;
  const clients = new Set<StreamClient>();
  const browsers = createBrowserBound((client) => end(client, "replaced", REPLACED, false));

  function remove(client: StreamClient): void {
    clients.delete(client);
    browsers.remove(client);
  }

  function end(client: StreamClient, code: Closed["code"], reason: string, reconnect: boolean): void {
    remove(client);
    const closed: Closed = { at: at(), code, reason, reconnect };
    client.response.end(messageText("closed", closed));
  }

  /**
   * Ends the oldest stream of the user with the most, counting the new one. False: that is the new one
   * itself.
   */
  function makeRoom(whose: WhoseStream): boolean {
    const own = userOf(whose);
    const byUser = new Map<string, StreamClient[]>([[own, []]]);
    for (const client of clients) {
      const user = userOf(client.whose);
      byUser.set(user, [...(byUser.get(user) ?? []), client]);
    }
    let largest = byUser.get(own) ?? [];
    let most = largest.length + 1;
    for (const streams of byUser.values())
      if (streams.length > most) [largest, most] = [streams, streams.length];
    const [oldest] = largest;
    if (oldest !== undefined) end(oldest, "replaced", FULL, false);
    return oldest !== undefined;
  }

  function send({ response }: StreamClient, text: string | Buffer): void {
    response.write(text);
  }

  /** Sends a reader what it lacks, one piece in each turn, as long as it reads. */
  function pump(client: StreamClient): void {
    if (client.isPumping || !clients.has(client)) return;
    if (client.response.writableLength > ENOUGH_UNREAD_BYTES) return;
    const text = nextRobots(sources, client) ?? nextEvents(sources, client);
    if (text === null) return;
    send(client, text);
    client.isPumping = true;
    setImmediate(() => {
      client.isPumping = false;
      pump(client);
    });
  }

  return {
    get count() {
      return clients.size;
    },
    peers: (part) => [...clients].filter(({ whose }) => whose.part === part).map(({ whose }) => whose.peer),
    add({ response, browser, whose, lastEventId }, first) {
      if (clients.size >= MOST_STREAMS && !makeRoom(whose)) return false;
      const { from, missing } = ring.resume(lastEventId);
      const left = new Set(sources.robotIds());
      const client = { response, browser, whose, left, isCurrent: false, nextEvent: from, isPumping: false };
      clients.add(client);
      browsers.add(client);
      response.once("close", () => remove(client));
      response.on("drain", () => pump(client));
      // A broken connection is closed; there is nothing else to do.
      response.on("error", () => {});
      send(client, first());
      if (missing !== 0) send(client, gapText(at(), missing));
      pump(client);
      return true;
    },
    sendAll(message) {
      for (const client of [...clients]) {
        if (message !== null) send(client, message);
        pump(client);
      }
    },
    closeSlow() {
      for (const client of [...clients]) {
        if (client.response.writableLength <= MOST_UNREAD_BYTES) continue;
        remove(client);
        client.response.destroy();
      }
    },
    changed(ids) {
      for (const client of clients) if (!client.isCurrent) for (const id of ids) client.left.add(id);
    },
    endAll(code, reason) {
      for (const client of [...clients]) end(client, code, reason, true);
    },
  };
}

function userOf({ part, peer }: WhoseStream): string {
  return `${part} ${peer.name}`;
}

/** The next piece of the snapshot; null: it is complete. */
function nextRobots(sources: ReaderSources, client: StreamClient): string | null {
  if (client.isCurrent) return null;
  const ids = [...client.left].slice(0, PIECE_ROBOTS);
  for (const id of ids) client.left.delete(id);
  client.isCurrent = client.left.size === 0;
  const body: SnapshotRobots = { robots: sources.robots(ids), more: !client.isCurrent };
  // Until its first tick a page shows nothing as true, and the next tick may be a second away.
  return messageText("robots", body) + (client.isCurrent ? sources.tickAgain() : "");
}

/** The next events for the client; null: it has all. */
function nextEvents({ ring, at }: ReaderSources, client: StreamClient): string | null {
  if (client.nextEvent >= ring.next()) return null;
  let text = "";
  if (client.nextEvent < ring.first()) {
    text = gapText(at(), ring.first() - client.nextEvent);
    client.nextEvent = ring.first();
  }
  const until = Math.min(client.nextEvent + PIECE_EVENTS, ring.next());
  for (let number = client.nextEvent; number < until; number += 1)
    text += eventText("event", ring.at(number) ?? "{}", ring.idOf(number));
  client.nextEvent = until;
  return text;
}

function gapText(at: string, missing: number | null): string {
  const gap: Gap = { at, missing };
  return messageText("gap", gap);
}

/** Bounds the streams of each browser, so that there is room for its other requests. */
interface BrowserBound {
  add(client: StreamClient): void;
  remove(client: StreamClient): void;
}

/** @param end is called with the oldest stream of a browser that has opened too many */
function createBrowserBound(end: (client: StreamClient) => void): BrowserBound {
  const browsers = new Map<string, Set<StreamClient>>();
  return {
    add(client) {
      if (client.browser === null) return;
      const streams = browsers.get(client.browser) ?? new Set();
      browsers.set(client.browser, streams.add(client));
      const [oldest] = streams;
      if (streams.size > MOST_OF_BROWSER && oldest !== undefined) end(oldest);
    },
    remove(client) {
      if (client.browser === null) return;
      const streams = browsers.get(client.browser);
      streams?.delete(client);
      if (streams?.size === 0) browsers.delete(client.browser);
    },
  };
}

/** The user of a stream, and its listener. */
export interface WhoseStream {
  readonly part: string;
  readonly peer: Peer;
}

/** A reader of the stream. */
interface StreamClient {
  readonly response: ServerResponse;
  /** Identifies its browser if the bound for browsers applies; null: it does not. */
  readonly browser: string | null;
  readonly whose: WhoseStream;
  /** Robots that the snapshot has not brought yet. */
  readonly left: Set<RobotId>;
  /** Whether it has the whole snapshot, and gets changes of robots as they come. */
  isCurrent: boolean;
  /** The number of the next event for it. */
  nextEvent: number;
  isPumping: boolean;
}

/** A message of the stream: a server-sent event. JSON has no line breaks. */
export function messageText(name: string, body: object, id?: string): string {
  return eventText(name, JSON.stringify(body), id);
}

/** The same with a body that is JSON already. */
function eventText(name: string, json: string, id?: string): string {
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${json}\n\n`;
}

/** The same as bytes, which are made once for all readers. The pieces are those of its JSON. */
export function eventBytes(name: string, pieces: readonly string[]): Buffer {
  return Buffer.concat([`event: ${name}\ndata: `, ...pieces, "\n\n"].map((piece) => Buffer.from(piece)));
}

/** The newest events as they were sent, each with a number, for readers that connect again. */
interface EventRing {
  /** @param write gives the event's text: called once, and only if a reader gets the event */
  push(write: () => string): void;
  /** The number of the oldest event that is kept, and of the next one. */
  first(): number;
  next(): number;
  /** Undefined: it is not kept. */
  at(number: number): string | undefined;
  idOf(number: number): string;
  /** Where a client that has seen this event last goes on. */
  resume(lastEventId: string | null): Resumed;
}

export interface Resumed {
  /** The first event to send. */
  readonly from: number;
  /** How many events are missing before that one; null: not known. */
  readonly missing: number | null;
}

/** @param sessionId identifies the run: another run numbers from 1 again */
export function createEventRing(sessionId: string, most: number): EventRing {
  const texts = new Map<number, string | (() => string)>();
  let first = 1;
  let next = 1;

  function resume(lastEventId: string | null): Resumed {
    if (lastEventId === null) return { from: next, missing: 0 };
    const at = lastEventId.lastIndexOf(".");
    const number = Number(lastEventId.slice(at + 1));
    const isOurs = lastEventId.slice(0, at) === sessionId && Number.isInteger(number) && number < next;
    if (!isOurs) return { from: first, missing: null };
    const from = Math.max(number + 1, first);
    return { from, missing: from - number - 1 };
  }

  return {
    push(write) {
      texts.set(next, write);
      next += 1;
      if (texts.size <= most) return;
      texts.delete(first);
      first += 1;
    },
    first: () => first,
    next: () => next,
    at(number) {
      const kept = texts.get(number);
      if (typeof kept !== "function") return kept;
      const text = kept();
      texts.set(number, text);
      return text;
    },
    idOf: (number) => `${sessionId}.${number}`,
    resume,
  };
}
