import { create, type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import fc from "fast-check";

/** Texts that are likely to name something, beside any text at all. */
export interface Vocabulary {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
}

/**
 * Any message of a schema: fields left out, oneofs with any member, enum numbers
 * that nobody knows, and texts and numbers that often name something real.
 */
export function arbitraryMessage<D extends DescMessage>(
  schema: D,
  vocabulary: Vocabulary,
  depth = 6,
): fc.Arbitrary<MessageShape<D>> {
  const members = schema.members.map((member) => {
    if (member.kind === "field") return { key: member.localName, value: fieldOf(member, vocabulary, depth) };
    const choices = member.fields.map((field) =>
      fieldOf(field, vocabulary, depth).map((value) =>
        value === undefined ? { case: undefined } : { case: field.localName, value },
      ),
    );
    return { key: member.localName, value: fc.oneof(...choices, fc.constant({ case: undefined })) };
  });
  const shape: Record<string, fc.Arbitrary<unknown>> = {};
  for (const { key, value } of members) shape[key] = value;
  return fc.record(shape, { requiredKeys: [] }).map((init) => {
    const message = create(schema);
    for (const [key, value] of Object.entries(init))
      if (value !== undefined) Object.assign(message, { [key]: value });
    return message;
  });
}

function fieldOf(field: DescField, vocabulary: Vocabulary, depth: number): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "map":
      return fc.dictionary(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), { maxKeys: 3 });
    case "list":
      return fc.array(
        elementOf(field, vocabulary, depth).filter((value) => value !== undefined),
        { maxLength: 3 },
      );
    default:
      return elementOf(field, vocabulary, depth);
  }
}

function elementOf(field: DescField, vocabulary: Vocabulary, depth: number): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) {
    return fc.oneof(fc.constantFrom(...field.enum.values.map(({ number }) => number)), fc.integer());
  }
  if (field.message?.typeName === "google.protobuf.Struct") {
    return fc.dictionary(
      fc.string({ maxLength: 8 }),
      fc.oneof(fc.string(), fc.boolean(), fc.constant(null)),
      { maxKeys: 3 },
    );
  }
  if (field.message !== undefined) {
    return depth === 0 ? fc.constant(undefined) : arbitraryMessage(field.message, vocabulary, depth - 1);
  }
  return scalarOf(field.scalar ?? ScalarType.STRING, vocabulary);
}

function scalarOf(type: ScalarType, { texts, numbers }: Vocabulary): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...texts) },
        { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 20 }) },
      );
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 8 });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.FLOAT:
      return fc.oneof(fc.float({ min: 0, max: 10 }), fc.float());
    case ScalarType.DOUBLE:
      return fc.double();
    case ScalarType.INT64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    default:
      return fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...numbers) },
        { weight: 1, arbitrary: fc.integer() },
      );
  }
}
