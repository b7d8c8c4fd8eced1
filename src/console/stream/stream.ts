import { createEventReader, type ServerSentEvent } from "./server-sent-events.ts";

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
  return `the gateway answers ${response.status}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return "the gateway is not reached";
  return error instanceof Error ? error.message : String(error);
}
