import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { StringValueSchema, StructSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDecoder } from "../../src/fleet/decoder.ts";
import {
  SubscribeBatteryStatusResponseSchema,
  SubscribeConveyorStatusResponseSchema,
  SubscribeMissionStatusResponseSchema,
} from "../../src/wire/fleet/v1/service_pb.js";
import { arbitraryMessage } from "../support/arbitrary-message.ts";

const streamed: readonly DescMessage[] = [
  SubscribeMissionStatusResponseSchema,
  SubscribeBatteryStatusResponseSchema,
  SubscribeConveyorStatusResponseSchema,
];
const vocabulary = { texts: ["robot-1", "Stop 1", "", "ß→🚚", "\uFEFFx"], numbers: [0, 1, -1, 2 ** 31 - 1] };
/** Field 1000 as a varint and field 1001 as text, which no schema has. */
const unknownFields = Uint8Array.of(0xc0, 0x3e, 0x05, 0xca, 0x3e, 0x02, 0x68, 0x69);

/** What each of the two makes of the bytes; an error alike. */
function both(schema: DescMessage, bytes: Uint8Array): [unknown, unknown] {
  const decode = createDecoder(schema);
  return [
    outcomeOf(() => withInherited(decode(bytes))),
    outcomeOf(() => withoutUnknown(fromBinary(schema, bytes))),
  ];
}

function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return "an error";
  }
}

function withInherited(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withInherited);
  if (typeof value !== "object" || value === null) return value;
  const whole: Record<string, unknown> = {};
  for (const name in value) whole[name] = withInherited(Reflect.get(value, name));
  return whole;
}

function withoutUnknown<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Reflect.deleteProperty(value, "$unknown");
    for (const part of Object.values(value)) withoutUnknown(part);
  }
  return value;
}

describe("a decoder of stream messages", () => {
  it.each(streamed)("reads what fromBinary reads: $typeName", (schema) => {
    fc.assert(
      fc.property(arbitraryMessage(schema, vocabulary), (message) => {
        const bytes = toBinary(schema, message);
        const [own, library] = both(schema, new Uint8Array([...bytes, ...unknownFields]));
        expect(own).toStrictEqual(library);
      }),
    );
  });

  it.each(streamed)("merges what comes twice, as fromBinary does: $typeName", (schema) => {
    const messages = fc.tuple(arbitraryMessage(schema, vocabulary), arbitraryMessage(schema, vocabulary));
    fc.assert(
      fc.property(messages, ([first, second]) => {
        const [own, library] = both(
          schema,
          new Uint8Array([...toBinary(schema, first), ...toBinary(schema, second)]),
        );
        expect(own).toStrictEqual(library);
      }),
    );
  });

  it.each(streamed)("refuses the bytes that fromBinary refuses: $typeName", (schema) => {
    const damaged = fc.tuple(arbitraryMessage(schema, vocabulary), fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(damaged, ([message, place, value]) => {
        const bytes = toBinary(schema, message);
        const at = place % (bytes.length + 1);
        const [own, library] = both(schema, new Uint8Array([...bytes.subarray(0, at), value]));
        expect(own).toStrictEqual(library);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const [own, library] = both(schema, bytes);
        expect(own).toStrictEqual(library);
      }),
    );
  });

  it("says at once which schema it does not read", () => {
    expect(() => createDecoder(StructSchema)).toThrow(/map/);
    const read = createDecoder(StringValueSchema)(Uint8Array.of(0x0a, 0x01, 0x61));
    expect(withInherited(read)).toStrictEqual(create(StringValueSchema, { value: "a" }));
  });
});
