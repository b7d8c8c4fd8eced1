import { createServer, type Server as HttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import {
  SubscribeBatteryStatusResponseSchema,
  SubscribeMissionStatusRequestSchema,
} from "../../../src/wire/fleet/v1/service_pb.js";
import { forSides, SERVICE_PATH, type Side, sides } from "../protocol.ts";
import { missionMessage } from "./message.ts";

type Stream = grpc.ServerWritableStream<Buffer, Buffer>;

const identity = (bytes: Buffer) => bytes;
const TOKEN_LIFE_S = 3600;
const FULL_PERCENT = 80;

/** One side's robots: where their messages go, and how far they have counted. */
interface Session {
  readonly streams: Map<string, Stream>;
  readonly sequence: Map<string, number>;
  readonly batteries: Map<string, { readonly stream: Stream; sequence: bigint; percent: number }>;
}

/**
 * A fleet service that does nothing but stream: the token exchange, the mission
 * stream with a snapshot at once, one battery message a robot, and a refusal
 * for everything else.
 */
export class LoadService {
  readonly #sessions = forSides(newSession);
  readonly #grpc = new grpc.Server({ "grpc.max_concurrent_streams": 1000 });
  #https: HttpsServer | undefined;
  readonly #answer: (path: string) => object | null;

  /** @param answer answers a GET over HTTPS; null: it is none that the service has */
  constructor(answer: (path: string) => object | null = () => null) {
    this.#answer = answer;
  }

  /** Binds both ports on loopback and gives their numbers. */
  async listen(keys: {
    readonly cert: string;
    readonly key: string;
  }): Promise<{ grpcPort: number; httpsPort: number }> {
    this.#grpc.addService(definition(), {
      SubscribeMissionStatus: (call: Stream) => this.#openMissions(call),
      SubscribeBatteryStatus: (call: Stream) => this.#openBatteries(call),
    });
    const credentials = grpc.ServerCredentials.createSsl(null, [
      { cert_chain: Buffer.from(keys.cert), private_key: Buffer.from(keys.key) },
    ]);
    const grpcPort = await new Promise<number>((resolve, reject) => {
      this.#grpc.bindAsync("127.0.0.1:0", credentials, (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
    const https = createServer(keys, (request, response) => {
      const found = this.#answer(request.url ?? "");
      if (found !== null) {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found));
        return;
      }
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => response.writeHead(200).end(token(JSON.parse(body).api_key)));
    });
    this.#https = https;
    await new Promise<void>((resolve) => https.listen(0, "127.0.0.1", resolve));
    return { grpcPort, httpsPort: (https.address() as AddressInfo).port };
  }

  /** Whether every robot of a side is subscribed. */
  subscribed(side: Side, robots: readonly string[]): boolean {
    return robots.every((robot) => this.#sessions[side].streams.has(robot));
  }

  /** Sends a robot's next message and gives its sequence number; -1 when nobody is subscribed. */
  send(side: Side, robot: string): number {
    const session = this.#sessions[side];
    const stream = session.streams.get(robot);
    if (stream === undefined) return -1;
    const sequence = (session.sequence.get(robot) ?? 0) + 1;
    session.sequence.set(robot, sequence);
    stream.write(missionMessage(robot, sequence));
    return sequence;
  }

  /** Sends a robot's charge; in percent. */
  sendCharge(side: Side, robot: string, chargePercent: number): void {
    const battery = this.#sessions[side].batteries.get(robot);
    if (battery === undefined) throw new Error(`nobody is subscribed to the battery of ${robot}`);
    battery.sequence += 1n;
    battery.percent = chargePercent;
    battery.stream.write(batteryMessage(robot, battery.sequence, chargePercent));
  }

  close(): void {
    this.#grpc.forceShutdown();
    this.#https?.close();
    this.#https?.closeAllConnections();
  }

  #openMissions(call: Stream): void {
    const session = this.#sessions[sideOf(call)];
    for (const robot of requestedRobots(call)) {
      session.streams.set(robot, call);
      call.write(missionMessage(robot, session.sequence.get(robot) ?? 0));
      call.once("cancelled", () => {
        if (session.streams.get(robot) === call) session.streams.delete(robot);
      });
    }
  }

  /** The gateway renews its streams: a new one begins with what was sent last. */
  #openBatteries(call: Stream): void {
    const { batteries } = this.#sessions[sideOf(call)];
    for (const robot of requestedRobots(call)) {
      const percent = batteries.get(robot)?.percent ?? FULL_PERCENT;
      batteries.set(robot, { stream: call, sequence: 1n, percent });
      call.write(batteryMessage(robot, 1n, percent));
    }
  }
}

/** Of a robot that is not charging. */
function batteryMessage(robotId: string, sequenceNumber: bigint, chargePercent: number): Buffer {
  const message = create(SubscribeBatteryStatusResponseSchema, {
    metadata: { sequenceNumber },
    robotId,
    batteryState: { chargePercent, state: 2, chargeMethod: 1 },
  });
  return Buffer.from(toBinary(SubscribeBatteryStatusResponseSchema, message));
}

function newSession(): Session {
  return { streams: new Map(), sequence: new Map(), batteries: new Map() };
}

function requestedRobots(call: Stream): readonly string[] {
  const target = fromBinary(SubscribeMissionStatusRequestSchema, call.request).selector?.targetId;
  if (target?.case !== "robotIds") throw new Error("the load service is asked by robot ids only");
  call.setMaxListeners(target.value.ids.length + 20);
  return target.value.ids;
}

/**
 * The API key is the side's name, and the token says so. It is read, not verified: this is no security test.
 */
function token(side: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const exp = Math.floor(Date.now() / 1000) + TOKEN_LIFE_S;
  return `${part({ alg: "none" })}.${part({ sub: side, exp })}.bench`;
}

function sideOf(call: Stream): Side {
  const header = String(call.metadata.get("authorization")[0] ?? "");
  const claims = JSON.parse(Buffer.from(header.split(".")[1] ?? "", "base64url").toString());
  const side = sides.find((name) => name === claims.sub);
  if (side === undefined) throw new Error(`no side is called ${claims.sub}`);
  return side;
}

function definition(): grpc.ServiceDefinition {
  const method = (name: string) => ({
    path: `${SERVICE_PATH}/${name}`,
    requestStream: false,
    responseStream: true,
    requestSerialize: identity,
    requestDeserialize: identity,
    responseSerialize: identity,
    responseDeserialize: identity,
  });
  return {
    SubscribeMissionStatus: method("SubscribeMissionStatus"),
    SubscribeBatteryStatus: method("SubscribeBatteryStatus"),
  };
}
