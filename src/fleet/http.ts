import { connect, type Socket } from "node:net";
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import { type Clock, within } from "../platform/clock.ts";
import { lateError } from "../platform/connect-fault.ts";
import { createOpenSockets } from "./channels/connection.ts";
import { connectProblem } from "./error-text.ts";
import type { FleetOptions, FleetTimes } from "./options.ts";

/** One request to the service over HTTPS. */
export interface HttpRequest {
  readonly verb: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, or null for none. */
  readonly body: string | null;
  readonly deadlineMs: number;
  /** It leaves within this time or not at all. */
  readonly leaveWithinMs?: number;
  /** A larger answer is given up; 8 MiB by default. */
  readonly largestBytes?: number;
  readonly signal: AbortSignal;
  /** Whether it has no effect, so that it may share a kept connection. */
  readonly reads: boolean;
  /** Called in the moment in which it would leave; false: it does not leave, not even in part. */
  readonly leaves?: () => boolean;
}

/** An answer of the service with any status. */
export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it arrived: to join megabytes is a long turn of the event loop. */
  readonly parts: readonly Buffer[];
}

/** Retry-After in either form, seconds or a date; null: it has no usable value. */
export function retryAfterMs(
  { date = "", "retry-after": text = "" }: HttpAnswer["headers"],
  serverNowMs = Date.parse(date),
): number | null {
  const seconds = Number(text);
  const delayMs = Number.isNaN(seconds) ? Date.parse(text) - serverNowMs : seconds * 1000;
  return Number.isFinite(delayMs) && delayMs > 0 ? delayMs : null;
}

/** It is certain that the request did not leave: no connection could be made. */
export class NothingSent extends Error {
  override readonly name = "NothingSent";
}

/** TLS, the proxy, and how long a connection may take. */
type HttpOptions = Pick<FleetOptions, "tls" | "proxyUrl"> & {
  readonly times: Pick<FleetTimes, "connectMs">;
  /** Base URLs of other keys than `fleet.https`. */
  readonly authUrl?: string;
  readonly httpsUrl?: string;
};

/** HTTPS to the service: own CA, client certificate, proxy, and no request ever sent twice. */
export interface Http extends AsyncDisposable {
  /** Rejects with NothingSent, or with the error that cut the request after it may have left. */
  send(request: HttpRequest): Promise<HttpAnswer>;
}

/** The size of a map of 15,000 points, or of a list of 8,000 robots. */
const LARGEST_ANSWER_BYTES = 8 * 1024 * 1024;

/** Called with the Date of each answer that has begun, and the monotonic time at which its request left. */
export type HandleDate = (date: string | undefined, sentAtMs: number) => void;

/**
 * Requests of methods that have no effect may share connections; every other request gets a connection of its
 * own. An HTTP client that finds a kept connection dead may send again what it had sent on it, and
 * FinishTaskChain is a GET that must not be repeated (docs/commands.md, Operations). A connection of its own
 * is reset when its request is given up, unless it goes through a proxy.
 *
 * @param onSocket is called with the TCP connection of each request of its own
 */
export function createHttp(
  options: HttpOptions,
  clock: Clock,
  handleDate: HandleDate = () => {},
  onSocket: (socket: Socket) => void = () => {},
): Http {
  const shared = createDispatcher(options, 1);
  const single = options.proxyUrl === null ? null : createDispatcher(options, 0);
  const connector = createTcpFirst(tlsOf(options), options.times.connectMs);
  const agents = new Set<Agent>();

  function exchangeOn(dispatcher: Dispatcher, cut: () => void, what: HttpRequest): Promise<HttpAnswer> {
    const target = { key: keyOf(what.url, options), url: what.url, proxyUrl: options.proxyUrl };
    const unreached = (error: unknown) =>
      new NothingSent(connectProblem(error, target, clock.nowMs()), { cause: error });
    return within(what.signal, what.deadlineMs, (signal) =>
      exchange(what, dispatcher, signal, { clock, handleDate, unreached, cut }),
    );
  }

  async function sendAlone(what: HttpRequest): Promise<HttpAnswer> {
    const sockets = createOpenSockets();
    const connect = connector((socket) => {
      sockets.add(socket);
      onSocket(socket);
    });
    const agent = new Agent({ ...common(0), connect });
    agents.add(agent);
    try {
      return await exchangeOn(agent, sockets.cut, what);
    } finally {
      agents.delete(agent);
      await agent.destroy();
    }
  }

  return {
    send(what) {
      if (what.reads) return exchangeOn(shared, () => {}, what);
      return single === null ? sendAlone(what) : exchangeOn(single, () => {}, what);
    },
    async [Symbol.asyncDispose]() {
      const dispatchers = [shared, ...(single === null ? [] : [single]), ...agents];
      await Promise.all(dispatchers.map((each) => each.destroy()));
    },
  };
}

/** The key of the configuration that names the server of a request. */
function keyOf(url: string, { authUrl, httpsUrl }: HttpOptions): string {
  const isOfAuth = authUrl !== undefined && httpsUrl !== undefined && authUrl !== httpsUrl;
  return isOfAuth && url.startsWith(authUrl) ? "fleet.authUrl" : "fleet.https";
}

interface ExchangeParts {
  readonly clock: Clock;
  readonly handleDate: HandleDate;
  /** Makes the error if no connection could be made, with its reason. */
  readonly unreached: (error: unknown) => NothingSent;
  /** The request is given up: what the kernel has not delivered yet must not be delivered. */
  readonly cut: () => void;
}

/**
 * One request on its way. undici reports when it hands a request to a connection: if anything fails before
 * (no address, a certificate, a proxy that refuses or hangs), nothing of it has left, nor will.
 */
function exchange(
  what: HttpRequest,
  dispatcher: Dispatcher,
  signal: AbortSignal,
  { clock, handleDate, unreached, cut }: ExchangeParts,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { origin, pathname, search } = new URL(what.url);
    const parts: Buffer[] = [];
    const { largestBytes = LARGEST_ANSWER_BYTES } = what;
    let begun: Dispatcher.DispatchController | null = null;
    let status = 0;
    let headers: Readonly<Record<string, string>> = {};
    let bytes = 0;
    let sentAtMs = 0;
    const { leaveWithinMs = what.deadlineMs } = what;
    let isTooLate = false;
    const late = setTimeout(() => {
      isTooLate = true;
      reject(new NothingSent(`no connection within ${Math.round(leaveWithinMs)} ms`));
    }, leaveWithinMs);
    late.unref();
    // Otherwise undici would wait for the connection before it looks at the signal.
    const giveUp = () => {
      clearTimeout(late);
      if (begun === null) reject(new NothingSent(abandoned(signal.reason), { cause: signal.reason }));
      else {
        cut();
        begun.abort(signal.reason);
      }
    };
    signal.addEventListener("abort", giveUp, { once: true });
    dispatcher.dispatch(
      {
        origin,
        path: `${pathname}${search}`,
        method: what.verb as Dispatcher.HttpMethod,
        headers: what.body === null ? what.headers : { "content-type": "application/json", ...what.headers },
        body: what.body,
        idempotent: false,
        headersTimeout: what.deadlineMs,
        bodyTimeout: what.deadlineMs,
      },
      {
        onRequestStart(controller) {
          clearTimeout(late);
          if (signal.aborted) controller.abort(signal.reason);
          else if (isTooLate) controller.abort(new Error("too late"));
          else if (what.leaves?.() === false) controller.abort(new Error("it may leave no more"));
          else begun = controller;
          sentAtMs = clock.monotonicMs();
        },
        onResponseStart(_, statusCode, given) {
          status = statusCode;
          headers = singleHeaders(given);
          handleDate(headers.date, sentAtMs);
        },
        onResponseData(controller, chunk) {
          bytes += chunk.length;
          if (bytes <= largestBytes) parts.push(chunk);
          else controller.abort(new Error(`the answer is larger than ${largestBytes} bytes`));
        },
        onResponseEnd: () => resolve({ status, headers, parts }),
        onResponseError(_, error) {
          clearTimeout(late);
          reject(begun === null ? unreached(error) : error);
        },
      },
    );
  });
}

function abandoned(reason: unknown): string {
  const isLate = reason instanceof Error && reason.name === "TimeoutError";
  return isLate ? `no connection: ${reason.message}` : "the gateway stops";
}

const common = (pipelining: number) => ({ pipelining, allowH2: false, keepAliveTimeout: 4_000 });

const tlsOf = ({ tls: { ca, client } }: HttpOptions) => ({
  ...(ca === null ? {} : { ca }),
  ...(client === null ? {} : { cert: client.certificate, key: client.key }),
});

function createDispatcher(options: HttpOptions, pipelining: number): Agent | ProxyAgent {
  const timeout = options.times.connectMs;
  const tls = tlsOf(options);
  if (options.proxyUrl === null) {
    return new Agent({ ...common(pipelining), connect: { ...tls, timeout } });
  }
  return new ProxyAgent({
    ...common(pipelining),
    uri: options.proxyUrl,
    // A proxy that hangs must not gather tunnels that are never made.
    clientFactory: (origin, more) => new Pool(origin, { ...more, headersTimeout: timeout }),
    proxyTls: { timeout },
    requestTls: { ...tls, timeout },
  });
}

function singleHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const single: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) single[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return single;
}

/**
 * Makes connections for undici over TCP first, and over TLS then: Node.js resets only a TCP connection that
 * it was given. TLS sessions are resumed across all of them.
 *
 * @param timeoutMs for TCP, and for TLS
 */
function createTcpFirst(tls: buildConnector.BuildOptions, timeoutMs: number) {
  const secure = buildConnector({ ...tls, timeout: timeoutMs, allowH2: false });
  return (onSocket: (socket: Socket) => void): buildConnector.connector =>
    (options, callback) => {
      const socket = connect({ host: options.hostname, port: Number(options.port || 443) });
      onSocket(socket);
      const late = setTimeout(() => socket.destroy(lateError(socket)), timeoutMs);
      const fail = (error: Error) => {
        clearTimeout(late);
        callback(error, null);
      };
      socket.once("error", fail);
      socket.once("connect", () => {
        clearTimeout(late);
        socket.removeListener("error", fail);
        secure({ ...options, httpSocket: socket }, callback);
      });
    };
}
