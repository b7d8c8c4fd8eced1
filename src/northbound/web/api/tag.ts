import { z } from "zod";
import { milliseconds, page, quality, robotId, time, type ViewOf } from "../../../models/parts.ts";

const text = z.strictObject({ en: z.string(), de: z.string() });

/** An OPC UA node or an MQTT topic, with its present value. */
export const tag = z.strictObject({
  protocol: z.enum(["opcua", "mqtt"]),
  address: z.string().describe("A NodeId, or a topic: ready to be copied."),
  robot_id: robotId.nullable().describe("Null: it is of no robot."),
  station: z.string().nullable().describe("Null: it is of no station."),
  type: z.string().describe("OPC UA: the data type, with [] for an array. MQTT: JSON or text."),
  value: z.unknown().describe("MQTT: the payload, as text. Null: there is no value."),
  clipped: z.boolean().describe("Only the beginning is here: ask for the address alone to get all."),
  quality: quality.describe("How far the value is known to be true now."),
  status: z.string().nullable().describe("OPC UA: the name of its status code."),
  source_time: time.nullable().describe("The robot's clock; null: the value has no such time."),
  received_at: time.nullable().describe("When the gateway got it."),
  age_ms: milliseconds.nullable().describe("Since it was received, when this was sent."),
  description: text.nullable().describe("What it says. Null, here and below: it is not described."),
  unit: z.string().nullable().describe("The symbol of its unit."),
  meaning: text.nullable().describe("OPC UA: what the present number of an enumeration means."),
  equivalents: z
    .array(z.string())
    .describe("The addresses of the same value in the other protocol; only if one address was asked for."),
});

export const tags = z.strictObject({
  ...page,
  tags: z.array(tag),
  missing_robots: z
    .int()
    .min(0)
    .describe("Robots whose OPC UA nodes are not made yet: they are not in the list."),
});

export type Tag = ViewOf<typeof tag>;
export type Tags = ViewOf<typeof tags>;
