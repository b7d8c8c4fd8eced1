// The subscribers of the service, raw gRPC clients in one process that is nobody's cost.
import { readFileSync } from "node:fs";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  SubscribeConveyorStatusRequestSchema,
  SubscribeMissionStatusRequestSchema,
  SubscribeMissionStatusResponseSchema,
} from "../../src/wire/fleet/v1/service_pb.js";
import { SERVICE_PATH } from "../messages/protocol.ts";
import { percentiles } from "../quantile.ts";
import { exchangeToken } from "../token.ts";
import type { Measured, SubscriberReply, SubscriberRequest } from "./protocol.ts";
import { openConnection, openStream, type RawConnection, readMessages } from "./raw-stream.ts";

type Asked<K extends SubscriberRequest["kind"]> = Extract<SubscriberRequest, { kind: K }>;

const STREAMS_A_CONNECTION = 100;
const LOOK_MS = 10;
const WINDOW_MS = 60_000;

const counts: number[] = [];
const lastSequence = new Map<string, number>();
let latencies: number[] = [];
let gaps = 0;
let connectAgain: (() => Promise<RawConnection>) | undefined;
let wanted = new Uint8Array();

function reply(message: SubscriberReply): void {
  process.send?.(message);
}

function fail(error: Error): void {
  reply({ kind: "failed", message: error.message });
}

async function subscribe({ address, location, subscribers, robots }: Asked<"subscribe">): Promise<void> {
  const ca = readFileSync(address.ca);
  const token = await exchangeToken(address.https, ca, address.credentials);
  connectAgain = () => openConnection(address.grpc, ca, token, fail);
  wanted = toBinary(
    SubscribeMissionStatusRequestSchema,
    create(SubscribeMissionStatusRequestSchema, {
      selector: { targetId: { case: "locationId", value: location } },
    }),
  );
  for (let subscriber = 0; subscriber < subscribers; subscriber += 1) {
    const connection = await connectAgain();
    counts[subscriber] = 0;
    const count = () => {
      counts[subscriber] = (counts[subscriber] ?? 0) + 1;
    };
    // The request of both streams has the same form.
    for (const method of ["SubscribeMissionStatus", "SubscribeBatteryStatus"]) {
      const stream = openStream(connection, `${SERVICE_PATH}/${method}`, wanted);
      stream.on("error", fail);
      const isJudged = subscriber === 0 && method === "SubscribeMissionStatus";
      readMessages(stream, isJudged ? (message) => evaluate(message, count) : count);
    }
  }
  await until(() => counts.every((count) => count >= 2 * robots));
  reply({ kind: "subscribed" });
}

/** One subscriber looks into what it gets: nothing may be missing, and it has its age. */
function evaluate(bytes: Buffer, count: () => void): void {
  count();
  const { robotId, metadata } = fromBinary(SubscribeMissionStatusResponseSchema, bytes);
  const sequence = Number(metadata?.sequenceNumber ?? 0n);
  const last = lastSequence.get(robotId);
  if (last !== undefined && sequence !== last + 1) gaps += 1;
  lastSequence.set(robotId, sequence);
  const { seconds = 0n, nanos = 0 } = metadata?.timestamp ?? {};
  latencies.push(performance.timeOrigin + performance.now() - (Number(seconds) * 1000 + nanos / 1e6));
}

/** Measures what the subscribers get until the result is called. */
function beginMeasuring(): () => Measured {
  const before = [...counts];
  const gapsBefore = gaps;
  latencies = [];
  const startedMs = performance.now();
  return () => {
    const elapsed = (performance.now() - startedMs) / 1000;
    const rates = counts.map((count, at) => (count - (before[at] ?? 0)) / elapsed);
    return {
      fewest: Math.min(...rates),
      most: Math.max(...rates),
      gaps: gaps - gapsBefore,
      latencyMs: percentiles(latencies),
    };
  };
}

async function measure(seconds: number): Promise<void> {
  const measured = beginMeasuring();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  reply({ kind: "measured", measured: measured() });
}

async function openConveyors({ streams, carts }: Asked<"conveyors">): Promise<void> {
  const connect = mustBeConnected();
  const connections = await Promise.all(
    Array.from({ length: Math.ceil(streams / STREAMS_A_CONNECTION) }, connect),
  );
  let open = 0;
  const startedMs = performance.now();
  for (let at = 0; at < streams; at += 1) {
    const connection = connections[Math.floor(at / STREAMS_A_CONNECTION)];
    if (connection === undefined) throw new Error("a connection is missing");
    const robotId = carts[at % carts.length] ?? "";
    const request = create(SubscribeConveyorStatusRequestSchema, { robotId });
    const bytes = toBinary(SubscribeConveyorStatusRequestSchema, request);
    const stream = openStream(connection, `${SERVICE_PATH}/SubscribeConveyorStatus`, bytes);
    stream.on("error", fail);
    let received = false;
    readMessages(stream, () => {
      if (!received) open += 1;
      received = true;
    });
  }
  await until(() => open === streams);
  reply({ kind: "conveyors-open", seconds: (performance.now() - startedMs) / 1000, open });
}

async function stopReading(withinMs: number): Promise<void> {
  const connection = await mustBeConnected()();
  const measured = beginMeasuring();
  const startedMs = performance.now();
  const stream = openStream(connection, `${SERVICE_PATH}/SubscribeMissionStatus`, wanted);
  // Nobody reads: the window closes, and the service has to keep what comes.
  stream.pause();
  stream.on("error", () => {
    // Being cut off is what is waited for; `rstCode` says how.
  });
  await until(() => stream.rstCode !== 0 || stream.closed || stream.destroyed, withinMs);
  const afterSeconds = (performance.now() - startedMs) / 1000;
  reply({ kind: "cut-off", afterSeconds, http2Code: stream.rstCode ?? 0, others: measured() });
  connection.session.destroy();
}

function mustBeConnected(): () => Promise<RawConnection> {
  if (connectAgain === undefined) throw new Error("subscribe comes first");
  return connectAgain;
}

async function until(met: () => boolean, withinMs = WINDOW_MS): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!met()) {
    if (performance.now() > endMs) throw new Error(`not within ${withinMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function serve(request: SubscriberRequest): Promise<void> {
  switch (request.kind) {
    case "subscribe":
      return subscribe(request);
    case "measure":
      return measure(request.seconds);
    case "conveyors":
      return openConveyors(request);
    case "stop-reading":
      return stopReading(request.withinMs);
  }
}

process.on("message", (request: SubscriberRequest) => {
  serve(request).catch(fail);
});
