import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { EventSink } from "../../contracts/event-sink.ts";
import type { Battery } from "../../domain/battery.ts";
import type { MissionQueue } from "../../domain/mission.ts";
import type { Stamp } from "../../domain/observed.ts";
import type { RobotId } from "../../domain/robot.ts";
import { isNews, type SequenceVerdict } from "../../domain/sequence.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { RobotSelectorSchema } from "../../wire/fleet/v1/common_pb.js";
import {
  SubscribeBatteryStatusRequestSchema,
  SubscribeBatteryStatusResponseSchema,
  SubscribeMissionStatusRequestSchema,
  SubscribeMissionStatusResponseSchema,
} from "../../wire/fleet/v1/service_pb.js";
import type { IdentifierGate } from "../identifiers.ts";
import { batteryFromProto } from "../translate/battery.ts";
import { queueFromProto } from "../translate/mission.ts";
import { stampFromProto } from "../translate/stamp.ts";
import type { Aspect, Selection } from "./aspect.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import type { DeliveredAspect, Relief } from "./relief.ts";

export interface AspectParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly sink: EventSink;
  readonly identifiers: IdentifierGate;
  /** A robot spoke: called before its first event, and again when it comes back to a stream that had let it go. */
  readonly seen: (robotId: RobotId) => void;
  /** What else brings the same events; null: nothing. */
  readonly relief: Relief | null;
}

/** An aspect whose events come by webhook too. Both ways share one line per robot. */
export interface DeliveredAspectOf<Value> extends Aspect {
  /** Judges and hands on what a delivery says. */
  deliver(robotId: RobotId, stamp: Stamp, value: Value): void;
  /** Whether some stream brings the robot: its last snapshot had it, or is not proven to lack it. */
  brings(robotId: RobotId): boolean;
}

/** The mission streams. */
export function createMissionAspect(parts: AspectParts): DeliveredAspectOf<MissionQueue> {
  const ledger = createLedger();
  return {
    name: "mission",
    method: "SubscribeMissionStatus",
    ...common(ledger),
    encode: (selection) =>
      Buffer.from(
        toBinary(
          SubscribeMissionStatusRequestSchema,
          create(SubscribeMissionStatusRequestSchema, { selector: selectorOf(selection) }),
        ),
      ),
    receive(bytes, stream, call) {
      const message = decode(() => fromBinary(SubscribeMissionStatusResponseSchema, bytes), ledger, parts);
      if (message === null) return null;
      const { robotId, metadata, missionStates, missionState } = message;
      const named = missionStates?.missions ?? (missionState === undefined ? [] : [missionState]);
      if (!parts.identifiers.robot(robotId) || !areNamed(named, parts)) return null;
      const stamp = stampFromProto(metadata, parts.clock.nowMs());
      const verdict = judge(ledger, parts, "mission", robotId, stamp, stream, call);
      if (isNews(verdict)) {
        const queue = queueFromProto(missionStates, missionState);
        parts.sink({ kind: "mission", robotId, stream, stamp, queue });
      }
      return verdict;
    },
    deliver(robotId, stamp, queue) {
      if (!parts.identifiers.robot(robotId) || !areNamed(queue.missions, parts)) return;
      const stream = judgeDelivery(ledger, parts, "mission", robotId, stamp);
      if (stream !== null) parts.sink({ kind: "mission", robotId, stream, stamp, queue });
    },
  };
}

/** The battery streams. */
export function createBatteryAspect(parts: AspectParts): DeliveredAspectOf<Battery> {
  const ledger = createLedger();
  return {
    name: "battery",
    method: "SubscribeBatteryStatus",
    ...common(ledger),
    encode: (selection) =>
      Buffer.from(
        toBinary(
          SubscribeBatteryStatusRequestSchema,
          create(SubscribeBatteryStatusRequestSchema, { selector: selectorOf(selection) }),
        ),
      ),
    receive(bytes, stream, call) {
      const message = decode(() => fromBinary(SubscribeBatteryStatusResponseSchema, bytes), ledger, parts);
      if (message === null) return null;
      const { robotId, metadata, batteryState } = message;
      if (batteryState === undefined || !parts.identifiers.robot(robotId)) return null;
      const stamp = stampFromProto(metadata, parts.clock.nowMs());
      const verdict = judge(ledger, parts, "battery", robotId, stamp, stream, call);
      if (isNews(verdict)) {
        parts.sink({ kind: "battery", robotId, stream, stamp, battery: batteryFromProto(batteryState) });
      }
      return verdict;
    },
    deliver(robotId, stamp, battery) {
      if (!parts.identifiers.robot(robotId)) return;
      const stream = judgeDelivery(ledger, parts, "battery", robotId, stamp);
      if (stream !== null) parts.sink({ kind: "battery", robotId, stream, stamp, battery });
    },
  };
}

/** A queue is told as a whole or not at all: its index counts its missions. One that never ran may have no id. */
function areNamed(
  missions: readonly { readonly missionId: string }[],
  { identifiers }: AspectParts,
): boolean {
  return missions.every(({ missionId }) => missionId === "" || identifiers.text("mission_id", missionId));
}

function common(ledger: Ledger) {
  return {
    counts: ledger.counts,
    unheard: ledger.unheard,
    releaseUnheard: ledger.releaseUnheard,
    release: ledger.release,
    brings: (robotId: RobotId) => ledger.streamOf(robotId) !== null,
  };
}

/** Judges a message; a repeat is told as proof that the value held still stands. */
function judge(
  ledger: Ledger,
  parts: AspectParts,
  aspect: DeliveredAspect,
  robotId: RobotId,
  stamp: Stamp,
  stream: string,
  call: number,
): SequenceVerdict {
  const isKnown = ledger.has(robotId);
  if (ledger.streamOf(robotId) === null) parts.seen(robotId);
  const verdict = ledger.judge(robotId, stamp, stream, call);
  if (verdict === "repeat") {
    parts.sink({ kind: "confirmed", robotId, aspect, stream, atMs: stamp.receivedAtMs });
  } else if (parts.relief !== null && isKnown && isNews(verdict)) parts.relief.noticed(aspect, robotId);
  return verdict;
}

/** The stream in whose name the event is told; null when it is no news. */
function judgeDelivery(
  ledger: Ledger,
  parts: AspectParts,
  aspect: DeliveredAspect,
  robotId: RobotId,
  stamp: Stamp,
): string | null {
  if (!ledger.has(robotId)) parts.seen(robotId);
  const verdict = ledger.judgeDelivery(robotId, stamp);
  const stream = ledger.streamOf(robotId) ?? deliveryStream(aspect);
  if (isNews(verdict)) return stream;
  if (verdict === "repeat") {
    parts.sink({ kind: "confirmed", robotId, aspect, stream, atMs: stamp.receivedAtMs });
  }
  return null;
}

/** In whose name deliveries are told of robots that come by no stream yet. */
export function deliveryStream(aspect: DeliveredAspect): string {
  return `webhook/${aspect}`;
}

/** Null when the bytes are no such message: counted, and said the first time. */
function decode<T>(read: () => T, ledger: Ledger, { log }: AspectParts): T | null {
  try {
    return read();
  } catch (error) {
    ledger.counts.malformed += 1;
    if (ledger.counts.malformed === 1) log.error({ err: error }, "a stream message could not be decoded");
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
