import type { Problem } from "../northbound/web/api/gateway.ts";

/** An answer of the API, or why there is none. */
export type Answer<T> = { readonly value: T } | { readonly problem: string };

/** `GET` of an address under `/api/v1`. */
export function get<T>(path: string, signal?: AbortSignal): Promise<Answer<T>> {
  return answerOf<T>(path, signal === undefined ? {} : { signal });
}

/** `PUT` of an address under `/api/v1`. */
export function put<T>(path: string, body?: object): Promise<Answer<T>> {
  return answerOf<T>(path, { method: "PUT", ...(body === undefined ? {} : jsonOf(body)) });
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
    const response = await fetch(`/api/v1${path}`, { headers: { accept: "application/x-ndjson" } });
    if (!response.ok) return { problem: `the gateway answers ${response.status}` };
    return { value: (await response.text()).split("\n").filter((line) => line !== "") };
  } catch (error) {
    return { problem: error instanceof TypeError ? "the gateway is not reached" : String(error) };
  }
}

async function answerOf<T>(path: string, request: RequestInit): Promise<Answer<T>> {
  try {
    const response = await fetch(`/api/v1${path}`, request);
    const body: unknown = await response.json();
    if (response.ok) return { value: body as T };
    return { problem: (body as Problem).detail ?? `the gateway answers ${response.status}` };
  } catch (error) {
    return { problem: error instanceof TypeError ? "the gateway is not reached" : String(error) };
  }
}
