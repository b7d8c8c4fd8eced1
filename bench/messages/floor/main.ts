// The floor: the barest pipe that does the gateway's main job. It receives, decodes, writes JSON,
// publishes at QoS 0 and sets the changed OPC UA values; it judges nothing and survives nothing.
// As the side `floor` it writes what one turn of the loop publishes in one piece; as `script` it does not.

import { readFileSync } from "node:fs";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import mqtt from "mqtt";
import {
  SubscribeMissionStatusRequestSchema,
  type SubscribeMissionStatusResponse,
  SubscribeMissionStatusResponseSchema,
} from "../../../src/wire/fleet/v1/service_pb.js";
import { missionTopic, robotIds, SERVICE_PATH, type Side } from "../protocol.ts";
import { asJson } from "./json.ts";
import { createVariables } from "./variables.ts";

const [
  side = "",
  robotCount = "1000",
  grpcPort = "",
  httpsPort = "",
  caPath = "",
  mqttPort = "",
  opcuaPort = "",
] = process.argv.slice(2);
const robots = robotIds(Number(robotCount));
const ca = readFileSync(caPath);

async function exchange(): Promise<string> {
  const { Agent, fetch } = await import("undici");
  const response = await fetch(`https://localhost:${httpsPort}/authorizeApiAccess`, {
    method: "POST",
    body: JSON.stringify({ api_key: side, scope: "bench", secret: "bench" }),
    dispatcher: new Agent({ connect: { ca } }),
  });
  return response.text();
}

const identity = (bytes: Buffer) => bytes;
const variables = await createVariables(Number(opcuaPort), robots);
const publisher = await mqtt.connectAsync(`mqtt://127.0.0.1:${mqttPort}`, { clientId: side });
(publisher.stream as { setNoDelay?: (on: boolean) => void }).setNoDelay?.(true);
const topics = new Map(robots.map((robot) => [robot, missionTopic(side as Side, robot)]));

let isCorked = false;

/** Holds what is published until the end of this turn of the loop, so that it leaves in one write. */
function corkThisTurn(): void {
  if (isCorked) return;
  isCorked = true;
  publisher.stream.cork();
  setImmediate(() => {
    isCorked = false;
    publisher.stream.uncork();
  });
}

const client = new grpc.Client(`localhost:${grpcPort}`, grpc.credentials.createSsl(ca));
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${await exchange()}`);
const request = create(SubscribeMissionStatusRequestSchema, {
  selector: { targetId: { case: "robotIds", value: { ids: robots } } },
});
const stream = client.makeServerStreamRequest(
  `${SERVICE_PATH}/SubscribeMissionStatus`,
  identity,
  identity,
  Buffer.from(toBinary(SubscribeMissionStatusRequestSchema, request)),
  metadata,
);
stream.on("data", (bytes: Buffer) => {
  const message: SubscribeMissionStatusResponse = fromBinary(SubscribeMissionStatusResponseSchema, bytes);
  if (side === "floor") corkThisTurn();
  publisher.publish(topics.get(message.robotId) ?? "", asJson(message), { qos: 0, retain: true });
  variables.set(message);
});
stream.on("error", (error) => {
  console.error(`${side}: ${error.message}`);
  process.exit(1);
});
process.send?.({ ready: true });
