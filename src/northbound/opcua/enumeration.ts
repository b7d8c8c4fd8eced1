import {
  DataType,
  DataTypeIds,
  EnumValueType,
  type INamespace,
  LocalizedText,
  resolveNodeId,
  type StatusCode,
  StatusCodes,
  type UAObject,
  VariableTypeIds,
  Variant,
  VariantArrayType,
} from "node-opcua";
import { Tag, type TagTimes } from "./tag.ts";

/** The names of an enum as OPC UA shows them: made once, shared by every node of that enum. */
export interface EnumTable {
  readonly texts: readonly LocalizedText[];
  readonly values: Variant;
}

// By id: node-opcua looks a name up each time.
const multiStateValue = resolveNodeId(VariableTypeIds.MultiStateValueDiscreteType);
const enumValue = resolveNodeId(DataTypeIds.EnumValueType);

/** What ValueAsText shows for a number without a name: nothing, rather than a guess. */
const noText = new LocalizedText({ text: "" });

/** A table of names whose place in the list is their number. */
export function createEnumTable(names: readonly string[]): EnumTable {
  const texts = names.map((text) => new LocalizedText({ text }));
  const values = new Variant({
    dataType: DataType.ExtensionObject,
    arrayType: VariantArrayType.Array,
    value: texts.map((displayName, raw) => new EnumValueType({ value: [0, raw], displayName })),
  });
  return { texts, values };
}

/** An enum as a number, and as text for people. A number that has no name is passed through. */
export class EnumTag {
  readonly #number: Tag;
  readonly #text: Tag;
  readonly #table: EnumTable;

  constructor(number: Tag, text: Tag, table: EnumTable) {
    this.#number = number;
    this.#text = text;
    this.#table = table;
  }

  set(raw: number, status: StatusCode, times: TagTimes): void {
    this.#number.set(raw, status, times);
    this.#text.set(this.#table.texts[raw] ?? noText, status, times);
  }

  weaken(status: StatusCode, times: TagTimes): void {
    this.#number.weaken(status, times);
    this.#text.weaken(status, times);
  }

  fail(status: StatusCode, times: TagTimes): void {
    this.#number.fail(status, times);
    this.#text.fail(status, times);
  }
}

/**
 * A MultiStateValueDiscrete by hand: node-opcua's own maker costs ten times as much, and refuses numbers that have
 * no name, which the service may well send after its next release.
 */
export function addEnumeration(
  namespace: INamespace,
  parent: UAObject,
  path: string,
  name: string,
  table: EnumTable,
): EnumTag {
  const common = { accessLevel: "CurrentRead", minimumSamplingInterval: 0 } as const;
  const number = namespace.addVariable({
    ...common,
    componentOf: parent,
    browseName: name,
    nodeId: `s=${path}`,
    typeDefinition: multiStateValue,
    dataType: DataType.Int32,
  });
  const values = namespace.addVariable({
    ...common,
    propertyOf: number,
    browseName: { name: "EnumValues", namespaceIndex: 0 },
    nodeId: `s=${path}.EnumValues`,
    typeDefinition: "PropertyType",
    dataType: enumValue,
    valueRank: 1,
  });
  values.setValueFromSource(table.values, StatusCodes.Good);
  const text = namespace.addVariable({
    ...common,
    propertyOf: number,
    browseName: { name: "ValueAsText", namespaceIndex: 0 },
    nodeId: `s=${path}.ValueAsText`,
    typeDefinition: "PropertyType",
    dataType: DataType.LocalizedText,
  });
  return new EnumTag(
    new Tag(number, DataType.Int32, false),
    new Tag(text, DataType.LocalizedText, false),
    table,
  );
}
