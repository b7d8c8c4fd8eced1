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
  type UAVariable,
  VariableTypeIds,
  Variant,
  VariantArrayType,
} from "node-opcua";
import type { LeanNodes } from "./node-opcua/lean-nodes.ts";
import { Tag, type TagTimes } from "./node-opcua/tag.ts";

/** The names of an enum as OPC UA shows them: made once, shared by every node of that enum. */
export interface EnumTable {
  /** Unlike that of every other table. */
  readonly name: string;
  readonly texts: readonly LocalizedText[];
  readonly values: Variant;
}

/** What ValueAsText shows for a number without a name: nothing, rather than a guess. */
const noText = new LocalizedText({ text: "" });

/** A table of names whose place in the list is their number. */
export function createEnumTable(name: string, names: readonly string[]): EnumTable {
  const texts = names.map((text) => new LocalizedText({ text }));
  const values = new Variant({
    dataType: DataType.ExtensionObject,
    arrayType: VariantArrayType.Array,
    value: texts.map((displayName, raw) => new EnumValueType({ value: [0, raw], displayName })),
  });
  return { name, texts, values };
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

/** Adds enumerations to an address space. */
export interface Enumerations {
  add(parent: UAObject, path: string, name: string, table: EnumTable): EnumTag;
}

/**
 * Makes each a MultiStateValueDiscrete by hand: node-opcua's own maker costs ten times as much, and refuses
 * numbers that have no name, which the service may well send after its next release. All of a table share one
 * `EnumValues`.
 */
export function createEnumerations(nodes: LeanNodes, namespace: INamespace): Enumerations {
  const valuesOf = new Map<EnumTable, UAVariable>();

  function sharedValues(table: EnumTable): UAVariable {
    const known = valuesOf.get(table);
    if (known !== undefined) return known;
    const variable = namespace.addVariable({
      browseName: { name: ENUM_VALUES, namespaceIndex: 0 },
      nodeId: `s=${ENUM_VALUES}.${table.name}`,
      typeDefinition: resolveNodeId(VariableTypeIds.PropertyType),
      dataType: resolveNodeId(DataTypeIds.EnumValueType),
      valueRank: 1,
      accessLevel: "CurrentRead",
      minimumSamplingInterval: 0,
    });
    variable.setValueFromSource(table.values, StatusCodes.Good);
    valuesOf.set(table, variable);
    return variable;
  }

  return {
    add(parent, path, name, table) {
      const scalar = { length: null, writers: null };
      const number = nodes.variable(parent, path, name, {
        ...scalar,
        dataType: DataType.Int32,
        kind: "enumeration",
      });
      nodes.share(number, sharedValues(table));
      const text = nodes.variable(number, `${path}.ValueAsText`, "ValueAsText", {
        ...scalar,
        dataType: DataType.LocalizedText,
        kind: "property",
      });
      return new EnumTag(
        new Tag(number, DataType.Int32, false),
        new Tag(text, DataType.LocalizedText, false),
        table,
      );
    },
  };
}

/** The property that names the values of an enumeration (OPC UA part 8, 5.3.3.4). */
export const ENUM_VALUES = "EnumValues";
