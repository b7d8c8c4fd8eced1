import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { RandomSource } from "../../src/platform/backoff.ts";
import { pick } from "../../src/simulator/world/random.ts";

/** What a service that misbehaves draws from. */
export interface Worst {
  /** From 0 up to 1; the same run for the same seed. */
  readonly random: RandomSource;
  /** Ids of robots that it may name; there are others that cannot be names. */
  readonly names: readonly [string, ...string[]];
}

const DEEPEST = 6;
const INT64_MOST = 2n ** 63n - 1n;
const int32s = [0, 1, 2, 7, -1, 99, 2 ** 31 - 1, -(2 ** 31)] as const;
const int64s = [0n, 1n, -1n, 2n ** 53n, INT64_MOST, -INT64_MOST - 1n] as const;
/**
 * Seconds of a Timestamp: now, before 1970, the last year that it can say, and years that no calendar has.
 */
const seconds = [
  1_700_000_000n,
  -1n,
  253_402_300_799n,
  -62_135_596_801n,
  8_640_000_000_001n,
  INT64_MOST,
] as const;
const floats = [
  0,
  -0,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  3.4e38,
  1e-45,
] as const;
const texts = [
  ...[
    "",
    " ",
    "Home 1",
    "\u0000",
    "a\nb\tc",
    "__proto__",
    "constructor",
    "$SYS/#",
    "a/b/+/#",
    "%2F%00",
    "$" + "{x}$&",
  ],
  ...[
    "\u202egnol",
    "\u{1f916}".repeat(40),
    "x".repeat(257),
    "x".repeat(5_000),
    "語".repeat(256),
    "<script>",
    "\ufeff",
  ],
] as const;
/**
 * Bytes that are no UTF-8: a stray byte, half a character, half a surrogate pair, one that is encoded too
 * long.
 */
const noText: readonly [readonly number[], ...(readonly number[])[]] = [
  [0xff],
  [0xe8, 0xaa],
  [0xed, 0xa0, 0x80],
  [0xc0, 0x80],
];

/** The bytes of a message of which every field may be at its worst. They may be no message at all. */
export function worstMessage(desc: DescMessage, worst: Worst): Uint8Array {
  const { random } = worst;
  const bytes = messageBytes(desc, worst, 0);
  const kind = random();
  if (kind < 0.03) return bytes.subarray(0, Math.floor(random() * bytes.length));
  if (kind < 0.06) return Uint8Array.from({ length: 40 }, () => Math.floor(random() * 256));
  if (kind < 0.07) return new Uint8Array(200_000);
  return bytes;
}

function messageBytes(desc: DescMessage, worst: Worst, depth: number): Uint8Array {
  const writer = new BinaryWriter();
  const { random } = worst;
  // Members of a oneof are fields like others here: several may be there.
  for (const field of desc.fields) {
    const isDeep = depth >= DEEPEST && field.message !== undefined;
    const count = isDeep ? 0 : countOf(field, random, depth);
    if (count <= 2) for (let left = count; left > 0; left -= 1) write(writer, field, worst, depth);
    else writer.raw(repeated(field, worst, count));
  }
  // A field that nobody knows.
  if (random() < 0.05) writer.tag(536_870_911, WireType.Varint).int32(-1);
  return writer.finish();
}

function countOf(field: DescField, random: RandomSource, depth: number): number {
  const kind = random();
  if (kind < 0.15) return 0;
  if (kind < 0.9) return 1;
  if (kind < 0.99 || field.fieldKind !== "list" || depth > 1) return 2;
  return kind < 0.997 ? 300 : 10_000;
}

/**
 * The same element again and again: making each anew would hold up the loop longer than reading them does.
 */
function repeated(field: DescField, worst: Worst, count: number): Uint8Array {
  const writer = new BinaryWriter();
  write(writer, field, worst, DEEPEST - 2);
  const once = writer.finish();
  return Buffer.concat(new Array<Uint8Array>(count).fill(once));
}

function write(writer: BinaryWriter, field: DescField, worst: Worst, depth: number): void {
  const { number, message, enum: enumeration } = field;
  if (message !== undefined) {
    const bytes = message.typeName === "google.protobuf.Timestamp" ? timestampBytes(worst) : null;
    writer.tag(number, WireType.LengthDelimited).bytes(bytes ?? messageBytes(message, worst, depth + 1));
  } else if (enumeration !== undefined) writer.tag(number, WireType.Varint).int32(pick(worst.random, int32s));
  else writeScalar(writer, field, worst);
}

function timestampBytes({ random }: Worst): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int64(pick(random, seconds));
  return writer.tag(2, WireType.Varint).int32(pick(random, int32s)).finish();
}

function writeScalar(writer: BinaryWriter, field: DescField, worst: Worst): void {
  const { random } = worst;
  const { number } = field;
  switch (field.scalar) {
    case ScalarType.INT64:
      writer.tag(number, WireType.Varint).int64(pick(random, int64s));
      return;
    case ScalarType.FLOAT:
      writer.tag(number, WireType.Bit32).float(pick(random, floats));
      return;
    case ScalarType.DOUBLE:
      writer.tag(number, WireType.Bit64).double(pick(random, floats));
      return;
    case ScalarType.INT32:
    case ScalarType.BOOL:
      writer.tag(number, WireType.Varint).int32(pick(random, int32s));
      return;
    default:
      writer.tag(number, WireType.LengthDelimited).bytes(textBytes(field.name, worst));
  }
}

function textBytes(name: string, worst: Worst): Uint8Array {
  const { random } = worst;
  if (name === "robot_id" && random() < 0.95) return Buffer.from(worstName(worst));
  return random() < 0.1 ? Uint8Array.from(pick(random, noText)) : Buffer.from(pick(random, texts));
}

/** The id of a robot; it may be none. */
export function worstName({ random, names }: Worst): string {
  return random() < 0.7 ? pick(random, names) : pick(random, texts);
}

/**
 * JSON text in the place of an answer, of which every field may be at its worst. Unless it is `whole` it may
 * be no JSON.
 */
export function worstJson(desc: DescMessage, worst: Worst, extent?: "whole"): string {
  const { random } = worst;
  const text = objectJson(desc, worst, 0);
  if (extent === "whole") return text;
  const kind = random();
  if (kind < 0.03) return text.slice(0, Math.floor(random() * text.length));
  if (kind < 0.06)
    return pick(random, ["", "null", "[]", "7", '"text"', "{}", "<html>", "[".repeat(100_000)]);
  return text;
}

function objectJson(desc: DescMessage, worst: Worst, depth: number): string {
  if (desc.typeName.startsWith("google.protobuf.")) return oddJson(worst);
  const { random } = worst;
  const members = desc.fields.flatMap((field) => {
    if (depth >= DEEPEST && field.message !== undefined) return [];
    const times = random() < 0.95 ? (random() < 0.9 ? 1 : 0) : 2;
    const name = JSON.stringify(random() < 0.8 ? field.jsonName : field.name);
    return Array.from({ length: times }, () => `${name}:${valueJson(field, worst, depth)}`);
  });
  return `{${members.join(",")}}`;
}

function valueJson(field: DescField, worst: Worst, depth: number): string {
  const { random } = worst;
  if (random() < 0.03) return oddJson(worst);
  if (field.fieldKind !== "list") return itemJson(field, worst, depth);
  const kind = random();
  const count = kind < 0.9 ? Math.floor(kind * 6) : kind < 0.99 || depth > 0 ? 40 : 2_000;
  return `[${Array.from({ length: count }, () => itemJson(field, worst, depth)).join(",")}]`;
}

function itemJson(field: DescField, worst: Worst, depth: number): string {
  const { random, names } = worst;
  if (field.message !== undefined) return objectJson(field.message, worst, depth + 1);
  switch (field.scalar) {
    case ScalarType.STRING:
      if (field.name === "name" && random() < 0.7) return JSON.stringify(pick(random, names));
      return JSON.stringify(
        field.name === "id" && random() < 0.7 ? String(pick(random, int32s)) : pick(random, texts),
      );
    case ScalarType.BOOL:
      return pick(random, ["true", "false"]);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return pick(random, ["0", "-0.0", "1.5", "1e999", "-1e999", "1e-400", '"NaN"', '"Infinity"', "1e308"]);
    default:
      return random() < 0.8
        ? String(pick(random, int32s))
        : pick(random, ['"12"', "1.5", "99999999999", "1e999"]);
  }
}

const oddJson = ({ random }: Worst): string =>
  pick(random, ["null", "true", "{}", "[]", "[[[[]]]]", '"\\ud800"', "-1", '{"__proto__":{"a":1}}', '""']);
