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

const id = z.string().regex(/^[\x21-\x7e]{1,128}$/, "1 to 128 printable characters without spaces");
const code = z.string().regex(/^[\x21-\x7e]{1,64}$/, "1 to 64 printable characters without spaces");
const int32 = z.int().min(-2_147_483_648).max(2_147_483_647);
const positiveInt32 = z.int().min(1).max(2_147_483_647);
const durationMs = z.number().min(0).max(86_400_000);
const meters = z.number().min(-100_000).max(100_000);

/** A point of a map: metres and radians. */
const vertex = z.strictObject({
  id: positiveInt32,
  /** What tasks call endPointCode. */
  code,
  /** The display name that a destination_id must match; empty: the code. */
  alias: z.string().max(128).default(""),
  description: z.string().max(256).default(""),
  x: meters,
  y: meters,
  theta: z.number().min(-10).max(10).default(0),
  /** Its purpose. A charger has a contact dock. */
  kind: z.enum(["waypoint", "station", "charger", "home"]).default("waypoint"),
  /** Robots dock here, which takes time: always at chargers, elsewhere if it is true. */
  docking: z.boolean().default(false),
});

const map = z.strictObject({
  id: positiveInt32,
  name: z.string().min(1).max(128),
  distributor: id,
  vertices: z.array(vertex).min(1).max(100_000),
  /** Pairs of codes between which robots drive, both ways; none: straight from anywhere to anywhere. */
  edges: z.array(z.tuple([code, code])).default([]),
});

/** Cart models, and how many conveyors each carries. The first is the uppermost or the front-facing one. */
export const conveyorModels = { single: 1, "vertical-2": 2, "vertical-3": 3, "horizontal-2": 2 } as const;

const robot = z.strictObject({
  id,
  /** The number by which task chains name the robot. */
  amrId: positiveInt32,
  /** Carts carry loads on conveyors, serves carry items; `base` is a robot of neither. */
  family: z.enum(["cart", "serve", "base"]),
  location: id,
  map: positiveInt32,
  /** Code of the vertex at which the robot starts, and to which workflows return. */
  home: code,
  /** Code of a charger; without one the robot has no contact dock. */
  dock: code.optional(),
  speedMetersPerSecond: z.number().min(0.01).max(20).default(1),
  batteryPercent: z.number().min(0).max(100).default(80),
  payloadKg: z.number().min(0).max(10_000).default(0),
  /** Task chains may name a group; by default carts are 1, serve robots 2 and base robots 3. */
  group: int32.optional(),
  area: int32.default(1),
  ip: z.string().max(64).optional(),
  /**
   * How far its own clock is ahead of the service's. Two hundred years either way: a clock that was never
   * set, or one that was set to nonsense.
   */
  clockAheadMs: z.number().min(-6_400_000_000_000).max(6_400_000_000_000).default(0),
  /** Carts only. */
  model: z.enum(Object.keys(conveyorModels) as [keyof typeof conveyorModels]).default("vertical-2"),
  /** Conveyor indexes of the model that this cart was delivered without. */
  notInstalled: z.array(positiveInt32).default([]),
});

/** Durations and thresholds. Milliseconds of world time unless the name says otherwise. */
const rules = z.strictObject({
  undockMs: durationMs.default(1_500),
  dockMs: durationMs.default(2_000),
  /** A cart's stop at each goal of a traverse. */
  traverseStopMs: durationMs.default(5_000),
  patrolStopMs: durationMs.default(3_000),
  /** When staff removes or adds weight at a serve robot's stop; null: only on request. */
  weightChangeMs: durationMs.nullable().default(4_000),
  /** How much staff removes or adds in one go. */
  weightChangeKg: z.number().min(0.001).max(1_000).default(2),
  /** A bussing patrol ends above this. */
  bussingThresholdKg: z.number().min(0).max(10_000).default(10),
  /** How long a conveyor rolls until its payload has moved. */
  transferMs: durationMs.default(3_000),
  /** How long a robot loads or unloads for a task. */
  taskMs: durationMs.default(3_000),
  /** A mission of a robot that stays blocked fails after this. */
  blockedFailMs: durationMs.min(1).default(120_000),
  drivingPercentPerHour: z.number().min(0).max(100_000).default(20),
  standingPercentPerHour: z.number().min(0).max(100_000).default(2),
  chargingPercentPerHour: z.number().min(0).max(100_000).default(60),
});

const of = <K extends string, S extends z.ZodRawShape>(kind: K, shape: S) =>
  z.strictObject({ kind: z.literal(kind), robotId: id, ...shape });

/**
 * An event of a robot without a command, as a scenario and the control endpoint write it. A battery of 0
 * percent is a robot that has run flat. After `sequence-reset` its numbers begin again with 0. A conveyor in
 * error stops, unless it `keepsTurning`; either way it takes no command until it is well.
 */
export const incidentSchema = z.discriminatedUnion("kind", [
  of("offline", {}),
  of("online", {}),
  of("blocked", {}),
  of("unblocked", {}),
  of("battery", { percent: z.number().min(0).max(100) }),
  of("wired", { plugged: z.boolean() }),
  of("sequence-reset", {}),
  of("weight", { changeKg: z.number().min(-10_000).max(10_000) }),
  of("conveyor-health", { index: positiveInt32, ok: z.boolean(), keepsTurning: z.boolean().optional() }),
  of("conveyor-payload", { index: positiveInt32, loaded: z.boolean() }),
]);

const distributor = z.strictObject({
  id,
  apiKeys: z
    .array(
      z.strictObject({
        apiKey: id,
        /** Without one the simulator makes one up. */
        secret: z.string().min(8).max(256).optional(),
      }),
    )
    .min(1),
});

/** A scenario file. */
export const scenarioSchema = z.strictObject({
  seed: z.int().min(0).max(4_294_967_295).default(1),
  timeFactor: z.number().min(0.01).max(1_000).default(1),
  /**
   * How long a robot takes to confirm a command, and how long the service waits for it. Real milliseconds.
   */
  confirmMs: durationMs.default(20),
  confirmWaitMs: durationMs.min(1).default(10_000),
  /** What robots do by themselves. */
  lively: z.enum(["none", "missions", "patrols"]).default("none"),
  rules: rules.prefault({}),
  distributors: z.array(distributor).min(1),
  locations: z.array(z.strictObject({ id, distributor: id })).min(1),
  maps: z.array(map).min(1),
  robots: z.array(robot).max(100_000),
  incidents: z.array(z.strictObject({ afterMs: durationMs, incident: incidentSchema })).default([]),
  /** Faults, and how many real milliseconds after the start each is switched on. */
  faults: z.array(z.strictObject({ afterMs: durationMs.default(0), fault: faultSchema })).default([]),
});

/** A scenario file as it was read and found well-formed, defaults filled in. */
export type ScenarioFile = z.output<typeof scenarioSchema>;

/** A scenario file as somebody writes it. */
export type ScenarioInput = z.input<typeof scenarioSchema>;

export type Incident = z.output<typeof incidentSchema>;
export type Rules = z.output<typeof rules>;
export type ConveyorModel = keyof typeof conveyorModels;

/** What robots do by themselves, besides commands. */
export type Liveliness = ScenarioFile["lively"];

export type Vertex = z.output<typeof vertex>;
export type MapSpec = z.output<typeof map>;
/** A robot of a scenario, with what the file may leave out. */
export type RobotSpec = z.output<typeof robot> & { readonly group: number; readonly ip: string };
export type Family = RobotSpec["family"];

/** The description of a world. */
export interface WorldSpec
  extends Pick<ScenarioFile, "seed" | "rules" | "locations" | "maps" | "lively" | "incidents"> {
  readonly robots: readonly RobotSpec[];
}
