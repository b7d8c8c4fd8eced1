import {
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { FleetService } from "../wire/fleet/v1/service_pb.js";
import { Health } from "../wire/grpc/health/v1/health_pb.js";
import {
  type ApiKey,
  createExchange,
  deployedLimits,
  type ExchangeAnswer,
  type ExchangeLimits,
  type Limit,
} from "./auth/api-key.ts";
import { createTokens, type Tokens } from "./auth/token.ts";
import type { Control } from "./control.ts";
import type { FaultEffects, FaultRegistry } from "./faults/registry.ts";
import { reflectionMethods } from "./grpc/descriptor-index.ts";
import type { GrpcMethod } from "./grpc/response.ts";
import { createGrpcServer, type GrpcServer, healthMethods } from "./grpc/server.ts";
import { addControlRoutes, addExchangeRoute, addOperationRoutes } from "./http/routes.ts";
import { createHttpServer, type HttpServer } from "./http/server.ts";
import type { SimulatorOptions } from "./options.ts";
import { readRequest } from "./refusal.ts";
import type { ExchangeFault, Fault } from "./scenario/schema.ts";
import type { FleetOperations, StreamMessage } from "./service/contract.ts";
import type { TlsIdentity } from "./tls/identity.ts";

/** The dependencies of the two listeners. */
interface TransportParts {
  readonly identity: TlsIdentity;
  readonly keys: readonly ApiKey[];
  readonly signingKey: Uint8Array;
  readonly operations: FleetOperations;
  /** Null: a replay cannot be controlled. */
  readonly control: Control | null;
  readonly faults: FaultRegistry;
  readonly clock: Clock;
  readonly log: Log;
}

/** The two listeners, and the effects of faults on them. */
export interface Transports {
  readonly grpc: GrpcServer;
  readonly https: HttpServer;
  readonly effects: FaultEffects;
}

const HOUR_MS = 3_600_000;
const MEBIBYTE = 1_048_576;
/** How long connections have between GOAWAY and their end. */
const GO_AWAY_GRACE_MS = 1_000;

/** @param tokenFactor how many times faster than the clock tokens age */
export function createTransports(
  options: SimulatorOptions,
  tokenFactor: number,
  { identity, keys, signingKey, operations, control, faults, clock, log }: TransportParts,
): Transports {
  const tokens = createTokens({
    clock,
    signingKey,
    lifeMs: (options.tokenLifeMs ?? HOUR_MS) / tokenFactor,
    earlyMs: faults.tokenEarlyMs,
  });
  const exchange = createExchange({
    keys,
    tokens,
    limits: accelerated(options.exchangeLimits ?? deployedLimits, tokenFactor),
    clock,
    fault: () => exchangeFault(faults.exchange()),
  });
  const serviceNames = options.serviceNames ?? [FleetService.typeName];
  const grpc = createGrpcServer({
    identity,
    methods: new Map([
      ...fleetMethods(serviceNames, {
        tokens,
        operations,
        clock,
        streamLifeMs: options.streamLifeMs ?? HOUR_MS,
        shape: faults.streams.shape,
      }),
      ...healthMethods(serviceNames),
      ...reflectionMethods(serviceNames, [Health.typeName]),
    ]),
    maxConcurrentStreams: options.maxConcurrentStreams ?? 100,
    maxMessageBytes: 4 * MEBIBYTE,
    maxUnreadBytes: options.maxUnreadBytes ?? 8 * MEBIBYTE,
    isSilent: faults.isSilent,
    isCut: faults.isCut,
    log,
  });
  const https = createHttpServer({
    identity,
    maxBodyBytes: MEBIBYTE,
    isSilent: faults.isSilent,
    isCut: faults.isCut,
    clock,
    log,
    addRoutes(app) {
      addExchangeRoute(app, exchange);
      addOperationRoutes(app, { tokens, operations });
      if (control !== null) addControlRoutes(app, control);
    },
  });
  return {
    grpc,
    https,
    effects: {
      endStreams: (how) => endStreams(grpc, clock, how),
      expireTokens: tokens.expireAll,
      closeConnections: grpc.closeConnections,
    },
  };
}

function accelerated({ perAddress, perKeyAndAddress }: ExchangeLimits, factor: number): ExchangeLimits {
  const sooner = ({ count, windowMs }: Limit) => ({ count, windowMs: windowMs / factor });
  return { perAddress: sooner(perAddress), perKeyAndAddress: sooner(perKeyAndAddress) };
}

function endStreams(
  grpc: GrpcServer,
  clock: Clock,
  how: Extract<Fault, { kind: "end-streams" }>["how"],
): void {
  switch (how) {
    case "limit":
      grpc.endCalls("OK", "");
      return;
    case "unavailable":
      grpc.endCalls("UNAVAILABLE", "a fault ended the stream");
      return;
    case "unauthenticated":
      grpc.endCalls("UNAUTHENTICATED", "the token is expired");
      return;
    case "goaway":
      grpc.goAway(GO_AWAY_GRACE_MS, clock);
      return;
    case "reset":
      grpc.resetCalls();
      return;
  }
}

function exchangeFault(effect: ExchangeFault["effect"] | undefined): ExchangeAnswer | undefined {
  const message = "a fault was switched on for the exchange";
  switch (effect) {
    case undefined:
      return undefined;
    case "refuse":
      return { status: 401, code: "UNAUTHENTICATED", message };
    case "limit":
      return { status: 429, code: "RESOURCE_EXHAUSTED", message };
    case "unavailable":
      return { status: 503, code: "UNAVAILABLE", message };
  }
}

interface FleetMethodOptions {
  readonly tokens: Tokens;
  readonly operations: FleetOperations;
  readonly clock: Clock;
  /** After this a stream is ended, in milliseconds (docs/internals/service.md, TRN-59: 60 minutes). */
  readonly streamLifeMs: number;
  /** Delivers to a subscriber through the stream faults, which drop, repeat and reorder. */
  shape(stream: string, deliver: (message: StreamMessage) => void): (message: StreamMessage) => void;
}

/**
 * Every method of FleetService, under each of the service names: messages carry no names, so nothing else
 * differs.
 */
function fleetMethods(
  serviceNames: readonly string[],
  options: FleetMethodOptions,
): ReadonlyMap<string, GrpcMethod> {
  const table = new Map<string, GrpcMethod>();
  for (const method of FleetService.methods) {
    const served = serve(method, options);
    for (const name of serviceNames) table.set(`/${name}/${method.name}`, served);
  }
  return table;
}

function serve(method: DescMethod, options: FleetMethodOptions): GrpcMethod {
  // The library's type of a method does not narrow by its kind, hence the casts.
  switch (method.methodKind) {
    case "unary":
      return unary(method as DescMethodUnary, options);
    case "server_streaming":
      return stream(method as DescMethodServerStreaming, options);
    default:
      throw new Error(`${method.name} is of a kind that the service document does not have`);
  }
}

function unary<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { tokens, operations }: FleetMethodOptions,
): GrpcMethod {
  return {
    kind: "unary",
    async answer(request, headers) {
      const caller = await tokens.verify(headers.authorization);
      const answer = await operations.call(method, caller, decode(method.input, request));
      return toBinary(method.output, answer);
    },
  };
}

function stream<I extends DescMessage, O extends DescMessage>(
  method: DescMethodServerStreaming<I, O>,
  options: FleetMethodOptions,
): GrpcMethod {
  const { tokens, operations, clock, streamLifeMs } = options;
  return {
    kind: "stream",
    async open(request, headers, response) {
      const caller = await tokens.verify(headers.authorization);
      const decoded = decode(method.input, request);
      if (response.isClosed()) return;
      const deliver = options.shape(method.name, (message) => response.write(message.bytes()));
      response.onClosed(operations.subscribe(method, caller, decoded, deliver));
      response.open();
      response.onClosed(clock.after(streamLifeMs, () => response.end("OK", "")));
    },
  };
}

function decode<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  return readRequest(schema.name, () => fromBinary(schema, bytes));
}
