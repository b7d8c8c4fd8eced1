import { z } from "zod";
import { TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";

const count = z.int().min(1).max(1_000_000).default(1);
const robotId = z.string().min(1).max(256).optional();
const forMs = z.number().min(1).max(86_400_000).optional();

// Names are checked: a fault with a misspelt name would wait for ever.
const methods = [...FleetService.methods, ...TaskService.methods];
const operation = z.enum(methods.map(({ name }) => name));
const stream = z.enum(
  methods.filter(({ methodKind }) => methodKind === "server_streaming").map(({ name }) => name),
);

/**
 * A fault of commands: what happens between a command and its answer. The three delays answer
 * DEADLINE_EXCEEDED after the service's wait for the robot. The command has then taken effect, never does, or
 * does so after that answer.
 */
const commandFault = z.strictObject({
  kind: z.literal("command"),
  /**
   * The name of an operation, as `CreateMission`, or of an opened stream, or a list of names; absent: every
   * one.
   */
  operation: z.union([operation, z.array(operation).min(1).readonly()]).optional(),
  /** Absent: every robot. */
  robotId,
  /** How many commands it affects. */
  count,
  effect: z.enum(["delay-taken", "delay-not-taken", "delay-taken-late", "internal-before", "internal-after"]),
});

/** A fault of stream messages on their way to a subscriber. */
const streamFault = z.strictObject({
  kind: z.literal("stream"),
  effect: z.enum(["drop", "repeat", "reorder"]),
  /** The name of a stream operation, as `SubscribeMissionStatus`; absent: every one. */
  stream: stream.optional(),
  /** Absent: every robot. */
  robotId,
  /** How many messages it affects. */
  count,
});

/**
 * Connections stay open, pings are answered, and nothing else is, as from a service that hangs behind its
 * load balancer.
 */
const silence = z.strictObject({ kind: z.literal("silence"), forMs });

/** Connections are closed, and new ones too, as with a pulled cable. */
const cut = z.strictObject({ kind: z.literal("cut"), forMs });

/** The exchange answers 401, 429 or 503 to every request. */
const exchangeFault = z.strictObject({
  kind: z.literal("exchange"),
  effect: z.enum(["refuse", "limit", "unavailable"]),
  forMs,
});

/** Tokens expire this much before their `exp`. */
const earlyExpiry = z.strictObject({
  kind: z.literal("early-expiry"),
  earlyMs: z.number().min(0).max(86_400_000),
  forMs,
});

/**
 * Ends every stream under way: as at its 60 minutes, with a status, with GOAWAY, or with RST_STREAM code 0.
 */
const endStreams = z.strictObject({
  kind: z.literal("end-streams"),
  how: z.enum(["limit", "unavailable", "unauthenticated", "goaway", "reset"]),
});

/** Every token issued until now is expired. */
const expireTokens = z.strictObject({ kind: z.literal("expire-tokens") });

/**
 * A fault in a scenario or at the control endpoint. `forMs`: how long it lasts; absent: until it is cleared.
 */
export const faultSchema = z.discriminatedUnion("kind", [
  commandFault,
  streamFault,
  silence,
  cut,
  exchangeFault,
  earlyExpiry,
  endStreams,
  expireTokens,
]);

export type Fault = z.output<typeof faultSchema>;
export type CommandFault = z.output<typeof commandFault>;
export type StreamFault = z.output<typeof streamFault>;
export type ExchangeFault = z.output<typeof exchangeFault>;

/** Faults with a duration, at most one of each kind at a time. */
export type LastingFault = Extract<Fault, { kind: "silence" | "cut" | "exchange" | "early-expiry" }>;
