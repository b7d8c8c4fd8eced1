import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  DataType,
  type Metric,
  type MetricSchema,
  PayloadSchema,
} from "../../../wire/sparkplug/payload_pb.js";

/** The types of metrics, by the names of the standard. */
const dataTypes = {
  Int32: DataType.Int32,
  Int64: DataType.Int64,
  Double: DataType.Double,
  Boolean: DataType.Boolean,
  String: DataType.String,
  DateTime: DataType.DateTime,
} as const;

type MetricType = keyof typeof dataTypes;

/** What a metric is: a birth has it, a message of data has the alias only. */
export interface MetricModel {
  readonly name: string;
  readonly type: MetricType;
  /** The engineering unit and its range. */
  readonly unit?: { readonly name: string; readonly low: number; readonly high: number };
}

/** Text, number, truth, or a time in milliseconds since 1970. */
export type MetricValue = string | number | boolean;

/** A value of a metric at a moment. */
export interface Sample {
  readonly model: MetricModel;
  /** Null: it is named, always. */
  readonly alias: bigint | null;
  /** Null: there is no value, or none that is known to be true. */
  readonly value: MetricValue | null;
  readonly quality: MetricQuality;
  readonly atMs: number;
  readonly isHistorical?: true;
}

/**
 * How far a value is known to be true: by the codes of the standard, of which good is 192 and never written.
 */
export type MetricQuality = "good" | "stale" | "bad";

const halfSurrogate = /\p{Surrogate}/gu;
const qualityCodes = { stale: 500, bad: 0 } as const;

export interface PayloadParts {
  readonly atMs: number;
  /** Null: the message has none, as a death. */
  readonly seq: number | null;
  readonly samples: readonly Sample[];
  /** Whether it describes its metrics: name, datatype and unit. */
  readonly isBirth: boolean;
}

/** A message as bytes. Its metrics are in the order of their times, as the standard wants them. */
export function encodePayload({ atMs, seq, samples, isBirth }: PayloadParts): Buffer {
  const inOrder = isInOrder(samples) ? samples : samples.toSorted((one, other) => one.atMs - other.atMs);
  const message = create(PayloadSchema, {
    timestamp: timeOf(atMs),
    metrics: inOrder.map((sample) => metricOf(sample, isBirth)),
    ...(seq === null ? {} : { seq: BigInt(seq) }),
  });
  const bytes = toBinary(PayloadSchema, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isInOrder(samples: readonly Sample[]): boolean {
  return samples.every(({ atMs }, index) => index === 0 || atMs >= (samples[index - 1]?.atMs ?? 0));
}

function metricOf(
  { model, alias, value, quality, atMs, isHistorical }: Sample,
  isBirth: boolean,
): MessageInitShape<typeof MetricSchema> {
  const { name, type } = model;
  const isNamed = isBirth || alias === null;
  const properties = propertiesOf(isBirth ? model.unit : undefined, quality);
  return {
    ...(isNamed ? { name } : {}),
    ...(alias === null ? {} : { alias }),
    ...(isNamed ? { datatype: dataTypes[type] } : {}),
    timestamp: timeOf(atMs),
    ...(isHistorical ? { isHistorical } : {}),
    ...(properties === null ? {} : { properties }),
    ...(value === null ? { isNull: true } : { value: fieldOf(type, value) }),
  };
}

/** A wrong clock may be before 1970, which no message can say. */
function timeOf(atMs: number): bigint {
  return BigInt(Math.max(0, Math.trunc(atMs)));
}

/** Signed numbers are in the unsigned field, as two's complement. */
function fieldOf(
  type: MetricType,
  value: MetricValue,
): NonNullable<MessageInitShape<typeof MetricSchema>["value"]> {
  switch (type) {
    case "Int32":
      return { case: "intValue", value: Number(value) >>> 0 };
    case "Int64":
    case "DateTime":
      return { case: "longValue", value: BigInt.asUintN(64, BigInt(Math.trunc(Number(value)))) };
    case "Double":
      return { case: "doubleValue", value: Number(value) };
    case "Boolean":
      return { case: "booleanValue", value: value === true };
    case "String":
      return { case: "stringValue", value: String(value).replace(halfSurrogate, "\ufffd") };
  }
}

function propertiesOf(unit: MetricModel["unit"], quality: MetricQuality) {
  if (unit === undefined && quality === "good") return null;
  const properties = [
    ...(unit === undefined
      ? []
      : [
          ["engUnit", { type: DataType.String, value: { case: "stringValue", value: unit.name } }] as const,
          ["engLow", { type: DataType.Double, value: { case: "doubleValue", value: unit.low } }] as const,
          ["engHigh", { type: DataType.Double, value: { case: "doubleValue", value: unit.high } }] as const,
        ]),
    ...(quality === "good"
      ? []
      : [
          [
            "Quality",
            { type: DataType.Int32, value: { case: "intValue", value: qualityCodes[quality] } },
          ] as const,
        ]),
  ];
  return { keys: properties.map(([key]) => key), values: properties.map(([, value]) => value) };
}

/** A metric of a command, or of a message of this very node. */
export interface ReadMetric {
  /** Null: it has none. */
  readonly name: string | null;
  readonly alias: bigint | null;
  /** Null: none, or of a type that no metric here has. */
  readonly value: string | boolean | bigint | number | null;
}

/** The metrics of a message; null: it is none of Sparkplug. */
export function readPayload(bytes: Uint8Array): readonly ReadMetric[] | null {
  try {
    return fromBinary(PayloadSchema, bytes).metrics.map(readMetric);
  } catch {
    // The decoder throws errors of several kinds for bytes that are no message.
    return null;
  }
}

function readMetric(metric: Metric): ReadMetric {
  return {
    name: Object.hasOwn(metric, "name") ? metric.name : null,
    alias: Object.hasOwn(metric, "alias") ? metric.alias : null,
    value: metric.value.case === undefined ? null : metric.value.value,
  };
}
