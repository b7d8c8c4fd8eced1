import { fromBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  DataType,
  type Metric,
  MetricSchema,
  PayloadSchema,
  PropertySetSchema,
  PropertyValueSchema,
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

const { field: payload } = PayloadSchema;
const { field: metric } = MetricSchema;
const { field: propertySet } = PropertySetSchema;
const { field: property } = PropertyValueSchema;
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

/**
 * A message as bytes. Its metrics are in the order of their times, as the standard wants them. Written by the
 * numbers of the schema: the generic encoder takes three times as long.
 */
export function encodePayload({ atMs, seq, samples, isBirth }: PayloadParts): Buffer {
  const inOrder = isInOrder(samples) ? samples : samples.toSorted((one, other) => one.atMs - other.atMs);
  const writer = new BinaryWriter();
  writer.tag(payload.timestamp.number, WireType.Varint).uint64(timeOf(atMs));
  for (const sample of inOrder) {
    writer.tag(payload.metrics.number, WireType.LengthDelimited).fork();
    writeMetric(writer, sample, isBirth);
    writer.join();
  }
  if (seq !== null) writer.tag(payload.seq.number, WireType.Varint).uint64(seq);
  const bytes = writer.finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isInOrder(samples: readonly Sample[]): boolean {
  return samples.every(({ atMs }, index) => index === 0 || atMs >= (samples[index - 1]?.atMs ?? 0));
}

function writeMetric(
  writer: BinaryWriter,
  { model, alias, value, quality, atMs, isHistorical }: Sample,
  isBirth: boolean,
): void {
  const { name, type, unit } = model;
  const isNamed = isBirth || alias === null;
  if (isNamed) writer.tag(metric.name.number, WireType.LengthDelimited).string(name);
  if (alias !== null) writer.tag(metric.alias.number, WireType.Varint).uint64(alias);
  writer.tag(metric.timestamp.number, WireType.Varint).uint64(timeOf(atMs));
  if (isNamed) writer.tag(metric.datatype.number, WireType.Varint).uint32(dataTypes[type]);
  if (isHistorical) writer.tag(metric.isHistorical.number, WireType.Varint).bool(true);
  if (value === null) writer.tag(metric.isNull.number, WireType.Varint).bool(true);
  const shownUnit = isBirth ? unit : undefined;
  if (shownUnit !== undefined || quality !== "good") {
    writer.tag(metric.properties.number, WireType.LengthDelimited).fork();
    writeProperties(writer, shownUnit, quality);
    writer.join();
  }
  if (value !== null) writeValue(writer, type, value);
}

/** A wrong clock may be before 1970, which no message can say. */
function timeOf(atMs: number): number {
  return Math.max(0, Math.trunc(atMs));
}

/** Signed numbers are in the unsigned field, as two's complement. */
function writeValue(writer: BinaryWriter, type: MetricType, value: MetricValue): void {
  switch (type) {
    case "Int32":
      writer.tag(metric.intValue.number, WireType.Varint).uint32(Number(value) >>> 0);
      break;
    case "Int64":
    case "DateTime":
      writer
        .tag(metric.longValue.number, WireType.Varint)
        .uint64(BigInt.asUintN(64, BigInt(Math.trunc(Number(value)))));
      break;
    case "Double":
      writer.tag(metric.doubleValue.number, WireType.Bit64).double(Number(value));
      break;
    case "Boolean":
      writer.tag(metric.booleanValue.number, WireType.Varint).bool(value === true);
      break;
    case "String":
      writer
        .tag(metric.stringValue.number, WireType.LengthDelimited)
        .string(String(value).replace(halfSurrogate, "\ufffd"));
      break;
  }
}

/** All keys come before all values, each at the place of its key. */
function writeProperties(writer: BinaryWriter, unit: MetricModel["unit"], quality: MetricQuality): void {
  const keys = [
    ...(unit === undefined ? [] : ["engUnit", "engLow", "engHigh"]),
    ...(quality === "good" ? [] : ["Quality"]),
  ];
  for (const key of keys) writer.tag(propertySet.keys.number, WireType.LengthDelimited).string(key);
  const write = (type: number, writeField: () => void) => {
    writer.tag(propertySet.values.number, WireType.LengthDelimited).fork();
    writer.tag(property.type.number, WireType.Varint).uint32(type);
    writeField();
    writer.join();
  };
  if (unit !== undefined) {
    write(DataType.String, () =>
      writer.tag(property.stringValue.number, WireType.LengthDelimited).string(unit.name),
    );
    for (const bound of [unit.low, unit.high])
      write(DataType.Double, () => writer.tag(property.doubleValue.number, WireType.Bit64).double(bound));
  }
  if (quality !== "good")
    write(DataType.Int32, () =>
      writer.tag(property.intValue.number, WireType.Varint).uint32(qualityCodes[quality]),
    );
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

function readMetric(read: Metric): ReadMetric {
  return {
    name: Object.hasOwn(read, "name") ? read.name : null,
    alias: Object.hasOwn(read, "alias") ? read.alias : null,
    value: read.value.case === undefined ? null : read.value.value,
  };
}
