import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { create, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import mqtt from "mqtt";
import { ConveyorMotorCommand_CommandConveyorMotor as Motor } from "../../src/wire/fleet/v1/cart/cart_pb.js";
import { ControlConveyorRequestSchema } from "../../src/wire/fleet/v1/service_pb.js";
import { SERVICE_PATH } from "../messages/protocol.ts";
import type { ServiceAddress } from "../service.ts";
import { exchangeToken } from "../token.ts";
import { ECHO_IN, ECHO_OUT } from "./protocol.ts";

/** One conveyor command and how it ended. */
export type Send = (robotId: string, motor: "CW" | "STOP", done: (outcome: string) => void) => void;

/** Clients by whose names commands are sent: each may have a few in flight only. */
const CLIENTS = 40;
const EXPIRY_MS = 10_000;
const CONVEYOR_INDEX = 1;
const ECHO_BYTES = 180;

/** Over MQTT, as a plant's clients do. The reply's outcome; `succeeded` when all is well. */
export async function openMqtt(port: number, base: string): Promise<Send> {
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, {
    clientId: `bench-sender-${randomUUID()}`,
  });
  (client.stream as { setNoDelay?: (on: boolean) => void }).setNoDelay?.(true);
  const waiting = new Map<string, (outcome: string) => void>();
  client.on("message", (topic, payload) => {
    const id = topic.slice(topic.lastIndexOf("/") + 1);
    const done = waiting.get(id);
    if (done === undefined) return;
    waiting.delete(id);
    const { outcome, code } = JSON.parse(payload.toString()) as { outcome: string; code: string };
    done(outcome === "succeeded" ? outcome : `${outcome} ${code}`);
  });
  await client.subscribeAsync(`${base}/clients/+/reply/+`, { qos: 0 });
  const run = Date.now().toString(36);
  let number = 0;
  return (robotId, motor, done) => {
    number += 1;
    const id = `${run}-${number}`;
    waiting.set(id, done);
    const commands = [{ index: CONVEYOR_INDEX, command: `COMMAND_CONVEYOR_MOTOR_${motor}` }];
    const expires = new Date(Date.now() + EXPIRY_MS).toISOString();
    client.publish(
      `${base}/clients/bench${number % CLIENTS}/command/ControlConveyor`,
      JSON.stringify({ id, expires_at: expires, request: { robot_id: robotId, commands } }),
      { qos: 0 },
    );
  };
}

/** To a process that answers at once, through the same broker, with a message as long as a command. */
export async function openEcho(port: number): Promise<Send> {
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, { clientId: "bench-echo-sender" });
  (client.stream as { setNoDelay?: (on: boolean) => void }).setNoDelay?.(true);
  const waiting = new Map<string, (outcome: string) => void>();
  client.on("message", (topic) => {
    const id = topic.slice(topic.lastIndexOf("/") + 1);
    waiting.get(id)?.("succeeded");
    waiting.delete(id);
  });
  await client.subscribeAsync(`${ECHO_OUT}/+`, { qos: 0 });
  const payload = "x".repeat(ECHO_BYTES);
  let number = 0;
  return (_robotId, _motor, done) => {
    number += 1;
    waiting.set(String(number), done);
    client.publish(`${ECHO_IN}/${number}`, payload, { qos: 0 });
  };
}

const identity = (bytes: Buffer) => bytes;

/** Straight to the service: the unary call alone, by the same library as the gateway's. */
export async function openBare({
  grpc: target,
  https,
  ca: path,
  credentials,
}: ServiceAddress): Promise<Send> {
  const ca = readFileSync(path);
  const token = await exchangeToken(https, ca, credentials);
  const client = new grpc.Client(target, grpc.credentials.createSsl(ca));
  return (robotId, motor, done) => {
    const metadata = new grpc.Metadata();
    metadata.set("authorization", `Bearer ${token}`);
    const request = create(ControlConveyorRequestSchema, {
      robotId,
      commands: [{ index: CONVEYOR_INDEX, command: Motor[motor] }],
    });
    client.makeUnaryRequest(
      `${SERVICE_PATH}/ControlConveyor`,
      identity,
      identity,
      Buffer.from(toBinary(ControlConveyorRequestSchema, request)),
      metadata,
      (error) => done(error === null ? "succeeded" : (grpc.status[error.code] ?? String(error.code))),
    );
  };
}
