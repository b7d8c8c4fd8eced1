import type { DescMessage } from "@bufbuild/protobuf";
import { BatteryEventStateSchema } from "../../wire/fleet/v1/battery_pb.js";
import { MissionEventStateSchema } from "../../wire/fleet/v1/mission_pb.js";

/** The `state` of each event type (interface document, Webhook events). */
export const eventSchemas: Readonly<Record<string, DescMessage | undefined>> = {
  mission: MissionEventStateSchema,
  battery: BatteryEventStateSchema,
};
