import { create, toBinary } from "@bufbuild/protobuf";
import type { UpdateSink } from "../../contracts/stage.ts";
import { quoted } from "../../domain/foreign-text.ts";
import type { MissionQueue } from "../../domain/mission.ts";
import type { Stamp } from "../../domain/observed.ts";
import type { Battery, RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { RobotSelectorSchema } from "../../wire/fleet/v1/common_pb.js";
import {
  SubscribeBatteryStatusRequestSchema,
  SubscribeBatteryStatusResponseSchema,
  SubscribeMissionStatusRequestSchema,
  SubscribeMissionStatusResponseSchema,
} from "../../wire/fleet/v1/service_pb.js";
import { createDecoder } from "../decoder.ts";
import type { IdentifierGate } from "../identifiers.ts";
import type { RobotClocks } from "../robot-clocks.ts";
import { batteryFromProto, isQueueShown, queueFromProto, stampFromProto } from "../translate/messages.ts";
import type { Aspect, DeliveredAspect, DeliverySource, Selection } from "./aspect.ts";
import {
  createSequenceTracker,
  isNews,
  type SequenceTracker,
  type SequenceVerdict,
} from "./sequence-tracker.ts";

const missionResponse = createDecoder(SubscribeMissionStatusResponseSchema);
const batteryResponse = createDecoder(SubscribeBatteryStatusResponseSchema);

export interface AspectDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly sink: UpdateSink;
  readonly identifiers: IdentifierGate;
  readonly clocks: RobotClocks;
  /**
   * Called before a robot's first event, and again when it returns to a stream that no longer expected it.
   */
  readonly seen: (robotId: RobotId) => void;
  /** Brings the same events beside the streams; null: nothing does. */
  readonly deliveries: DeliverySource | null;
}

/** An aspect with webhook events too. Both share one sequence for each robot. */
export interface DeliveredAspectOf<Value> extends Aspect {
  /** Checks and hands on a delivery. */
  deliver(robotId: RobotId, stamp: Stamp, value: Value): void;
  /** Whether some stream brings the robot: its last snapshot had it, or is not proven to lack it. */
  brings(robotId: RobotId): boolean;
}

/** The mission streams. */
export function createMissionAspect(parts: AspectDependencies): DeliveredAspectOf<MissionQueue> {
  const tracker = createSequenceTracker();
  return {
    name: "mission",
    method: "SubscribeMissionStatus",
    ...common(tracker),
    encode: (selection) =>
      Buffer.from(
        toBinary(
          SubscribeMissionStatusRequestSchema,
          create(SubscribeMissionStatusRequestSchema, { selector: selectorOf(selection) }),
        ),
      ),
    receive(bytes, stream, call) {
      const message = decode(missionResponse, bytes, tracker, parts);
      if (message === null) return null;
      const { robotId, metadata, missionStates, missionState } = message;
      const named = missionStates?.missions ?? (missionState === undefined ? [] : [missionState]);
      if (!isShown(named, robotId, tracker, parts)) return null;
      if (!parts.identifiers.robot(robotId) || !areNamed(named, parts)) return null;
      const sent = stampFromProto(metadata, parts.clock.nowMs());
      const { verdict, stamped } = evaluateAndConfirm(tracker, parts, "mission", robotId, sent, stream, call);
      if (isNews(verdict)) {
        const queue = queueFromProto(missionStates, missionState);
        parts.sink({ kind: "mission", robotId, stream, ...stamped, queue });
      }
      return verdict;
    },
    deliver(robotId, sent, queue) {
      if (!parts.identifiers.robot(robotId) || !areNamed(queue.missions, parts)) return;
      const stamp = parts.clocks.evaluate(robotId, sent, true);
      const stream = evaluateDelivery(tracker, parts, "mission", robotId, stamp);
      if (stream !== null) parts.sink({ kind: "mission", robotId, stream, stamp, queue });
    },
  };
}

/** The battery streams. */
export function createBatteryAspect(parts: AspectDependencies): DeliveredAspectOf<Battery> {
  const tracker = createSequenceTracker();
  return {
    name: "battery",
    method: "SubscribeBatteryStatus",
    ...common(tracker),
    encode: (selection) =>
      Buffer.from(
        toBinary(
          SubscribeBatteryStatusRequestSchema,
          create(SubscribeBatteryStatusRequestSchema, { selector: selectorOf(selection) }),
        ),
      ),
    receive(bytes, stream, call) {
      const message = decode(batteryResponse, bytes, tracker, parts);
      if (message === null) return null;
      const { robotId, metadata, batteryState } = message;
      if (batteryState === undefined || !parts.identifiers.robot(robotId)) return null;
      const sent = stampFromProto(metadata, parts.clock.nowMs());
      const { verdict, stamped } = evaluateAndConfirm(tracker, parts, "battery", robotId, sent, stream, call);
      if (isNews(verdict)) {
        parts.sink({ kind: "battery", robotId, stream, ...stamped, battery: batteryFromProto(batteryState) });
      }
      return verdict;
    },
    deliver(robotId, sent, battery) {
      if (!parts.identifiers.robot(robotId)) return;
      const stamp = parts.clocks.evaluate(robotId, sent, true);
      const stream = evaluateDelivery(tracker, parts, "battery", robotId, stamp);
      if (stream !== null) parts.sink({ kind: "battery", robotId, stream, stamp, battery });
    },
  };
}

/**
 * A queue is accepted as a whole or not at all, because its index counts its missions. A mission that never
 * ran may have no id.
 */
function areNamed(
  missions: readonly { readonly missionId: string }[],
  { identifiers }: AspectDependencies,
): boolean {
  return missions.every(({ missionId }) => missionId === "" || identifiers.text("mission_id", missionId));
}

function isShown(
  missions: Parameters<typeof isQueueShown>[0],
  robotId: RobotId,
  { counts }: SequenceTracker,
  { log }: AspectDependencies,
): boolean {
  if (isQueueShown(missions)) return true;
  counts.malformed += 1;
  if (counts.malformed === 1)
    log.error({ robotId: quoted(robotId) }, "a queue of missions is too long: left out");
  return false;
}

function common(tracker: SequenceTracker) {
  return {
    counts: tracker.counts,
    missing: tracker.missing,
    releaseMissing: tracker.releaseMissing,
    release: tracker.release,
    brings: (robotId: RobotId) => tracker.streamOf(robotId) !== null,
  };
}

/**
 * Checks a message. Hands a repeat on as a confirmation, and tells the deliveries of what a stream brought
 * first.
 */
function evaluateAndConfirm(
  tracker: SequenceTracker,
  parts: AspectDependencies,
  aspect: DeliveredAspect,
  robotId: RobotId,
  sent: Stamp,
  stream: string,
  call: number,
): {
  readonly verdict: SequenceVerdict;
  readonly stamped: { readonly stamp: Stamp; readonly isSnapshot: boolean };
} {
  const isKnown = tracker.has(robotId);
  if (tracker.streamOf(robotId) === null) parts.seen(robotId);
  const isSnapshot = tracker.isFirst(robotId, stream, call);
  const stamp = parts.clocks.evaluate(robotId, sent, !isSnapshot);
  const verdict = tracker.evaluate(robotId, stamp, stream, call);
  if (verdict === "repeat") {
    parts.sink({ kind: "confirmed", robotId, aspect, stream, atMs: stamp.receivedAtMs });
  } else if (parts.deliveries !== null && isKnown && isNews(verdict)) {
    parts.deliveries.streamHadNews(aspect, robotId);
  }
  return { verdict, stamped: { stamp, isSnapshot } };
}

/** The id of the stream under which the event is handed on; null: it is no news. */
function evaluateDelivery(
  tracker: SequenceTracker,
  parts: AspectDependencies,
  aspect: DeliveredAspect,
  robotId: RobotId,
  stamp: Stamp,
): string | null {
  if (!tracker.has(robotId)) parts.seen(robotId);
  const verdict = tracker.evaluateDelivery(robotId, stamp);
  const stream = tracker.streamOf(robotId) ?? deliveryStream(aspect);
  if (isNews(verdict)) return stream;
  if (verdict === "repeat") {
    parts.sink({ kind: "confirmed", robotId, aspect, stream, atMs: stamp.receivedAtMs });
  }
  return null;
}

/** The stream id for deliveries of robots that no stream brings yet. */
export function deliveryStream(aspect: DeliveredAspect): string {
  return `webhook/${aspect}`;
}

/** Null: the bytes are no such message, which is counted, and logged the first time. */
function decode<T>(
  read: (bytes: Uint8Array) => T,
  bytes: Buffer,
  tracker: SequenceTracker,
  { log }: AspectDependencies,
): T | null {
  try {
    return read(bytes);
  } catch (error) {
    tracker.counts.malformed += 1;
    if (tracker.counts.malformed === 1) log.error({ err: error }, "a stream message could not be decoded");
    return null;
  }
}

function selectorOf(selection: Selection) {
  return create(RobotSelectorSchema, {
    targetId:
      selection.kind === "robots"
        ? { case: "robotIds", value: { ids: [...selection.ids] } }
        : { case: "locationId", value: selection.locationId },
  });
}
