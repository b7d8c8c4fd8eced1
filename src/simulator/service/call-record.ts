import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import type { Json } from "../../platform/json.ts";
import type { World } from "../world/world.ts";

/** A request longer than this in JSON is recorded by its length. */
const LONGEST_RECORDED = 16_384;

/** A request for the record: proto3 JSON, or the reason why it has none. */
export function describeRequest<D extends DescMessage>(schema: D, request: MessageShape<D>): Json {
  try {
    const json = toJson(schema, request);
    const { length } = JSON.stringify(json);
    return length <= LONGEST_RECORDED ? (json as Json) : { omitted: `${length} characters of JSON` };
  } catch (error) {
    // An Any of an unknown type or a Struct with NaN has no JSON; the operation refuses it by its own rules.
    return { omitted: String(error) };
  }
}

/** The robot that a request concerns, if it names one that exists. */
export function robotConcerned(world: World, request: object): string {
  if ("robotId" in request && typeof request.robotId === "string") {
    return world.robots.has(request.robotId) ? request.robotId : "";
  }
  if ("amrId" in request && typeof request.amrId === "number") {
    return world.robotsByAmrId.get(request.amrId)?.id ?? "";
  }
  if ("taskChainId" in request && typeof request.taskChainId === "number") {
    return world.chains.get(request.taskChainId)?.robot?.id ?? "";
  }
  const chain = "taskChain" in request ? request.taskChain : undefined;
  return typeof chain === "object" && chain !== null ? robotConcerned(world, chain) : "";
}
