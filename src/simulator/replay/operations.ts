import {
  type DescMessage,
  type DescMethodUnary,
  fromJson,
  type JsonValue,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Clock } from "../../platform/clock.ts";
import type {
  SubscribeBatteryStatusRequest,
  SubscribeConveyorStatusRequest,
} from "../../wire/fleet/v1/service_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import { type CodeName, codes, Refusal } from "../refusal.ts";
import type { FleetOperations } from "../service/contract.ts";
import { isRead } from "../service/operations.ts";
import type { Player, Wanted } from "./player.ts";
import { type RecordedAnswer, type ReplayScript, requestKey } from "./script.ts";

const NOTHING = "the recording has no answer to this request";

/**
 * The fleet service of a recording. A command gets the answer of the same recorded request, each answer once:
 * a mission is not made twice. A read gets the last answer again. Requests without a recorded answer get
 * UNAVAILABLE.
 */
export function createReplayOperations(
  script: ReplayScript,
  player: Player,
  speed: number,
  clock: Clock,
): FleetOperations {
  const taken = new Map<string, number>();

  function answerOf(key: string, isRead: boolean): RecordedAnswer | undefined {
    const polled = player.polled(key);
    if (polled !== undefined) return polled;
    const answers = script.answers.get(key) ?? [];
    const index = taken.get(key) ?? 0;
    taken.set(key, index + 1);
    return answers[index] ?? (isRead ? answers.at(-1) : undefined);
  }

  return {
    async call(method, _caller, request) {
      const answer = answerOf(requestKey(method, request), isRead(method));
      if (answer === undefined) throw new Refusal("UNAVAILABLE", NOTHING);
      await new Promise<void>((resolve) => void clock.after(answer.delayMs / speed, resolve));
      if (answer.code !== 0) throw new Refusal(codeName(answer.code), answer.text);
      return messageOf(method, answer.text);
    },
    subscribe(method, _caller, request, deliver) {
      return player.subscribe(method.name, wantedOf(player, method.name, request), deliver);
    },
  };
}

/** The robots of a stream's request. Throws a Refusal if the service refuses it. */
function wantedOf(player: Player, method: string, request: unknown): Wanted {
  if (method === FleetService.method.subscribeConveyorStatus.name) {
    const { robotId } = request as SubscribeConveyorStatusRequest;
    if (player.has(method, robotId)) return { kind: "robots", ids: [robotId] };
    throw new Refusal("INVALID_ARGUMENT", `robot ${robotId} is not of the cart family`);
  }
  const target = (request as SubscribeBatteryStatusRequest).selector?.targetId;
  if (target?.case === "robotIds") return { kind: "robots", ids: target.value.ids };
  if (target?.case === "locationId") return { kind: "location", id: target.value };
  throw new Refusal("INVALID_ARGUMENT", "selector: one of robot_ids and location_id is required");
}

function messageOf<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  json: string,
): MessageShape<O> {
  return fromJson(method.output, JSON.parse(json) as JsonValue, { ignoreUnknownFields: true });
}

function codeName(number: number): CodeName {
  const found = Object.entries(codes).find(([, code]) => code === number);
  return (found?.[0] as CodeName | undefined) ?? "UNKNOWN";
}
