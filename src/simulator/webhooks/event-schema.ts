import type { DescMessage } from "@bufbuild/protobuf";
import { BatteryEventStateSchema } from "../../wire/fleet/v1/battery_pb.js";
import { MissionEventStateSchema } from "../../wire/fleet/v1/mission_pb.js";

const schemas = new Map<string, DescMessage>([
  ["mission", MissionEventStateSchema],
  ["battery", BatteryEventStateSchema],
]);

/** The message that is `state` of an event type; undefined for an unknown type (docs/service.md, WHK-04). */
export function eventSchema(eventType: string): DescMessage | undefined {
  return schemas.get(eventType);
}
