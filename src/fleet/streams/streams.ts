import type { EventSink } from "../../contracts/event-sink.ts";
import type { FleetPort } from "../../contracts/fleet-port.ts";
import { LOOKS_A_SILENCE, silenceLookMs } from "../../domain/detection.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import { every } from "../../platform/clock.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { IdentifierGate } from "../identifiers.ts";
import type { FleetOptions } from "../options.ts";
import type { WebhookEvent } from "../translate/webhook-event.ts";
import type { Aspect, Selection } from "./aspect.ts";
import { conveyorStream, createConveyorAspect } from "./conveyor-aspect.ts";
import { createFamilyFinder, type FamilyFinder, familyOf } from "./family-finder.ts";
import type { LedgerCounts } from "./ledger.ts";
import { type DeliveredAspect, deliveredAspects } from "./relief.ts";
import { createBatteryAspect, createMissionAspect, deliveryStream } from "./robot-aspects.ts";
import { createStream, type Stream, type StreamParts } from "./stream.ts";
import { NOT_OPEN_YET } from "./subscription.ts";

/** What streams can say of themselves. */
export interface StreamsState {
  readonly wanted: number;
  readonly open: number;
  /** Of these, how many rest until their next snapshot, as webhooks bring what happens. */
  readonly resting: number;
  readonly robots: number;
  /** What is refused: robots and locations, each with what the service says. */
  readonly refused: ReadonlyMap<string, string>;
  /** Why streams are not open, one sentence a reason. */
  readonly problems: readonly string[];
  /** Whether none that is not open has failed so far. */
  readonly isUntried: boolean;
  readonly familiesPending: number;
  readonly counts: Readonly<Record<"mission" | "battery" | "conveyors", LedgerCounts>>;
}

/** Every stream of the fleet. */
export interface Streams {
  /** Whether the gateway is for this robot: configured, or seen at one of its locations. */
  knows(robotId: RobotId): boolean;
  /** Robots and locations that the service refuses, each with what it says. */
  refused(): ReadonlyMap<string, string>;
  /** Takes in what a webhook brought, by the rules of the streams. Of a robot that is not ours: false. */
  deliver(event: WebhookEvent): boolean;
  /** Webhooks no longer bring an aspect's events: its streams that rest are lost, and ask again at once. */
  recall(aspect: DeliveredAspect): void;
  state(): StreamsState;
  run(signal: AbortSignal): Promise<void>;
}

export type StreamsParts = Omit<StreamParts, "onOpen" | "onLost" | "onUnserved" | "serviceName" | "times"> & {
  readonly port: FleetPort;
  readonly sink: EventSink;
  readonly identifiers: IdentifierGate;
};

interface Running {
  readonly aspect: Aspect["name"];
  readonly method: string;
  readonly stream: Stream;
  /** Ends the stream for good. */
  readonly end: () => void;
  /** The proof that was told last, and when. */
  toldMs: number;
  toldAtMs: number;
}

/** Robots a stream: few enough that a snapshot is no burst and one that is refused is found fast. */
const ROBOTS_A_STREAM = 50;

/** Subscribes to missions and batteries by selector, and to conveyors by robot as carts are found. */
export function createStreams(options: FleetOptions, parts: StreamsParts): Streams {
  const { clock, sink } = parts;
  const { times } = options;
  const streams = new Map<string, Running>();
  const robots = new Map<RobotId, Family>();
  const open = new Set<string>();
  /** What the service said that it does not have, by method, until it has a stream open. */
  const unserved = new Map<string, string>();
  const runs = new Set<Promise<void>>();
  let signal: AbortSignal = AbortSignal.abort();
  let families: FamilyFinder | null = null;

  const { relief } = parts;
  const tellingMs = times.streamSilenceMs / LOOKS_A_SILENCE;
  const { log, identifiers } = parts;
  const aspectParts = { clock, log, sink, identifiers, seen: meet, relief };
  const mission = createMissionAspect({
    ...aspectParts,
    sink(event) {
      sink(event);
      if (event.kind === "mission" && robots.get(event.robotId) === "unknown") {
        learn(event.robotId, familyOf(event.queue));
      }
    },
  });
  const battery = createBatteryAspect(aspectParts);
  const conveyors = createConveyorAspect(aspectParts);

  const streamParts: StreamParts = {
    ...parts,
    serviceName: options.serviceName,
    times,
    onOpen(id) {
      // A renewal opens a stream that is open already; only the first of all brings the link up.
      if (open.size === 0) tellLink("up", "");
      open.add(id);
      const method = streams.get(id)?.method;
      if (method !== undefined) unserved.delete(method);
    },
    onUnserved(method, { code, message }) {
      const problem = `${code}: ${message}`;
      if (unserved.get(method) === problem) return;
      unserved.set(method, problem);
      parts.log.warn(
        { serviceName: options.serviceName, method, problem },
        "the service does not have a stream: is fleet.grpc.serviceName right?",
      );
    },
    onLost(id, ending) {
      open.delete(id);
      if (open.size === 0) tellLink("down", `${ending.code}: ${ending.message}`);
    },
  };

  function tellLink(state: "up" | "down", cause: string): void {
    sink({ kind: "link", state, atMs: clock.nowMs(), cause });
  }

  function start(id: string, aspect: Aspect, selection: Selection): void {
    if (streams.has(id)) return;
    const stream = createStream(id, aspect, selection, streamParts);
    const ending = new AbortController();
    const end = () => ending.abort();
    const letGo = onAbort(signal, end);
    streams.set(id, { aspect: aspect.name, method: aspect.method, stream, end, toldMs: 0, toldAtMs: 0 });
    const run = stream.run(ending.signal).finally(() => {
      letGo();
      runs.delete(run);
    });
    runs.add(run);
  }

  /** A robot is there, or is back: tells of it the first time, and sees to its conveyors. */
  function meet(robotId: RobotId): void {
    if (robots.has(robotId)) {
      if (robots.get(robotId) === "cart") startConveyors(robotId);
      return;
    }
    const family = options.families.get(robotId) ?? "unknown";
    robots.set(robotId, family);
    sink({ kind: "robot", robotId, family });
    if (family === "cart") startConveyors(robotId);
    else if (family === "unknown") families?.ask(robotId);
  }

  /** What is known of a family stays: what contradicts it later proves neither. */
  function learn(robotId: RobotId, family: Family): void {
    if (family === "unknown" || robots.get(robotId) !== "unknown") return;
    robots.set(robotId, family);
    sink({ kind: "robot", robotId, family });
    if (family === "cart") startConveyors(robotId);
  }

  function startConveyors(robotId: RobotId): void {
    start(conveyorStream(robotId), conveyors, { kind: "robots", ids: [robotId] });
  }

  /**
   * Ends the conveyor stream of a cart that left our locations: the service refuses it, and their snapshots no
   * longer have it. Either alone proves nothing: a refusal may be a fault, and a snapshot may lack who is offline.
   */
  function partFromGone(): void {
    for (const [robotId, family] of robots) {
      const id = conveyorStream(robotId);
      const running = family === "cart" ? streams.get(id) : undefined;
      if (running === undefined || !running.stream.setAside.has(robotId)) continue;
      if (mission.brings(robotId) || battery.brings(robotId)) continue;
      running.end();
      streams.delete(id);
      open.delete(id);
      parts.log.info(
        { stream: id, robotId },
        "a cart left the locations: its conveyors are no longer asked for",
      );
    }
  }

  function startSelected(): void {
    if (options.robots.kind === "locations") {
      for (const locationId of options.robots.locations) {
        start(`mission/${locationId}`, mission, { kind: "location", locationId });
        start(`battery/${locationId}`, battery, { kind: "location", locationId });
      }
      return;
    }
    const { ids } = options.robots;
    for (let from = 0; from < ids.length; from += ROBOTS_A_STREAM) {
      const chunk: Selection = { kind: "robots", ids: ids.slice(from, from + ROBOTS_A_STREAM) };
      start(`mission/#${from / ROBOTS_A_STREAM}`, mission, chunk);
      start(`battery/#${from / ROBOTS_A_STREAM}`, battery, chunk);
    }
    for (const robotId of ids) meet(robotId);
  }

  /** A quiet stream whose connection was proven alive is told to be live: now and then, and soon after a silence. */
  function tellLive(): void {
    const nowMs = clock.monotonicMs();
    for (const entry of streams.values()) {
      if (nowMs - entry.toldAtMs < tellingMs) continue;
      const provenMs = entry.stream.subscription.state().provenAtMs;
      if (provenMs === null || provenMs <= entry.toldMs) continue;
      entry.toldMs = provenMs;
      entry.toldAtMs = nowMs;
      sink({ kind: "stream", stream: entry.stream.id, state: "live", atMs: clock.nowMs() });
    }
  }

  function tellDelivered(): void {
    for (const aspect of deliveredAspects) {
      if ((relief?.provenAtMs(aspect) ?? null) === null) continue;
      sink({ kind: "stream", stream: deliveryStream(aspect), state: "live", atMs: clock.nowMs() });
    }
  }

  function refusedNow(): ReadonlyMap<string, string> {
    const refused = new Map<string, string>();
    for (const { stream } of streams.values()) {
      for (const [name, message] of stream.setAside) refused.set(name, message);
    }
    return refused;
  }

  return {
    knows: (robotId) => robots.has(robotId),
    refused: refusedNow,
    deliver(event) {
      if (options.robots.kind === "ids" && !robots.has(event.robotId)) return false;
      if (event.aspect === "mission") mission.deliver(event.robotId, event.stamp, event.queue);
      else battery.deliver(event.robotId, event.stamp, event.battery);
      return true;
    },
    recall(aspect) {
      sink({ kind: "stream", stream: deliveryStream(aspect), state: "lost", atMs: clock.nowMs() });
      for (const running of streams.values()) if (running.aspect === aspect) running.stream.recall();
    },
    state() {
      const problems = new Set<string>();
      let resting = 0;
      for (const { stream } of streams.values()) {
        const { problem, isResting } = stream.subscription.state();
        if (isResting) resting += 1;
        if (problem !== null) problems.add(problem);
      }
      return {
        wanted: streams.size,
        open: open.size,
        resting,
        robots: robots.size,
        refused: refusedNow(),
        problems: [...problems],
        isUntried: [...problems].every((problem) => problem === NOT_OPEN_YET),
        familiesPending: families?.pending() ?? 0,
        counts: { mission: mission.counts, battery: battery.counts, conveyors: conveyors.counts },
      };
    },
    async run(runSignal) {
      signal = runSignal;
      families = createFamilyFinder({
        port: parts.port,
        times,
        clock,
        chance: parts.chance,
        signal,
        onCart: (robotId) => learn(robotId, "cart"),
        isKnown: (robotId) => robots.get(robotId) !== "unknown",
      });
      tellLink("down", "not connected yet");
      every(clock, silenceLookMs(times.streamSilenceMs), signal, tellLive);
      every(clock, tellingMs, signal, tellDelivered);
      // Robots that are named in configuration are ours wherever they are.
      if (options.robots.kind === "locations") every(clock, tellingMs, signal, partFromGone);
      startSelected();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.all(runs);
    },
  };
}
