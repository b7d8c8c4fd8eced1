import { type Clock, noLaterThan } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { createConnect, createOpenSockets } from "../channels/connection.ts";
import { createPreflight } from "../channels/preflight.ts";
import { errorText } from "../error-text.ts";
import { createHttp } from "../http.ts";
import { createIdentifierGate } from "../identifiers.ts";
import type { FleetOptions } from "../options.ts";
import { createClockSkew, createRobotClocks } from "../robot-clocks.ts";
import { createExchangeBudget, type ExchangeEnding, exchangeToken } from "../session/exchange.ts";
import { createExchangeHistory } from "../session/exchange-history.ts";
import type { Selection } from "../streams/aspect.ts";
import { createMissionAspect } from "../streams/robot-aspects.ts";
import { openStream, type StreamEnding } from "../streams/stream-call.ts";

/** The result of a trial of one stream. */
export type StreamTrial =
  | { readonly kind: "message"; readonly afterMs: number; readonly robotId: string | null }
  /** The service has accepted it, and has sent nothing in time. */
  | { readonly kind: "silent" }
  | { readonly kind: "ended"; readonly ending: StreamEnding }
  | { readonly kind: "unconnected"; readonly message: string };

/** The number of robots in one stream of the gateway. */
const MOST_ROBOTS = 50;

/** Subscribes to missions once, waits for the first message, and closes. */
export async function tryStream(
  options: FleetOptions,
  jwt: string,
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<StreamTrial> {
  const { times } = options;
  const bounded = { ...options, times: { ...times, connectMs: Math.min(times.connectMs, limitMs) } };
  const connect = createConnect(bounded, clock, createPreflight(bounded, clock), createOpenSockets());
  try {
    const connection = await connect(signal);
    try {
      return await firstMessage(options, connection.client, jwt, clock, limitMs);
    } finally {
      connection.close();
    }
  } catch (error) {
    return { kind: "unconnected", message: errorText(error) };
  }
}

type Client = Parameters<typeof openStream>[2]["client"];

async function firstMessage(
  options: FleetOptions,
  client: Client,
  jwt: string,
  clock: Clock,
  limitMs: number,
): Promise<StreamTrial> {
  let robotId: string | null = null;
  const missions = createMissionAspect({
    clock,
    log: silentLog,
    sink: () => {},
    identifiers: createIdentifierGate(options.robots, silentLog),
    clocks: createRobotClocks({ clock, serviceAheadMs: () => null, log: silentLog }),
    seen: (id) => {
      robotId ??= id;
    },
    deliveries: null,
  });
  const request = {
    path: `/${options.serviceName}/${missions.method}`,
    bytes: missions.encode(selectionOf(options)),
  };
  const beganAtMs = clock.monotonicMs();
  let received: (trial: StreamTrial) => void = () => {};
  const first = new Promise<StreamTrial>((resolve) => {
    received = resolve;
  });
  const permit = {
    client,
    proven() {},
    provenAtMs: () => beganAtMs,
    prove: async () => true,
    unanswered() {},
    release() {},
  };
  const call = openStream(request, jwt, permit, (bytes) => {
    missions.receive(bytes, "trial", 0);
    received({ kind: "message", afterMs: clock.monotonicMs() - beganAtMs, robotId });
  });
  let isTaken = false;
  void call.accepted.then((taken) => {
    isTaken = taken;
  });
  const ended = call.ended.then((ending): StreamTrial => ({ kind: "ended", ending }));
  const trial = await noLaterThan(clock, limitMs, Promise.race([first, ended]), null);
  call.cancel();
  if (trial !== null) return trial;
  return isTaken
    ? { kind: "silent" }
    : { kind: "unconnected", message: `the stream is not answered within ${limitMs} ms` };
}

function selectionOf({ robots }: FleetOptions): Selection {
  return robots.kind === "ids"
    ? { kind: "robots", ids: robots.ids.slice(0, MOST_ROBOTS) }
    : { kind: "location", locationId: robots.locations[0] ?? "" };
}

/** The result of a trial of the API key. */
export type TokenTrial =
  | Exclude<ExchangeEnding, { readonly kind: "token" }>
  | { readonly kind: "token"; readonly jwt: string; readonly lifeMs: number; readonly skewMs: number | null }
  /** Nothing was asked: the gateway has used up the rate for this long. */
  | { readonly kind: "withheld"; readonly waitMs: number };

/**
 * Requests one token, once. It is one of the two requests of the documented rate that the gateway leaves
 * free; if the gateway has used up its own, nothing is asked. Writes nothing.
 */
export async function tryToken(
  options: FleetOptions,
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<TokenTrial> {
  const waitMs = await waitForRate(options, clock);
  if (waitMs > 0) return { kind: "withheld", waitMs };
  const skew = createClockSkew(clock);
  const http = createHttp(options, clock, skew.received);
  try {
    const ending = await exchangeToken(options, http, clock, limitMs, signal);
    if (ending.kind !== "token") return ending;
    const { jwt, expiresAtMs, obtainedAtMs } = ending.token;
    return { kind: "token", jwt, lifeMs: expiresAtMs - obtainedAtMs, skewMs: skew.nowMs() };
  } finally {
    await http[Symbol.asyncDispose]();
  }
}

async function waitForRate({ cacheDirectory, sharers }: FleetOptions, clock: Clock): Promise<number> {
  if (cacheDirectory === null) return 0;
  const budget = createExchangeBudget(sharers);
  for (const atMs of await createExchangeHistory(cacheDirectory, clock).load()) budget.spend(atMs);
  return budget.waitMs(clock.monotonicMs());
}
