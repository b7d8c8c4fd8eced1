import proto from "sparkplug-payload/lib/sparkplugPayloadProto.js";

/** The foreign decoder, below its layer of conveniences: that one hides which fields a message has. */
const { Payload } = proto.org.eclipse.tahu.protobuf;
type WireMetric = proto.org.eclipse.tahu.protobuf.Payload.IMetric;
type WireProperties = proto.org.eclipse.tahu.protobuf.Payload.IPropertySet;
type WireNumber = WireMetric["alias"];

export type Value = number | string | boolean;

export interface Property {
  /** Null: it has none. */
  readonly datatype: number | null;
  readonly field: string | null;
  readonly value: Value | null;
}

export interface Properties {
  readonly keys: readonly string[];
  readonly values: readonly Property[];
}

/** A metric with what its message says, and null for what it does not say. */
export interface Metric {
  readonly name: string | null;
  readonly alias: number | null;
  readonly datatype: number | null;
  readonly atMs: number | null;
  readonly isNull: boolean;
  readonly isHistorical: boolean;
  /** Which of the value fields it has, by the name of the decoder. */
  readonly field: string | null;
  readonly value: Value | null;
  readonly properties: Properties | null;
}

export interface Payload {
  readonly atMs: number | null;
  readonly seq: number | null;
  readonly metrics: readonly Metric[];
}

/** Null: these bytes are no payload. */
export function decode(bytes: Uint8Array): Payload | null {
  try {
    const read = Payload.decode(bytes);
    return {
      atMs: numberOf(own(read, "timestamp")),
      seq: numberOf(own(read, "seq")),
      metrics: read.metrics.map(metricOf),
    };
  } catch {
    // The decoder throws errors of several kinds.
    return null;
  }
}

/** What a test wants to be written; fields that it leaves out are not in the message. */
export interface PayloadToWrite {
  readonly timestamp?: number;
  readonly seq?: number;
  readonly metrics?: WireMetric[];
}

export function encode(payload: PayloadToWrite): Buffer {
  return Buffer.from(Payload.encode(Payload.create(payload)).finish());
}

const fields = [
  "intValue",
  "longValue",
  "floatValue",
  "doubleValue",
  "booleanValue",
  "stringValue",
  "bytesValue",
  "datasetValue",
  "templateValue",
  "extensionValue",
  "propertysetValue",
  "propertysetsValue",
] as const;

const signed = new Set([1, 2, 3, 4]);

function metricOf(metric: WireMetric): Metric {
  const properties = own(metric, "properties");
  return {
    name: own(metric, "name"),
    alias: numberOf(own(metric, "alias")),
    atMs: numberOf(own(metric, "timestamp")),
    isNull: own(metric, "isNull") === true,
    isHistorical: own(metric, "isHistorical") === true,
    properties: properties === null ? null : propertiesOf(properties),
    ...valueIn(metric, own(metric, "datatype")),
  };
}

function propertiesOf({ keys, values }: WireProperties): Properties {
  return {
    keys: keys ?? [],
    values: (values ?? []).map((value) => valueIn(value, own(value, "type"))),
  };
}

function valueIn(from: object, datatype: number | null): Property {
  const field = fields.find((name) => Object.hasOwn(from, name)) ?? null;
  if (field === null) return { datatype, field, value: null };
  return { datatype, field, value: readValue((from as Record<string, unknown>)[field], datatype) };
}

/** A signed number is in an unsigned field; a message of data has no datatype, and its host knows it. */
export function readValue(read: unknown, datatype: number | null): Value | null {
  if (typeof read === "string" || typeof read === "boolean") return read;
  const value = numberOf(read as WireNumber);
  if (value === null || datatype === null || !signed.has(datatype)) return value;
  return datatype === 4 ? Number(BigInt.asIntN(64, BigInt(value))) : value | 0;
}

function own<T extends object, K extends keyof T>(from: T, key: K): NonNullable<T[K]> | null {
  return Object.hasOwn(from, key) ? (from[key] ?? null) : null;
}

function numberOf(value: WireNumber): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** A field with this content, as bytes. */
export function field(number: number, content: Uint8Array): Buffer {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(content.length)]), content]);
}
