import { setMaxListeners } from "node:events";
import { join } from "node:path";
import type { Client } from "@grpc/grpc-js";
import type { FleetPort } from "../contracts/fleet-port.ts";
import type { UpdateSink } from "../contracts/stage.ts";
import { type RandomSource, type StartRetry, startOnce } from "../platform/backoff.ts";
import { type Clock, every } from "../platform/clock.ts";
import type { Component, Health } from "../platform/component.ts";
import type { Log } from "../platform/log.ts";
import { noTap, type RecorderTap } from "../platform/recorder/recording.ts";
import { TaskService } from "../wire/fleet/http/v1/task_pb.js";
import { createCalls, createCommandPort } from "./calls/calls.ts";
import { createCommandChannel } from "./channels/command-channel.ts";
import { createConnect, createOpenSockets } from "./channels/connection.ts";
import { createPreflight, proveAlive } from "./channels/preflight.ts";
import { createStreamPool } from "./channels/stream-pool.ts";
import { describeHealth } from "./fleet-health.ts";
import { createHttp, type HandleDate } from "./http.ts";
import { createIdentifierGate, type IdentifierGate } from "./identifiers.ts";
import { createMapCache, createMapsOnce } from "./maps.ts";
import { requestOf } from "./operations/row.ts";
import { type FleetOptions, webhookDirectory } from "./options.ts";
import { createPoll, createReader, type PollParts } from "./polling/reader.ts";
import { createRoster } from "./polling/roster.ts";
import { createTaskChains } from "./polling/task-chains.ts";
import { createClockSkew, createRobotClocks, type RobotClocks } from "./robot-clocks.ts";
import { createExchangeHistory } from "./session/exchange-history.ts";
import { createSession } from "./session/session.ts";
import { createStreams, type Streams, type StreamsState } from "./streams/streams.ts";
import { createWebhookCalls, removeFormerSubscriptions } from "./webhooks/subscription-plan.ts";
import { createTrust } from "./webhooks/trust.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";

export interface FleetSessionParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** Takes all updates of the fleet. */
  readonly sink: UpdateSink;
  /**
   * Called with the service's clock minus this machine's, in milliseconds: with each answer, and every second
   * once it is known.
   */
  readonly onClockSkew?: (skewMs: number) => void;
  /** Records messages, calls and answers; absent: they are not recorded. */
  readonly tap?: RecorderTap;
  /** For the receiver of webhooks; absent: a start that fails once has failed. */
  readonly retry?: StartRetry;
}

type Dependencies = Required<Omit<FleetSessionParts, "onClockSkew">>;

/** The gateway's side of the fleet service: one token, its connections, streams, polls and calls. */
export interface FleetSession extends Component {
  readonly port: FleetPort;
  /** Why the token in use cannot be renewed; null: no reason is known. */
  renewalProblem(): string | null;
  /** The counts of each kind of stream since the start. */
  streamCounts(): StreamsState["counts"];
  /**
   * Cuts all connections of commands. The process ends next: nothing of it may reach the service any more.
   */
  cut(): void;
}

const SKEW_LOOK_MS = 1_000;

/** Wires the southbound together. Nothing is opened before `run`. */
export function createFleetSession(options: FleetOptions, parts: FleetSessionParts): FleetSession {
  const { clock, random, sink, onClockSkew, tap = noTap, retry = startOnce } = parts;
  const { times } = options;
  const log = parts.log.child({ part: "fleet" });
  const dependencies = { clock, random, log, sink, tap, retry };
  const stopping = new AbortController();
  const { signal } = stopping;
  // Every stream and every wait listens to it: many listeners are no leak.
  setMaxListeners(0, signal);
  const skew = createClockSkew(clock);
  const reportSkew = () => {
    const skewMs = skew.nowMs();
    if (skewMs !== null) onClockSkew?.(skewMs);
  };
  // At once: the first answer brings the token, and commands may leave from then on.
  const handleDate: HandleDate = (date, sentAtMs) => {
    skew.received(date, sentAtMs);
    reportSkew();
  };
  const wires = createWires(options, dependencies, handleDate, signal);
  const { session, channel, pool, http, calls } = wires;
  const identifiers = createIdentifierGate(options.robots, log);
  const clocks = createRobotClocks({ clock, serviceAheadMs: skew.nowMs, log });
  const { streams, webhooks } = createEventSources(options, dependencies, wires, {
    identifiers,
    clocks,
  });
  const maps = createMaps(options, dependencies, calls, signal);
  const polling = createPolling(options, dependencies, wires, { identifiers, streams, maps });

  async function leaveFormerWebhooks(): Promise<void> {
    if (options.cacheDirectory === null) return;
    const directory = webhookDirectory(options.cacheDirectory);
    await removeFormerSubscriptions(
      { directory, calls: createWebhookCalls(calls, identifiers), times, clock, log },
      signal,
    );
  }

  /** Runs everything until the signal is aborted. */
  function runAll(ready: () => void): readonly Promise<void>[] {
    every(clock, SKEW_LOOK_MS, signal, reportSkew);
    return [
      webhooks === null ? leaveFormerWebhooks() : webhooks.run(signal, ready),
      session.run(signal),
      ...(options.transport === "grpc" ? [channel.run(signal)] : []),
      pool.run(signal),
      streams.run(signal),
      ...polling.polls.map((each) => each.run(signal)),
    ];
  }

  return {
    name: "fleet",
    renewalProblem: () => session.state().renewalProblem,
    streamCounts: streams.counts,
    cut: wires.sockets.cut,
    port: createCommandPort(calls, { identifiers, maps, follow: polling.chains.follow }),
    async run(outer, ready) {
      const stop = () => stopping.abort();
      // The last calls to the service are made while there is a connection.
      const leave = () => (webhooks === null ? stop() : void webhooks.leave().finally(stop));
      outer.addEventListener("abort", leave, { once: true });
      if (outer.aborted) stop();
      if (webhooks === null) ready();
      const runs = runAll(ready);
      try {
        await Promise.all(runs);
      } finally {
        stop();
        outer.removeEventListener("abort", leave);
        await Promise.allSettled(runs);
        await maps?.settled();
        await http[Symbol.asyncDispose]();
      }
    },
    health: (): Health =>
      describeHealth({
        session: session.state(),
        clockSkewMs: skew.nowMs(),
        pool: pool.state(),
        streams: streams.state(),
        webhooks: webhooks?.state() ?? null,
        polls: polling.polls.map((each) => each.state()),
        commandProblem: options.transport === "grpc" ? channel.problem() : null,
        commandConnections: channel.figures().connections,
        callsUnderWay: channel.figures().calls,
        followedChains: polling.chains.followed,
        malformedRobots: polling.roster.malformed,
        malformedChains: polling.chains.malformed,
        identifiersRefused: identifiers.refused,
        robotClocksWrong: clocks.wrong(),
      }),
  };
}

type Wires = ReturnType<typeof createWires>;

/** The token, and all connections to the service. */
function createWires(
  options: FleetOptions,
  { clock, random, log, tap }: Dependencies,
  handleDate: HandleDate,
  signal: AbortSignal,
) {
  const { times, cacheDirectory } = options;
  const sockets = createOpenSockets();
  const http = createHttp(options, clock, handleDate, sockets.add);
  const history = cacheDirectory === null ? null : createExchangeHistory(cacheDirectory, clock);
  const session = createSession(options, { http, clock, random, log, history });
  const connect = createConnect(options, clock, createPreflight(options, clock), sockets);
  const prove = (client: Client) => proveAlive(client, options, session.token());
  const channel = createCommandChannel({ connect, prove, times, clock, random, log });
  const pool = createStreamPool({ connect, prove, times, clock, random, log });
  const calls = createCalls(options, { session, channel, http, signal, tap });
  const read = createReader(options, { http, session, signal, tap });
  return { http, session, channel, pool, sockets, calls, read };
}

/** Streams, and webhooks beside them if they are configured. */
function createEventSources(
  options: FleetOptions,
  { clock, random, log, sink, tap, ...optional }: Dependencies,
  { pool, session, calls: port }: Wires,
  { identifiers, clocks }: { readonly identifiers: IdentifierGate; readonly clocks: RobotClocks },
) {
  const { events, times } = options;
  const trust = events.kind === "webhook" ? createTrust(times.streamSilenceMs, clock) : null;
  const streams = createStreams(
    options,
    { pool, session, port },
    { sink, identifiers, clocks, deliveries: trust, clock, random, log, tap },
  );
  const calls = createWebhookCalls(port, identifiers);
  const webhooks =
    events.kind === "webhook" && trust !== null
      ? createWebhooks(events.webhook, options, {
          trust,
          streams,
          calls,
          clock,
          random,
          log,
          tap,
          ...optional,
        })
      : null;
  return { streams, webhooks };
}

/** The map cache, and the component that fetches each map once; null: nothing may be kept on disk. */
function createMaps(
  { cacheDirectory, times }: FleetOptions,
  { clock, log, sink }: Dependencies,
  calls: FleetPort,
  signal: AbortSignal,
) {
  if (cacheDirectory === null) return null;
  const cache = createMapCache({
    directory: join(cacheDirectory, "maps"),
    clock,
    log,
    onMap: (mapId, map) => sink({ kind: "map", mapId, map }),
  });
  const once = createMapsOnce({
    isKept: cache.isKept,
    async ask(mapId) {
      const request = requestOf(TaskService.method.getMap, { mapId });
      const ending = await calls.call(request, times.callMs);
      return ending.kind === "ok" && (await cache.settle(mapId, ending)).kind === "ok";
    },
    retryMs: times.refusedRetryMs,
    clock,
    signal,
  });
  return { settle: cache.settle, want: once.want, settled: once.settled };
}

interface PollingParts {
  readonly identifiers: IdentifierGate;
  readonly streams: Pick<Streams, "knows">;
  readonly maps: ReturnType<typeof createMaps>;
}

/** Polls for values that have no streams. */
function createPolling(
  { times, robots, amrIds }: FleetOptions,
  { clock, log, sink }: Dependencies,
  { read }: Wires,
  { identifiers, streams, maps }: PollingParts,
) {
  const { knows } = streams;
  const roster = createRoster({ read, clock, log, sink, identifiers, knows, amrIds });
  const chains = createTaskChains({ read, clock, log, sink, identifiers, current: roster.chainIds });
  const poll = (name: string, periodMs: number | null, what: Pick<PollParts, "turn" | "isEarly">) =>
    periodMs === null
      ? []
      : [createPoll({ name, periodMs, unimplementedMs: times.refusedRetryMs, clock, log, ...what })];
  const polls = [
    ...poll("GetOnlineRobots", times.rosterPollMs, {
      async turn() {
        await roster.turn();
        maps?.want(roster.mapIds());
      },
      // The list may come before the streams of a location have named its robots.
      isEarly: () => robots.kind === "locations" && roster.isOfOthers(),
    }),
    ...poll("QueryTaskChain", times.taskChainPollMs, { turn: chains.turn }),
  ];
  return { polls, roster, chains };
}
