import type { Program } from "./program.ts";
import type { Answer, Session, WriteRequest } from "./server.ts";

/** A TCP connection with its session. It keeps the order of what is written; a relay may hold all of it. */
export interface Connection {
  readonly session: Session;
  /** Written by the client, not yet done by the server. */
  queue: readonly WriteRequest[];
}

/** The client of a program: its connection, and how it writes and reads. */
export interface Client {
  /** Null: not connected. */
  connection: Connection | null;
  /** The session before this one. */
  before: Session | null;
  /** The last requests; a client that lost its connection may write some again, in a new session. */
  recent: readonly WriteRequest[];
  /** A read that the server has done, and whose answer is on its way. */
  answer: Answer | null;
  /** Tags of this cycle that are read already: a place in `tagOrders`, and how many. */
  cycle: { readonly order: number; readonly count: number; readonly view: Answer };
  /** What the driver beside the program has copied in this cycle of its own. */
  copied: readonly number[];
  /** What it has written in this session, by tag. */
  written: readonly (number | null)[];
}

/** Connections whose clients are gone: what they hold may still come to the server. */
export type Orphans = readonly Connection[];

const LONGEST_QUEUE = 6;
const RECENT = 3;
const unread: Answer = {
  ...{ next: 0, accepted: 0, by: 0, done: 0, outcome: null, closed: [] },
  ...{ rejected: 0, looksAtRobot: false, echo: 0, verdict: "none", ending: null },
};
const forwards = ["next", "accepted", "by", "done", "outcome", "closed"] as const;
/** The orders in which a client may read tags one by one. */
const tagOrders: readonly (readonly (keyof Answer)[])[] = [
  forwards,
  [...forwards].reverse(),
  ["closed", "done", "accepted", "outcome", "by", "next"],
];
const nothingWritten = [null, null, null];

export function newClient(): Client {
  const cycle = { order: 0, count: 0, view: unread };
  return {
    connection: null,
    before: null,
    recent: [],
    answer: null,
    cycle,
    copied: [],
    written: nothingWritten,
  };
}

/** A new connection and session; the last `again` requests of the one before are written again. */
export function connect(client: Client, session: Session, again: number): void {
  const queue = again === 0 ? [] : client.recent.slice(-again);
  client.connection = { session, queue };
  forget(client);
}

/** The connection is gone for its client. What the client had not read is lost. */
export function disconnect(client: Client): void {
  client.before = client.connection?.session ?? client.before;
  client.connection = null;
  forget(client);
}

function forget(client: Client): void {
  client.answer = null;
  client.cycle = { order: 0, count: 0, view: unread };
  client.copied = [];
  client.written = nothingWritten;
}

export function maySend({ connection }: Client): boolean {
  return connection !== null && connection.queue.length < LONGEST_QUEUE;
}

/** A program that writes by itself: when it must, or in every cycle. */
export function sendTags(client: Client, program: Program): void {
  const { a, b, number } = program.tags;
  program.mustWrite = false;
  switch (program.shape.writes) {
    case "request":
      put(client, { a, b, number });
      return;
    case "whole":
      put(client, number > 0 ? { a, b, number, isWhole: true } : { number, isWhole: true });
      return;
    case "separate":
      for (const request of [{ a }, { b }, { number }]) put(client, request);
      return;
    case "copied":
    case "beside":
      throw new Error("its driver writes");
  }
}

/** One step of a driver beside the program: copies a tag, or writes what it has copied and ends its cycle. */
export function driverStep(client: Client, program: Program, writesNumberFirst: boolean): void {
  const { a, b, number } = program.tags;
  if (program.shape.writes === "copied") {
    copyArray(client, program);
    return;
  }
  const tags = [number, b, a];
  const next = tags[client.copied.length];
  if (next !== undefined) {
    client.copied = [...client.copied, next];
    return;
  }
  const changed: WriteRequest[] = [];
  for (const [index, value] of client.copied.entries()) {
    const isDue = program.shape.isCyclic || program.mustWrite || client.written[index] !== value;
    if (isDue) changed.push(requestOf(index, value));
  }
  for (const request of writesNumberFirst ? changed : changed.reverse()) put(client, request);
  program.mustWrite = false;
  client.written = client.copied;
  client.copied = [];
  program.driverCycles += 1;
}

/** A driver that copies the whole array: in every cycle, or when it has changed. */
function copyArray(client: Client, program: Program): void {
  const { a, b, number } = program.tags;
  const last = client.written.join();
  client.written = [number, b, a];
  if (program.shape.isCyclic || program.mustWrite || client.written.join() !== last) {
    put(client, number > 0 ? { a, b, number, isWhole: true } : { number, isWhole: true });
  }
  program.mustWrite = false;
  program.driverCycles += 1;
}

function requestOf(place: number, value: number): WriteRequest {
  if (place === 0) return { number: value };
  return place === 1 ? { b: value } : { a: value };
}

function put(client: Client, request: WriteRequest): void {
  if (client.connection === null) return;
  client.connection.queue = [...client.connection.queue, request];
  client.recent = [...client.recent, request].slice(-RECENT);
}

/** The server does a read of `Answer`, or of `count` more tags of this cycle. */
export function sample(client: Client, program: Program, answer: Answer, count: number, order: number): void {
  if (program.shape.reads !== "tags") {
    client.answer = answer;
    return;
  }
  const { cycle } = client;
  const chosen = cycle.count === 0 ? order % tagOrders.length : cycle.order;
  const tags = tagOrders[chosen] ?? forwards;
  const read = tags.slice(cycle.count, cycle.count + count);
  const view = Object.assign({ ...cycle.view }, ...read.map((tag) => ({ [tag]: answer[tag] })));
  view.rejected = answer.rejected;
  view.looksAtRobot = answer.looksAtRobot;
  if (cycle.count + read.length < tags.length) {
    client.cycle = { order: chosen, count: cycle.count + read.length, view };
    return;
  }
  client.answer = view;
  client.cycle = { order: 0, count: 0, view: unread };
}
