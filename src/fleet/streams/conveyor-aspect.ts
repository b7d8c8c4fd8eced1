import { create, toBinary } from "@bufbuild/protobuf";
import type { Conveyor, RobotId } from "../../domain/robot.ts";
import {
  SubscribeConveyorStatusRequestSchema,
  SubscribeConveyorStatusResponseSchema,
} from "../../wire/fleet/v1/service_pb.js";
import { createDecoder } from "../decoder.ts";
import { conveyorFromProto } from "../translate/messages.ts";
import type { Aspect } from "./aspect.ts";
import type { AspectDependencies } from "./robot-aspects.ts";
import { createCounts } from "./sequence-tracker.ts";

const conveyorResponse = createDecoder(SubscribeConveyorStatusResponseSchema);

/**
 * The conveyor streams, one for each cart. Their messages have no number and no time: a message with the same
 * content as the last is a confirmation, like a repeat of other streams.
 */
export function createConveyorAspect(parts: AspectDependencies): Aspect {
  const held = new Map<RobotId, readonly Conveyor[]>();
  const counts = createCounts();
  /** The newest call of each stream that has brought its robot. */
  const newestCalls = new Map<string, number>();

  function read(bytes: Buffer): readonly Conveyor[] | null {
    try {
      return conveyorResponse(bytes).states.map(conveyorFromProto);
    } catch (error) {
      counts.malformed += 1;
      if (counts.malformed === 1) parts.log.error({ err: error }, "a stream message could not be decoded");
      return null;
    }
  }

  /** Two conveyors with the same index cannot be told apart. */
  function areNamed(conveyors: readonly Conveyor[]): boolean {
    const indexes = new Set<number>();
    for (const { index } of conveyors) {
      if (!parts.identifiers.number("conveyor_index", index)) return false;
      if (indexes.has(index)) {
        parts.identifiers.refuse("conveyor_index", index, "is there twice");
        return false;
      }
      indexes.add(index);
    }
    return true;
  }

  return {
    name: "conveyors",
    method: "SubscribeConveyorStatus",
    counts,
    encode(selection) {
      const robotId = selection.kind === "robots" ? (selection.ids[0] ?? "") : "";
      const request = create(SubscribeConveyorStatusRequestSchema, { robotId });
      return Buffer.from(toBinary(SubscribeConveyorStatusRequestSchema, request));
    },
    receive(bytes, stream, call) {
      counts.messages += 1;
      const conveyors = read(bytes);
      const robotId = conveyorRobot(stream);
      if (robotId === null || conveyors === null || !areNamed(conveyors)) return null;
      // The earlier call may bring a message after the next one has done so.
      newestCalls.set(stream, Math.max(call, newestCalls.get(stream) ?? call));
      const atMs = parts.clock.nowMs();
      const before = held.get(robotId);
      if (before !== undefined && isSame(before, conveyors)) {
        counts.repeats += 1;
        parts.sink({ kind: "confirmed", robotId, aspect: "conveyors", stream, atMs });
        return "repeat";
      }
      held.set(robotId, conveyors);
      const stamp = { sourceTimeMs: null, sequence: null, receivedAtMs: atMs };
      parts.sink({ kind: "conveyors", robotId, stream, stamp, conveyors });
      return "fresh";
    },
    missing: (stream, call) => ((newestCalls.get(stream) ?? call) < call ? 1 : 0),
    releaseMissing(stream, call) {
      if ((newestCalls.get(stream) ?? call) < call) newestCalls.delete(stream);
    },
    release(robotId) {
      held.delete(robotId);
      newestCalls.delete(conveyorStream(robotId));
    },
  };
}

const PREFIX = "conveyors/";

/** The name of a cart's conveyor stream. */
export function conveyorStream(robotId: RobotId): string {
  return PREFIX + robotId;
}

/** The robot of a conveyor stream; null for another stream. */
export function conveyorRobot(stream: string): RobotId | null {
  return stream.startsWith(PREFIX) ? stream.slice(PREFIX.length) : null;
}

function isSame(a: readonly Conveyor[], b: readonly Conveyor[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((one, at) => {
    const other = b[at];
    return (
      other !== undefined &&
      one.index === other.index &&
      isSameCode(one.operation, other.operation) &&
      isSameCode(one.payload, other.payload) &&
      isSameCode(one.health, other.health) &&
      isSameCode(one.installation, other.installation)
    );
  });
}

function isSameCode(a: Conveyor["operation" | "payload" | "health" | "installation"], b: typeof a): boolean {
  return typeof a === "string" || typeof b === "string" ? a === b : a.raw === b.raw;
}
