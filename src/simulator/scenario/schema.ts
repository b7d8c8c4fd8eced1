import { z } from "zod";
import { faultSchema } from "../faults/fault.ts";
import { conveyorModels } from "../world/spec.ts";

const id = z.string().regex(/^[\x21-\x7e]{1,128}$/, "1 to 128 printable characters without spaces");
const code = z.string().regex(/^[\x21-\x7e]{1,64}$/, "1 to 64 printable characters without spaces");
const int32 = z.int().min(-2_147_483_648).max(2_147_483_647);
const positiveInt32 = z.int().min(1).max(2_147_483_647);
const durationMs = z.number().min(0).max(86_400_000);
const meters = z.number().min(-100_000).max(100_000);

const vertex = z.strictObject({
  id: positiveInt32,
  code,
  /** The display name; empty: the code. */
  alias: z.string().max(128).default(""),
  description: z.string().max(256).default(""),
  x: meters,
  y: meters,
  theta: z.number().min(-10).max(10).default(0),
  kind: z.enum(["waypoint", "station", "charger", "home"]).default("waypoint"),
  /** Robots dock here: always at chargers, elsewhere if it is true. */
  docking: z.boolean().default(false),
});

const map = z.strictObject({
  id: positiveInt32,
  name: z.string().min(1).max(128),
  distributor: id,
  vertices: z.array(vertex).min(1).max(100_000),
  edges: z.array(z.tuple([code, code])).default([]),
});

const robot = z.strictObject({
  id,
  amrId: positiveInt32,
  family: z.enum(["cart", "serve", "base"]),
  location: id,
  map: positiveInt32,
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
  /** Two hundred years either way: a clock that was never set, or one that was set to nonsense. */
  clockAheadMs: z.number().min(-6_400_000_000_000).max(6_400_000_000_000).default(0),
  model: z.enum(Object.keys(conveyorModels) as [keyof typeof conveyorModels]).default("vertical-2"),
  notInstalled: z.array(positiveInt32).default([]),
});

const rules = z.strictObject({
  undockMs: durationMs.default(1_500),
  dockMs: durationMs.default(2_000),
  traverseStopMs: durationMs.default(5_000),
  patrolStopMs: durationMs.default(3_000),
  /** `null`: weight changes only on request. */
  weightChangeMs: durationMs.nullable().default(4_000),
  weightChangeKg: z.number().min(0.001).max(1_000).default(2),
  bussingThresholdKg: z.number().min(0).max(10_000).default(10),
  transferMs: durationMs.default(3_000),
  taskMs: durationMs.default(3_000),
  blockedFailMs: durationMs.min(1).default(120_000),
  drivingPercentPerHour: z.number().min(0).max(100_000).default(20),
  standingPercentPerHour: z.number().min(0).max(100_000).default(2),
  chargingPercentPerHour: z.number().min(0).max(100_000).default(60),
});

const of = <K extends string, S extends z.ZodRawShape>(kind: K, shape: S) =>
  z.strictObject({ kind: z.literal(kind), robotId: id, ...shape });

/** An incident of a robot, as a scenario and the control endpoint write it. */
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
