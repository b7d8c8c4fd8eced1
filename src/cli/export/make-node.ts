import type { NamedText, ObjectModel, TagModel, Text } from "../../northbound/opcua/model/member.ts";
import {
  type ArgumentList,
  argumentLists,
  argumentListsOf,
  type MethodModel,
} from "../../northbound/opcua/model/method.ts";
import {
  ENUM_VALUES,
  propertyTexts,
  type SharedProperty,
  sharedPropertiesOf,
  type TagKind,
  tagKind,
  VALUE_AS_TEXT,
  valueAsText,
} from "../../northbound/opcua/model/properties.ts";
import type { DataTypeName, ExportedNode, NodeRef, Reference, StandardNode, VariableFacts } from "./node.ts";

/** Whether the objects of a type have a member. */
export type Rule = "Mandatory" | "Optional" | "OptionalPlaceholder";

const variableTypes: Readonly<Record<TagKind, StandardNode>> = {
  tag: "BaseDataVariableType",
  numbered: "BaseDataVariableType",
  enumeration: "MultiStateValueDiscreteType",
  range: "AnalogUnitRangeType",
  unit: "AnalogUnitType",
  property: "PropertyType",
};

const sharedTypes = {
  [ENUM_VALUES]: "EnumValueType",
  EngineeringUnits: "EUInformation",
  EURange: "Range",
} as const satisfies Readonly<Record<SharedProperty["name"], DataTypeName>>;

/** A forward reference. */
export function to(type: StandardNode, target: NodeRef): Reference {
  return { type, isForward: true, to: target };
}

/** A reference to the parent. */
export function from(type: StandardNode, parent: NodeRef): Reference {
  return { type, isForward: false, to: parent };
}

export function standard(name: StandardNode): NodeRef {
  return { standard: name };
}

function rulesOf(rule: Rule | null): readonly Reference[] {
  return rule === null ? [] : [to("HasModellingRule", standard(rule))];
}

/** Both names: the English one is the name that programs use. */
export function named(name: string, { german }: { readonly german: string }): Text {
  return { en: name, de: german };
}

/** An object; its members refer to it. */
export function objectNode(
  path: string,
  browseName: string,
  texts: { readonly displayName: Text | null; readonly description: Text },
  type: ObjectModel | "FolderType",
  parent: Reference,
  rule: Rule | null = null,
): ExportedNode {
  const definition = type === "FolderType" ? standard(type) : { path: type.name };
  return {
    ...{ kind: "object", path, browseName, hasStandardName: false, ...texts },
    parent: parent.to,
    references: [parent, to("HasTypeDefinition", definition), ...rulesOf(rule)],
    ...{ isAbstract: false, variable: null, method: null },
  };
}

/** The object as an event notifier under another one. */
export function notifier(object: ExportedNode, above: NodeRef): ExportedNode {
  return { ...object, isNotifier: true, references: [...object.references, from("HasNotifier", above)] };
}

/** A method with the description of its arguments. Many objects share it. */
export function methodNodes(model: MethodModel, parent: Reference): readonly ExportedNode[] {
  const { name, text } = model;
  const path = methodPath(model);
  const node: ExportedNode = {
    ...{ kind: "method", path, browseName: name, hasStandardName: false },
    ...{ displayName: named(name, text), description: text },
    parent: parent.to,
    references: [parent, ...rulesOf("Mandatory")],
    ...{ isAbstract: false, variable: null, method: model },
  };
  return [node, ...argumentListsOf(model).map((list) => argumentNode(path, list))];
}

export function methodPath({ folder, name }: MethodModel): string {
  return `${folder}.${name}`;
}

function argumentNode(method: string, [name, list]: ArgumentList): ExportedNode {
  return variableNode(`${method}.${name}`, name, argumentLists[name], "property", {
    parent: from("HasProperty", { path: method }),
    others: rulesOf("Mandatory"),
    facts: { dataType: "Argument", length: list.length, value: { name, list } },
  });
}

/** The variable of a tag; for an enumeration also its text. */
export function tagNodes(
  parent: string,
  name: string,
  tag: TagModel,
  rule: Rule | null = null,
): readonly ExportedNode[] {
  const path = `${parent}.${name}`;
  const kind = tagKind(tag);
  const shared = sharedPropertiesOf(tag).map((property) => to("HasProperty", { path: sharedPath(property) }));
  const node = variableNode(path, name, tag, kind, {
    parent: from(kind === "property" ? "HasProperty" : "HasComponent", { path: parent }),
    others: [...rulesOf(rule), ...shared],
    facts: {
      dataType: tag.type,
      length: tag.length ?? null,
      isWritable: tag.isWritable === true,
      isHistorized: tag.isHistorized === true && rule === null,
      unit: tag.unit?.symbol ?? "",
      range: tag.range ?? null,
    },
  });
  if (tag.enumeration === undefined) return [node];
  const textPath = `${path}.${VALUE_AS_TEXT}`;
  const asText = variableNode(textPath, VALUE_AS_TEXT, valueAsText, "property", {
    parent: from("HasProperty", { path }),
    others: rulesOf(rule),
    facts: { dataType: "LocalizedText" },
  });
  return [node, asText];
}

/** A property to which many tags refer. It refers to none of them. */
export function sharedNode(property: SharedProperty): ExportedNode {
  const { name } = property;
  const length = property.name === ENUM_VALUES ? property.enumeration.values.length : null;
  return variableNode(sharedPath(property), name, propertyTexts[name], "property", {
    parent: null,
    others: rulesOf("Mandatory"),
    facts: { dataType: sharedTypes[name], length, value: property },
  });
}

export function sharedPath({ name, of }: SharedProperty): string {
  return `${name}.${of}`;
}

interface VariableParts {
  readonly parent: Reference | null;
  readonly others: readonly Reference[];
  readonly facts: Partial<VariableFacts> & Pick<VariableFacts, "dataType">;
}

function variableNode(
  path: string,
  name: string,
  texts: NamedText,
  kind: TagKind,
  { parent, others, facts }: VariableParts,
): ExportedNode {
  const plain = { length: null, isWritable: false, isHistorized: false, unit: "", range: null, value: null };
  return {
    ...{ kind: "variable", path, browseName: name, hasStandardName: kind === "property" },
    displayName: named(name, texts),
    description: texts,
    parent: parent?.to ?? null,
    references: [
      ...(parent === null ? [] : [parent]),
      to("HasTypeDefinition", standard(variableTypes[kind])),
      ...others,
    ],
    ...{ isAbstract: false, variable: { ...plain, ...facts }, method: null },
  };
}
