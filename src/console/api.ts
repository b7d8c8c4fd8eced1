import type { Problem } from "../northbound/web/api/gateway.ts";
import { say } from "./texts/texts.ts";

/** An answer of the API, or why there is none. */
export type Answer<T> = { readonly value: T } | Unanswered;

interface Unanswered {
  readonly problem: string;
  /** No answer came: a request that changes something may have done so. */
  readonly mayBeDone?: true;
}

/** Of a request that says nothing else. */
const ANSWER_MS = 10_000;

/**
 * `fetch` with a time limit for the whole answer. A gateway that hangs keeps its connections, so without a
 * limit its page would wait for minutes and say nothing.
 */
export function fetchWithin(ms = ANSWER_MS) {
  return async (address: string, request: RequestInit): Promise<Response> => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new DOMException("", "TimeoutError")), ms);
    const { signal } = limit;
    try {
      const both = request.signal == null ? signal : AbortSignal.any([request.signal, signal]);
      const response = await fetch(address, { ...request, signal: both });
      const body = await response.blob();
      return new Response(body.size === 0 ? null : body, response);
    } finally {
      // A timer that runs on would keep all that waits for the answer.
      clearTimeout(timer);
    }
  };
}

/** Why a request has no answer. */
export function unansweredText(error: unknown): string {
  if (error instanceof TypeError) return say("gateway.notReached");
  const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
  return isTimeout ? say("gateway.noAnswer") : String(error);
}

/** `GET` of an address under `/api/v1`. */
export function get<T>(path: string, signal?: AbortSignal, withinMs?: number): Promise<Answer<T>> {
  return answerOf<T>(path, signal === undefined ? {} : { signal }, withinMs);
}

/** The same for an effect. Returns its clean-up: after that `take` gets no answer. */
export function getOnce<T>(path: string, take: (answer: Answer<T>) => void): () => void {
  const over = new AbortController();
  void get<T>(path, over.signal).then((answer) => {
    if (!over.signal.aborted) take(answer);
  });
  return () => over.abort();
}

/** `PUT` of an address under `/api/v1`. */
export function put<T>(path: string, body?: object): Promise<Answer<T>> {
  return answerOf<T>(path, { method: "PUT", ...(body === undefined ? {} : jsonOf(body)) });
}

/** `DELETE` of an address under `/api/v1`. */
export function remove<T>(path: string): Promise<Answer<T>> {
  return answerOf<T>(path, { method: "DELETE" });
}

/** `POST` of an address under `/api/v1`. */
export function post<T>(path: string, body: object): Promise<Answer<T>> {
  return answerOf<T>(path, { method: "POST", ...jsonOf(body) });
}

function jsonOf(body: object): Pick<RequestInit, "headers" | "body"> {
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** `GET` of an address under `/api/v1` that answers with lines of JSON. */
export async function getLines(path: string): Promise<Answer<readonly string[]>> {
  try {
    const headers = { accept: "application/x-ndjson" };
    const response = await fetchWithin()(`/api/v1${path}`, { headers });
    if (!response.ok) return { problem: say("gateway.answers", { status: response.status }) };
    return { value: (await response.text()).split("\n").filter((line) => line !== "") };
  } catch (error) {
    return { problem: unansweredText(error) };
  }
}

async function answerOf<T>(path: string, request: RequestInit, withinMs?: number): Promise<Answer<T>> {
  try {
    const response = await fetchWithin(withinMs)(`/api/v1${path}`, request);
    const body: unknown = await response.json();
    if (response.ok) return { value: body as T };
    return { problem: (body as Problem).detail ?? say("gateway.answers", { status: response.status }) };
  } catch (error) {
    return { problem: unansweredText(error), mayBeDone: true };
  }
}
