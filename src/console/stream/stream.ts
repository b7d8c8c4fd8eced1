import type { Answer } from "../api.ts";
import { say } from "../texts/texts.ts";
import { elapsedMs, type Moment } from "../trust/time-text.ts";

/** One server-sent event. */
export interface ServerSentEvent {
  /** The last `id` of the stream so far; empty: none yet. */
  readonly id: string;
  readonly name: string;
  readonly data: string;
}

/** A larger message is not the gateway's. */
const LONGEST_MESSAGE = 64 * 1024 * 1024;

/**
 * Reads the text of an event stream, in pieces as they come (HTML, Server-sent events). It is no
 * `EventSource` (docs/internals/decisions.md, The stream is read by `fetch`).
 */
export function createEventReader(onEvent: (event: ServerSentEvent) => void): (piece: string) => void {
  let rest = "";
  let [id, name] = ["", ""];
  let data: string[] = [];

  function line(text: string): void {
    if (text === "") {
      end();
      return;
    }
    const at = text.indexOf(":");
    const field = at < 0 ? text : text.slice(0, at);
    const value = at < 0 ? "" : text.slice(at + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    if (field === "event") name = value;
    if (field === "id") id = value;
  }

  function end(): void {
    if (data.length > 0) onEvent({ id, name: name === "" ? "message" : name, data: data.join("\n") });
    name = "";
    data = [];
  }

  return (piece) => {
    rest += piece;
    if (rest.length > LONGEST_MESSAGE) throw new Error("a message of the stream has no end");
    // A piece may end between the two characters of a line end.
    const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
    const lines = whole.split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? "") + rest.slice(whole.length);
    for (const text of lines) line(text);
  };
}

/** The state of the stream. */
export type StreamState =
  | { readonly state: "connecting" }
  | { readonly state: "open" }
  /** The page is hidden, and reads nothing. */
  | { readonly state: "hidden" }
  | { readonly state: "waiting"; readonly reason: string; readonly forMs: number }
  /** The gateway has closed it for good; a click opens it again. */
  | { readonly state: "ended"; readonly reason: string };

/** The parts of the browser that the stream needs. */
export interface StreamParts {
  /** Opens the stream; rejects if there is no connection. */
  readonly open: (lastEventId: string, signal: AbortSignal) => Promise<Response>;
  readonly onEvent: (event: ServerSentEvent) => void;
  readonly onState: (state: StreamState) => void;
  readonly isHidden: () => boolean;
  /** Resolves when the page is hidden or shown, or when the signal aborts. */
  readonly visibilityChange: (signal: AbortSignal) => Promise<void>;
  /** Resolves after the time, or when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** A connection that is silent for this long is dead: the gateway sends a tick each second. */
const SILENCE_MS = 5_000;
/** A hidden page keeps its stream for this long, because its user may soon come back. */
const HIDDEN_MS = 30_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** The reason of the gateway's request not to connect again. */
export class StreamEnded extends Error {}

/** Reads the stream until the signal aborts, and connects again with backoff. */
export async function followStream(parts: StreamParts, signal: AbortSignal): Promise<void> {
  let lastEventId = "";
  let failures = 0;
  const note = (event: ServerSentEvent) => {
    if (event.id !== "") lastEventId = event.id;
    failures = 0;
    parts.onEvent(event);
  };
  while (!signal.aborted) {
    if (parts.isHidden()) {
      parts.onState({ state: "hidden" });
      await parts.visibilityChange(signal);
      continue;
    }
    parts.onState({ state: "connecting" });
    try {
      await readOnce({ ...parts, onEvent: note }, lastEventId, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof StreamEnded) return parts.onState({ state: "ended", reason: error.message });
      if (parts.isHidden()) continue;
      const forMs = backoffMs(failures, parts.random());
      failures += 1;
      parts.onState({ state: "waiting", reason: reasonOf(error), forMs });
      await shownOrAfter(parts, forMs, signal);
    }
  }
}

/** Rejects when the connection has ended, for any reason. */
async function readOnce(parts: StreamParts, lastEventId: string, signal: AbortSignal): Promise<void> {
  const connection = new AbortController();
  const end = () => connection.abort(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  try {
    const watch = createSilenceWatch(parts, connection);
    void closeWhenHidden(parts, connection);
    const response = await parts.open(lastEventId, connection.signal);
    if (!response.ok || response.body === null) throw new Error(await refusalOf(response));
    parts.onState({ state: "open" });
    const read = createEventReader(parts.onEvent);
    const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await text.read();
      if (done) throw new Error("the gateway has closed the stream");
      watch();
      read(value);
    }
  } finally {
    signal.removeEventListener("abort", end);
    connection.abort();
  }
}

/** Ends the connection after a silence. Call the returned function when something was received. */
function createSilenceWatch({ sleep }: StreamParts, connection: AbortController): () => void {
  let watch = new AbortController();
  const begin = () => {
    watch.abort();
    const current = new AbortController();
    watch = current;
    void sleep(SILENCE_MS, AbortSignal.any([current.signal, connection.signal])).then(() => {
      if (!current.signal.aborted) connection.abort(new Error("the gateway says nothing any more"));
    });
  };
  begin();
  return begin;
}

async function closeWhenHidden(parts: StreamParts, connection: AbortController): Promise<void> {
  const { signal } = connection;
  while (!signal.aborted) {
    if (!parts.isHidden()) {
      await parts.visibilityChange(signal);
      continue;
    }
    const shown = new AbortController();
    const either = AbortSignal.any([shown.signal, signal]);
    const isShown = parts.visibilityChange(either).then(() => shown.abort());
    await parts.sleep(HIDDEN_MS, either);
    if (!shown.signal.aborted) connection.abort(new Error("the page is hidden"));
    shown.abort();
    await isShown;
  }
}

async function shownOrAfter(parts: StreamParts, ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([over.signal, signal]);
  await Promise.race([parts.sleep(ms, either), parts.visibilityChange(either)]);
  over.abort();
}

/** Twice as long after each failure, and different for each page. */
function backoffMs(failures: number, random: number): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10));
  return Math.round(longest * (0.5 + 0.5 * random));
}

async function refusalOf(response: Response): Promise<string> {
  try {
    const problem: unknown = await response.json();
    if (typeof problem === "object" && problem !== null && "detail" in problem) return String(problem.detail);
  } catch {
    // No JSON: the status is enough.
  }
  return say("gateway.answers", { status: response.status });
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return say("gateway.notReached");
  return error instanceof Error ? error.message : String(error);
}

/** The newest answer of a poll. */
export interface Polled<T> {
  /** Null: none has come yet. */
  readonly value: T | null;
  /** When the newest answer was requested: it was true then, or later. */
  readonly askedAt: Moment | null;
  /** Why the last request failed; empty: it did not. */
  readonly problem: string;
}

export const nothingPolled: Polled<never> = { value: null, askedAt: null, problem: "" };

export interface PollParts<T> {
  readonly ask: (signal: AbortSignal) => Promise<Answer<T>>;
  readonly onAnswer: (change: (before: Polled<T>) => Polled<T>) => void;
  readonly isHidden: () => boolean;
  /** Resolves when the page is hidden or shown, or when the signal aborts. */
  readonly visibilityChange: (signal: AbortSignal) => Promise<void>;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => Moment;
}

/** Between an answer and the next request. */
export const POLL_MS = 2_000;
/** If the gateway takes long, the wait is this many times as long, up to a limit. */
const PARTS = 10;
const LONGEST_MS = 5_000;
/** Before the first request: a user may be typing, and each letter changes the request. */
export const SETTLE_MS = 150;

/** Polls until the signal aborts, and not while the page is hidden. */
export async function poll<T>(parts: PollParts<T>, signal: AbortSignal): Promise<void> {
  await parts.sleep(SETTLE_MS, signal);
  while (!signal.aborted) {
    if (parts.isHidden()) {
      await parts.visibilityChange(signal);
      continue;
    }
    const askedAt = parts.now();
    const answer = await parts.ask(signal);
    if (signal.aborted) return;
    parts.onAnswer((before) =>
      "value" in answer
        ? { value: answer.value, askedAt, problem: "" }
        : { ...before, problem: answer.problem },
    );
    const tookMs = elapsedMs(askedAt, parts.now());
    await parts.sleep(Math.min(LONGEST_MS, Math.max(POLL_MS, PARTS * tookMs)), signal);
  }
}
