import type { Percentiles } from "../quantile.ts";

/**
 * What is compared: the floor, the same as a quick script would write it, the gateway of this tree, another
 * build of it, and the gateway with Sparkplug beside its JSON topics and instead of them, the latter in the
 * other build, too. Each has a session of its own to the load service.
 */
export const sides = ["floor", "script", "gateway", "other", "beside", "instead", "other-instead"] as const;
export type Side = (typeof sides)[number];

/** Whether a side publishes missions on JSON topics. */
export const isOnJson = (side: Side) => side !== "instead" && side !== "other-instead";
/** Whether a side is an edge node of Sparkplug. */
export const isOnSparkplug = (side: Side) => side === "beside" || !isOnJson(side);
/** The group of these edge nodes. Each has the name of its side. */
export const SPARKPLUG_GROUP = "bench";

/** A value for each side. */
export function forSides<T>(make: () => T): Record<Side, T> {
  return Object.fromEntries(sides.map((side) => [side, make()])) as Record<Side, T>;
}

/** Where the load service listens, and what its clients need. */
export interface LoadAddress {
  readonly grpcPort: number;
  readonly httpsPort: number;
  readonly caPath: string;
}

/** One block of load: at a rate, or as fast as each robot's message is seen at the far end. */
export type Block =
  | {
      readonly kind: "paced";
      readonly side: Side;
      readonly messagesPerSecond: number;
      readonly seconds: number;
    }
  | { readonly kind: "saturated"; readonly side: Side; readonly seconds: number };

/** Payloads of one robot by sequence number. */
export type Specimens = Readonly<Record<number, string>>;

/** What the far end saw of one block. Latencies in milliseconds. */
export interface BlockResult {
  readonly sent: number;
  readonly seenOnMqtt: number;
  /** Only counted in paced blocks: at full speed one value may overtake another before it is published. */
  readonly seenOnOpcua: number;
  /** Robots' data on Sparkplug. */
  readonly seenOnSparkplug: number;
  readonly seconds: number;
  /** The first payloads of one robot on MQTT by sequence number, to compare what the sides publish. */
  readonly specimens: Specimens;
  readonly mqttLatencyMs: Percentiles;
  readonly opcuaLatencyMs: Percentiles;
}

/** What the orchestrator asks of the load process. */
export type LoadRequest =
  | { readonly kind: "watch"; readonly side: Side; readonly opcuaPort: number; readonly mqttPort: number }
  | { readonly kind: "block"; readonly block: Block };

/** What the load process answers. */
export type LoadReply =
  | { readonly kind: "listening"; readonly address: LoadAddress }
  | { readonly kind: "watching"; readonly side: Side }
  | { readonly kind: "result"; readonly result: BlockResult }
  | { readonly kind: "failed"; readonly message: string };

export const SERVICE_PATH = "/fleet.v1.FleetService";

/** The robots of a run: `r0000`, `r0001`, … */
export function robotIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `r${String(index).padStart(4, "0")}`);
}

/** The topic on which a side publishes a robot's mission. */
export function missionTopic(side: Side, robotId: string): string {
  return `fleetgate/${side}/robots/${robotId}/mission`;
}
