import { join } from "node:path";
import type { FleetPort } from "../../contracts/fleet-port.ts";
import type { UpdateSink } from "../../contracts/stage.ts";
import { LOOKS_A_SILENCE, silenceLookMs } from "../../domain/detection.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { RandomSource } from "../../platform/backoff.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { aborted } from "../../platform/component.ts";
import type { Log } from "../../platform/log.ts";
import type { RecorderTap } from "../../platform/recorder/recording.ts";
import type { StreamPool } from "../channels/stream-pool.ts";
import type { IdentifierGate } from "../identifiers.ts";
import type { FleetOptions } from "../options.ts";
import type { RobotClocks } from "../robot-clocks.ts";
import type { Session } from "../session/session.ts";
import type { WebhookEvent } from "../translate/webhook-event.ts";
import { type DeliveredAspect, type DeliverySource, deliveredAspects, type Selection } from "./aspect.ts";
import { conveyorRobot, conveyorStream, createConveyorAspect } from "./conveyor-aspect.ts";
import { openFamilyStore, transientFamilyStore } from "./family-store.ts";
import { createQuietLimit } from "./renewal-wait.ts";
import {
  type AspectDependencies,
  createBatteryAspect,
  createMissionAspect,
  deliveryStream,
} from "./robot-aspects.ts";
import { createFamilyFinder, createRobotFamilies, familyOf, type RobotFamilies } from "./robot-families.ts";
import type { StreamCounts } from "./sequence-tracker.ts";
import { createStream, probeStream, type StreamCalls } from "./stream.ts";
import { createStreamSet, type StreamSet, type StreamSetState } from "./stream-set.ts";
import { createSubscription } from "./subscription.ts";

/** The state of the streams. */
export interface StreamsState extends StreamSetState {
  readonly robots: number;
  readonly familiesPending: number;
  /** How long the way to the service lets streams be quiet; null: no limit is known. */
  readonly quietLimitMs: number | null;
  readonly counts: Readonly<Record<"mission" | "battery" | "conveyors", StreamCounts>>;
}

/** Every stream of the fleet. */
export interface Streams {
  /** Whether this is a robot of the gateway: configured, or seen at one of its locations. */
  knows(robotId: RobotId): boolean;
  /** Refused robots and locations, each with the service's message. */
  refused(): ReadonlyMap<string, string>;
  /** Handles a delivery by the rules of the streams. False: it is of a robot that is not ours. */
  deliver(event: WebhookEvent): boolean;
  /**
   * Webhooks no longer bring an aspect's events: its suspended streams count as lost, and ask again at once.
   */
  resume(aspect: DeliveredAspect): void;
  state(): StreamsState;
  counts(): StreamsState["counts"];
  run(signal: AbortSignal): Promise<void>;
}

export interface StreamsDependencies {
  readonly sink: UpdateSink;
  readonly identifiers: IdentifierGate;
  readonly clocks: RobotClocks;
  /** Brings events beside the streams; null: nothing does. */
  readonly deliveries: DeliverySource | null;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly tap: RecorderTap;
}

/** Robots in a stream: few enough that a snapshot is no burst and a refused robot is found fast. */
const ROBOTS_A_STREAM = 50;

/** Subscribes to missions and batteries by selector, and to conveyors by robot as carts are found. */
export function createStreams(
  options: FleetOptions,
  { pool, session, port }: { readonly pool: StreamPool; readonly session: Session; readonly port: FleetPort },
  { sink, identifiers, clocks, deliveries, clock, random, log, tap }: StreamsDependencies,
): Streams {
  const { times, serviceName } = options;
  const publishingMs = times.streamSilenceMs / LOOKS_A_SILENCE;
  const families = createRobotFamilies({
    configured: options.families,
    sink,
    startConveyors: (robotId) =>
      set.start(conveyorStream(robotId), aspects.conveyors, { kind: "robots", ids: [robotId] }),
  });
  const aspects = createAspects({
    clock,
    log,
    sink: learning(sink, families),
    identifiers,
    clocks,
    seen: families.meet,
    deliveries,
  });
  const { mission, battery, conveyors } = aspects;
  const counts = { mission: mission.counts, battery: battery.counts, conveyors: conveyors.counts };
  const quiet = createQuietLimit(times.resyncMs, clock, log);
  const calls: StreamCalls = {
    subscribe: (subscriber) => createSubscription(subscriber, { pool, session, times, quiet, clock, random }),
    probe: (request, signal) => probeStream(request, pool, session, times.connectMs / 2, signal),
  };
  const ofStreams = { calls, serviceName, times, sink, deliveries, clock, log, tap };
  const set = createStreamSet(
    (id, aspect, selection, listener) => createStream(id, aspect, selection, listener, ofStreams),
    (id, { code }) => {
      const robotId = conveyorRobot(id);
      if (robotId !== null && code === "INVALID_ARGUMENT" && families.refusedAsCart(robotId)) set.end(id);
    },
    serviceName,
    publishingMs,
    { sink, clock, log },
  );

  function publishDelivered(): void {
    for (const aspect of deliveredAspects) {
      if ((deliveries?.provenAtMs(aspect) ?? null) === null) continue;
      sink({ kind: "stream", stream: deliveryStream(aspect), state: "live", atMs: clock.nowMs() });
    }
  }

  return {
    knows: families.has,
    refused: set.refused,
    deliver(event) {
      if (options.robots.kind === "ids" && !families.has(event.robotId)) return false;
      if (event.aspect === "mission") mission.deliver(event.robotId, event.stamp, event.queue);
      else battery.deliver(event.robotId, event.stamp, event.battery);
      return true;
    },
    resume(aspect) {
      sink({ kind: "stream", stream: deliveryStream(aspect), state: "lost", atMs: clock.nowMs() });
      for (const stream of set.all()) if (stream.aspect === aspect) stream.resume();
    },
    state: () => ({
      ...set.state(),
      robots: families.size(),
      familiesPending: families.pending(),
      quietLimitMs: quiet.foundMs(),
      counts,
    }),
    counts: () => counts,
    async run(signal) {
      const memory = await openMemory(options, clock, log);
      families.open(memory, (listener) =>
        createFamilyFinder(listener, { port, times, clock, random, signal }),
      );
      set.open(signal);
      set.publishLink("down", "not connected yet");
      every(clock, silenceLookMs(times.streamSilenceMs), signal, set.publishLive);
      every(clock, publishingMs, signal, publishDelivered);
      // Robots in the configuration are ours wherever they are.
      if (options.robots.kind === "locations") {
        every(clock, publishingMs, signal, () => endGoneConveyors(set, aspects, log));
      }
      startSelected(options, set, aspects, families);
      await aborted(signal);
      await set.ended();
      await memory.close();
    },
  };
}

type Aspects = ReturnType<typeof createAspects>;

/** The kinds of streams. */
function createAspects(dependencies: AspectDependencies) {
  return {
    mission: createMissionAspect(dependencies),
    battery: createBatteryAspect(dependencies),
    conveyors: createConveyorAspect(dependencies),
  };
}

/** Missions and conveyors show the family of a robot. */
function learning(sink: UpdateSink, families: RobotFamilies): UpdateSink {
  return (update) => {
    if (update.kind === "conveyors") families.learn(update.robotId, "cart");
    sink(update);
    if (update.kind !== "mission" || !families.isUnknown(update.robotId)) return;
    families.learn(update.robotId, familyOf(update.queue));
  };
}

function openMemory({ cacheDirectory }: FleetOptions, clock: Clock, log: Log) {
  return cacheDirectory === null
    ? transientFamilyStore()
    : openFamilyStore(familiesFolder(cacheDirectory), clock, log);
}

/** The folder in which the families of robots are kept. */
export function familiesFolder(cacheDirectory: string): string {
  return join(cacheDirectory, "families");
}

function startSelected(
  { robots }: FleetOptions,
  set: StreamSet,
  { mission, battery }: Aspects,
  families: RobotFamilies,
): void {
  if (robots.kind === "locations") {
    for (const locationId of robots.locations) {
      set.start(`mission/${locationId}`, mission, { kind: "location", locationId });
      set.start(`battery/${locationId}`, battery, { kind: "location", locationId });
    }
    return;
  }
  const { ids } = robots;
  for (let from = 0; from < ids.length; from += ROBOTS_A_STREAM) {
    const chunk: Selection = { kind: "robots", ids: ids.slice(from, from + ROBOTS_A_STREAM) };
    set.start(`mission/#${from / ROBOTS_A_STREAM}`, mission, chunk);
    set.start(`battery/#${from / ROBOTS_A_STREAM}`, battery, chunk);
  }
  for (const robotId of ids) families.meet(robotId);
}

/**
 * Ends the conveyor stream of each cart that left our locations: the service refuses it, and the snapshots no
 * longer have it. Either alone proves nothing: a refusal may be a fault, and a snapshot may lack an offline
 * robot.
 */
function endGoneConveyors(set: StreamSet, { mission, battery }: Aspects, log: Log): void {
  for (const { id, refused } of [...set.all()]) {
    const robotId = conveyorRobot(id);
    if (robotId === null || !refused.has(robotId)) continue;
    if (mission.brings(robotId) || battery.brings(robotId)) continue;
    set.end(id);
    log.info({ stream: id, robotId }, "a cart left the locations: its conveyors are no longer asked for");
  }
}
