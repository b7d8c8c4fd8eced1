import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  DataType,
  MetricSchema,
  PayloadSchema,
  PropertySetSchema,
  PropertyValueSchema,
} from "../../../wire/sparkplug/payload_pb.js";
import { MessageWriter } from "./message-writer.ts";

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
  readonly alias: number | null;
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
 * A message as bytes. Its metrics are in the order of their times, as the standard wants them. None of a
 * birth is of later than the birth, also after the clock was set back: data would be older than it.
 */
export function encodePayload(parts: PayloadParts): Buffer {
  const writer = new MessageWriter();
  writePayload(writer, parts);
  return writer.finish();
}

/** The same, behind what the writer has. */
export function writePayload(writer: MessageWriter, { atMs, seq, samples, isBirth }: PayloadParts): void {
  const inOrder = isInOrder(samples) ? samples : samples.toSorted((one, other) => one.atMs - other.atMs);
  writer.integer(payload.timestamp.number, timeOf(atMs));
  for (const sample of inOrder) {
    const start = writer.begin(payload.metrics.number);
    writeMetric(writer, sample, isBirth, isBirth ? Math.min(sample.atMs, atMs) : sample.atMs);
    writer.end(start);
  }
  if (seq !== null) writer.integer(payload.seq.number, seq);
}

function isInOrder(samples: readonly Sample[]): boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const { atMs } of samples) {
    if (atMs < lastMs) return false;
    lastMs = atMs;
  }
  return true;
}

function writeMetric(
  writer: MessageWriter,
  { model, alias, value, quality, isHistorical }: Sample,
  isBirth: boolean,
  atMs: number,
): void {
  const { name, type, unit } = model;
  const isNamed = isBirth || alias === null;
  if (isNamed) writer.text(metric.name.number, name);
  if (alias !== null) writer.integer(metric.alias.number, alias);
  writer.integer(metric.timestamp.number, timeOf(atMs));
  if (isNamed) writer.integer(metric.datatype.number, dataTypes[type]);
  if (isHistorical) writer.boolean(metric.isHistorical.number, true);
  if (value === null) writer.boolean(metric.isNull.number, true);
  const shownUnit = isBirth ? unit : undefined;
  if (shownUnit !== undefined || quality !== "good") {
    const start = writer.begin(metric.properties.number);
    writeProperties(writer, shownUnit, quality);
    writer.end(start);
  }
  if (value !== null) writeValue(writer, type, value);
}

/** A wrong clock may be before 1970, which no message can say. */
function timeOf(atMs: number): number {
  return Math.max(0, Math.trunc(atMs));
}

/** Signed numbers are in the unsigned field, as two's complement. */
function writeValue(writer: MessageWriter, type: MetricType, value: MetricValue): void {
  switch (type) {
    case "Int32":
      writer.integer(metric.intValue.number, Number(value) >>> 0);
      break;
    case "Int64":
    case "DateTime":
      writer.integer(metric.longValue.number, Math.trunc(Number(value)));
      break;
    case "Double":
      writer.double(metric.doubleValue.number, Number(value));
      break;
    case "Boolean":
      writer.boolean(metric.booleanValue.number, value === true);
      break;
    case "String":
      writer.text(metric.stringValue.number, String(value));
      break;
  }
}

/** All keys come before all values, each at the place of its key. */
function writeProperties(writer: MessageWriter, unit: MetricModel["unit"], quality: MetricQuality): void {
  const keys = [
    ...(unit === undefined ? [] : ["engUnit", "engLow", "engHigh"]),
    ...(quality === "good" ? [] : ["Quality"]),
  ];
  for (const key of keys) writer.text(propertySet.keys.number, key);
  const write = (type: number, writeField: () => void) => {
    const start = writer.begin(propertySet.values.number);
    writer.integer(property.type.number, type);
    writeField();
    writer.end(start);
  };
  if (unit !== undefined) {
    write(DataType.String, () => writer.text(property.stringValue.number, unit.name));
    for (const bound of [unit.low, unit.high])
      write(DataType.Double, () => writer.double(property.doubleValue.number, bound));
  }
  if (quality !== "good")
    write(DataType.Int32, () => writer.integer(property.intValue.number, qualityCodes[quality]));
}

/** A metric of a command, or of a message of this very node. */
export interface ReadMetric {
  /** Null: it has none. */
  readonly name: string | null;
  readonly alias: number | null;
  /** Its declared datatype. A command need not have one. */
  readonly datatype: number | null;
  readonly isHistorical: boolean;
  /** Null: none, or of a type that no metric here has. */
  readonly value: string | boolean | number | null;
}

/**
 * Far more than a host can write at the node. Those of a large message would hold the event loop for long.
 */
export const MOST_METRICS = 100;
/** Of the message, and of each metric. None has a tenth of it. */
const MOST_FIELDS = 1_000;

/** The metrics of a message, one above `MOST_METRICS` at most; null: it is none of Sparkplug. */
export function readPayload(bytes: Uint8Array): readonly ReadMetric[] | null {
  try {
    return firstMetrics(bytes).map(readMetric);
  } catch {
    // The decoder throws errors of several kinds for bytes that are no message.
    return null;
  }
}

function firstMetrics(bytes: Uint8Array): readonly Uint8Array[] {
  const reader = new BinaryReader(bytes);
  const found: Uint8Array[] = [];
  for (let fields = 0; reader.pos < reader.len && found.length <= MOST_METRICS; fields += 1) {
    if (fields === MOST_FIELDS) throw new RangeError("too many fields");
    const [field, wireType] = reader.tag();
    if (field === payload.metrics.number && wireType === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(wireType, field);
  }
  return found;
}

/**
 * Reads what a command may have, and passes over the rest: an object for each of the properties, rows or
 * templates of a hostile one would hold the event loop.
 */
function readMetric(bytes: Uint8Array): ReadMetric {
  const reader = new BinaryReader(bytes);
  let name: Uint8Array | null = null;
  let alias: number | null = null;
  let value: ReadMetric["value"] | Uint8Array = null;
  let datatype: number | null = null;
  let [isNull, isHistorical] = [false, false];
  for (let fields = 0; reader.pos < reader.len; fields += 1) {
    if (fields === MOST_FIELDS) throw new RangeError("too many fields");
    const [field, wireType] = reader.tag();
    if (wireType === WireType.LengthDelimited) {
      const content = reader.bytes();
      if (field === metric.name.number) name = content;
      else if (field === metric.stringValue.number) value = content;
    } else if (wireType !== WireType.Varint) reader.skip(wireType, field);
    else {
      const number = Number(reader.uint64());
      if (field === metric.alias.number) alias = number;
      else if (field === metric.datatype.number) datatype = number;
      else if (field === metric.isHistorical.number) isHistorical = number !== 0;
      else if (field === metric.isNull.number) isNull = number !== 0;
      else if (field === metric.booleanValue.number) value = number !== 0;
      else if (field === metric.intValue.number) value = number;
    }
  }
  const read = value instanceof Uint8Array ? textOf(value) : value;
  const shown = isNull ? null : read;
  return { name: name === null ? null : textOf(name), alias, datatype, isHistorical, value: shown };
}

/** Whether the metric declares this datatype, or none. */
export function isOfType({ datatype }: ReadMetric, type: MetricType): boolean {
  return datatype === null || datatype === dataTypes[type];
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
