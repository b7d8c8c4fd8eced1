import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client } from "@grpc/grpc-js";
import { expect } from "vitest";
import { tlsCredentials } from "../../src/platform/grpc-channel.ts";
import { BatteryEventStateSchema } from "../../src/wire/fleet/v1/battery_pb.js";
import { ConveyorMotorCommandSchema, ConveyorStateSchema } from "../../src/wire/fleet/v1/cart/cart_pb.js";
import {
  EventMetadataSchema,
  GoalSchema,
  PoseSchema,
  RobotSelectorSchema,
} from "../../src/wire/fleet/v1/common_pb.js";
import {
  MissionCommandSchema,
  MissionSchema,
  MissionStateSchema,
  MissionStatesSchema,
  MissionTypeSchema,
  MissionWorkflowSchema,
} from "../../src/wire/fleet/v1/mission_pb.js";
import { MissionWorkflowSchema as ServeWorkflowSchema } from "../../src/wire/fleet/v1/serve/serve_pb.js";
import {
  CreateWebhookRequestSchema,
  SubscribeMissionStatusResponseSchema,
} from "../../src/wire/fleet/v1/service_pb.js";
import {
  FieldFilterSchema,
  WebhookOptionsSchema,
  WebhookSubscriptionSchema,
} from "../../src/wire/fleet/v1/webhook_pb.js";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../src/wire/grpc/reflection/v1/reflection_pb.js";
import { contractTests } from "./service.ts";

const { overGrpc } = contractTests();

overGrpc("END-27 Reflection lists the services, without a token", async ({ simulator }) => {
  const raw = new Client(
    simulator.endpoints.grpc,
    tlsCredentials({ ca: String(simulator.ca), client: null }),
  );
  const pass = (bytes: Buffer) => bytes;
  const call = raw.makeBidiStreamRequest(
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    pass,
    pass,
  );
  const request = create(ServerReflectionRequestSchema, {
    messageRequest: { case: "listServices", value: "" },
  });
  call.end(Buffer.from(toBinary(ServerReflectionRequestSchema, request)));
  const names: string[] = [];
  for await (const bytes of call) {
    const { messageResponse } = fromBinary(ServerReflectionResponseSchema, bytes);
    if (messageResponse.case === "listServicesResponse") {
      names.push(...messageResponse.value.service.map(({ name }) => name));
    }
  }
  raw.close();
  expect(names).toEqual(
    expect.arrayContaining([
      "fleet.v1.FleetService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
    ]),
  );
});

/**
 * The field numbers of proto/, written down a second time: no client would understand a service with a wrong
 * one.
 */
const numbers: ReadonlyArray<readonly [DescMessage, string]> = [
  [EventMetadataSchema, "timestamp=1 sequence_number=2"],
  [PoseSchema, "x_meters=1 y_meters=2 heading_radians=3"],
  [GoalSchema, "destination_id=1 pose=2"],
  [RobotSelectorSchema, "robot_ids=1 location_id=2"],
  [MissionSchema, "base_mission=1 serve_mission=2 cart_mission=3 extension=888"],
  [MissionCommandSchema, "mission_id=1 command=2"],
  [MissionWorkflowSchema, "serve_workflow=1 cart_workflow=2"],
  [MissionTypeSchema, "base_type=1 serve_type=2 cart_type=3"],
  [
    MissionStateSchema,
    "mission_id=1 state=2 goals=3 current_goal_index=4 mission_feedback=5 mission_type=6 owner=7",
  ],
  [MissionStatesSchema, "missions=1 current_mission_index=2"],
  [
    ServeWorkflowSchema,
    "delivery=1 delivery_patrol=2 bussing=3 bussing_patrol=4 birthday=5 hosting=6 hosting_patrol=7",
  ],
  [ConveyorStateSchema, "index=1 operation_state=2 payload_state=3 health_state=4 installation_state=5"],
  [ConveyorMotorCommandSchema, "index=1 command=2"],
  [SubscribeMissionStatusResponseSchema, "metadata=1 robot_id=2 mission_state=3 mission_states=4"],
  [BatteryEventStateSchema, "metadata=1 battery_state=2"],
  [CreateWebhookRequestSchema, "url=2 event_type=3 selector=4 filter=5 options=6"],
  [FieldFilterSchema, "field=1 operator=2 values=3"],
  [WebhookOptionsSchema, "description=1 request_template=2 headers=3"],
  [
    WebhookSubscriptionSchema,
    "id=1 distributor_id=2 description=3 url=4 headers=5 event_type=6 selector=7 filter=8 request_template=9 enabled=10 created_at=11 updated_at=12 disabled_reason=13 disabled_at=14",
  ],
];

overGrpc("END-31 The field numbers are those of deployed services", async () => {
  for (const [schema, line] of numbers) {
    const described = [...schema.fields]
      .sort((one, other) => one.number - other.number)
      .map(({ name, number }) => `${name}=${number}`)
      .join(" ");
    expect(`${schema.typeName}: ${described}`).toBe(`${schema.typeName}: ${line}`);
  }
});
