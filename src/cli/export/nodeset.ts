import { modelHead } from "../../northbound/opcua/fleet-nodeset.ts";
import type { Text, Unit } from "../../northbound/opcua/model/member.ts";
import type { MethodArgument } from "../../northbound/opcua/model/method.ts";
import { CEFACT, type SharedProperty } from "../../northbound/opcua/model/properties.ts";
import { escaped } from "./function-block.ts";
import {
  type ArgumentValue,
  dataTypes,
  type ExportedNode,
  type NodeGroup,
  type NodeRef,
  type Reference,
  standardNodes,
  type VariableFacts,
} from "./node.ts";

/** The header of the file. */
interface NodeSetHeader {
  readonly version: string;
  /** Of the configuration; null: there is none. */
  readonly modelHash: number | null;
}

const elements: Readonly<Record<ExportedNode["kind"], string>> = {
  type: "UAObjectType",
  object: "UAObject",
  variable: "UAVariable",
  method: "UAMethod",
};

/** Bits of AccessLevel (OPC UA part 3, 8.57). */
const READ = 1;
const READ_AND_WRITE = 3;
const READ_HISTORY = 4;
/** The EventNotifier of an object at which clients subscribe to events. */
const SUBSCRIBE_TO_EVENTS = 1;

/** The tag with the hash while the gateway runs. */
const HASH_PATH = "Gateway.ModelHash";

/** The nodes as a UANodeSet (OPC UA part 6, annex F). Our namespace has the index 1 in it. */
export function* nodeSetXml(
  groups: Iterable<NodeGroup>,
  { version, modelHash }: NodeSetHeader,
): Generator<string> {
  const hash = modelHash === null ? "no configuration was given" : `Gateway.ModelHash ${modelHash}`;
  yield lines([
    '<?xml version="1.0" encoding="utf-8"?>',
    `<!-- Written by fleetgate export opcua, version ${version.replaceAll("--", "- -")}; ${hash} -->`,
    '<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">',
    ...modelHead,
    "  <Aliases>",
    ...Object.entries(dataTypes).map(([name, id]) => `    <Alias Alias="${name}">i=${id}</Alias>`),
    ...Object.entries(standardNodes)
      .filter(([name]) => /^(Organizes|Has)/.test(name))
      .map(([name, id]) => `    <Alias Alias="${name}">i=${id}</Alias>`),
    "  </Aliases>",
  ]);
  for (const nodes of groups) {
    const children = childrenOf(nodes);
    yield lines(nodes.flatMap((node) => nodeXml(node, children.get(node.path) ?? [], modelHash)));
  }
  yield lines(["</UANodeSet>"]);
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}

/** A parent refers to its children, too: importers differ in which of the two references they read. */
function childrenOf(nodes: NodeGroup): ReadonlyMap<string, readonly Reference[]> {
  const children = new Map<string, Reference[]>();
  for (const { path, references } of nodes) {
    for (const { type, isForward, to } of references) {
      if (isForward || "standard" in to) continue;
      const siblings = children.get(to.path) ?? [];
      siblings.push({ type, isForward: true, to: { path } });
      children.set(to.path, siblings);
    }
  }
  return children;
}

function nodeXml(
  node: ExportedNode,
  children: readonly Reference[],
  modelHash: number | null,
): readonly string[] {
  const { kind, path, displayName, description, variable, references, method } = node;
  const element = elements[kind];
  const hash = path === HASH_PATH && modelHash !== null ? [int32Xml(modelHash)] : [];
  const value = variable?.value == null ? hash : [valueXml(variable.value)];
  return [
    `  <${element}${attributesXml(node)}>`,
    ...(displayName === null
      ? [`    <DisplayName>${escaped(node.browseName)}</DisplayName>`]
      : textXml("DisplayName", displayName)),
    ...textXml("Description", description),
    "    <References>",
    ...[...references, ...children].map((reference) => `      ${referenceXml(reference)}`),
    "    </References>",
    ...value.map((each) => `    ${each}`),
    ...(method === null ? [] : [...method.inputs, ...method.outputs].map(argumentXml)),
    `  </${element}>`,
  ];
}

/** For tools in another language: the value of the arguments' node is English. */
function argumentXml({ name, text }: MethodArgument): string {
  const description = textXml("Description", text).map((each) => each.trim());
  const parts = [`<Name>${escaped(name)}</Name>`, ...description];
  return `    <ArgumentDescription>${parts.join("")}</ArgumentDescription>`;
}

function attributesXml(node: ExportedNode): string {
  const { path, parent, browseName, hasStandardName, isAbstract, isNotifier, variable } = node;
  const attributes: ReadonlyArray<readonly [name: string, value: string | number] | null> = [
    ["NodeId", `ns=1;s=${path}`],
    ["BrowseName", `${hasStandardName ? "" : "1:"}${browseName}`],
    parent === null ? null : ["ParentNodeId", nodeId(parent)],
    isAbstract ? ["IsAbstract", "true"] : null,
    isNotifier ? ["EventNotifier", SUBSCRIBE_TO_EVENTS] : null,
    ...(variable === null ? [] : variableAttributes(variable)),
  ];
  return attributes
    .flatMap((each) => (each === null ? [] : ` ${each[0]}="${escaped(String(each[1]))}"`))
    .join("");
}

function variableAttributes({ dataType, length, isWritable, isHistorized }: VariableFacts) {
  const access = (isWritable ? READ_AND_WRITE : READ) | (isHistorized ? READ_HISTORY : 0);
  return [
    ["DataType", dataType] as const,
    ...(length === null ? [] : [["ValueRank", 1] as const, ["ArrayDimensions", length] as const]),
    access === READ ? null : (["AccessLevel", access] as const),
    isHistorized ? (["Historizing", "true"] as const) : null,
  ];
}

function textXml(element: string, text: Text | string): readonly string[] {
  const texts = typeof text === "string" ? { en: text } : { en: text.en, de: text.de };
  return Object.entries(texts).map(
    ([locale, each]) => `    <${element} Locale="${locale}">${escaped(each)}</${element}>`,
  );
}

function referenceXml({ type, isForward, to }: Reference): string {
  const direction = isForward ? "" : ' IsForward="false"';
  return `<Reference ReferenceType="${type}"${direction}>${escaped(nodeId(to))}</Reference>`;
}

function nodeId(to: NodeRef): string {
  return "standard" in to ? `i=${standardNodes[to.standard]}` : `ns=1;s=${to.path}`;
}

const TYPES = "http://opcfoundation.org/UA/2008/02/Types.xsd";

/** The XML encodings of structures in OPC UA's own namespace. */
const encodings = { Argument: 297, Range: 885, EUInformation: 888, EnumValueType: 7616 } as const;

/** The `Value` of a property, in English: a value has one language. */
function valueXml(property: SharedProperty | ArgumentValue): string {
  const xmlns = `xmlns="${TYPES}"`;
  switch (property.name) {
    case "EnumValues": {
      const values = property.enumeration.values.map(({ value, name, text }) =>
        structure(
          "EnumValueType",
          "",
          `<Value>${value}</Value>${localizedText("DisplayName", name === text.en ? text : name)}${localizedText("Description", text)}`,
        ),
      );
      return listXml(values);
    }
    case "InputArguments":
    case "OutputArguments":
      return listXml(property.list.map((argument) => structure("Argument", "", argumentFields(argument))));
    case "EngineeringUnits":
      return `<Value>${structure("EUInformation", ` ${xmlns}`, unitXml(property.unit))}</Value>`;
    case "EURange": {
      const [low, high] = property.range;
      const range = `<Low>${low}</Low><High>${high}</High>`;
      return `<Value>${structure("Range", ` ${xmlns}`, range)}</Value>`;
    }
  }
}

function listXml(structures: readonly string[]): string {
  const list = `<ListOfExtensionObject xmlns="${TYPES}">${structures.join("")}</ListOfExtensionObject>`;
  return `<Value>${list}</Value>`;
}

function argumentFields({ name, type, text, isList }: MethodArgument): string {
  return [
    `<Name>${escaped(name)}</Name>`,
    `<DataType><Identifier>i=${dataTypes[type]}</Identifier></DataType>`,
    `<ValueRank>${isList === true ? 1 : -1}</ValueRank>`,
    localizedText("Description", text),
  ].join("");
}

/** The `Value` of a number. */
function int32Xml(value: number): string {
  return `<Value><Int32 xmlns="${TYPES}">${value}</Int32></Value>`;
}

function structure(type: keyof typeof encodings, attributes: string, content: string): string {
  const id = `<TypeId><Identifier>i=${encodings[type]}</Identifier></TypeId>`;
  return `<ExtensionObject${attributes}>${id}<Body><${type}>${content}</${type}></Body></ExtensionObject>`;
}

function unitXml({ code, symbol, text }: Unit): string {
  return [
    `<NamespaceUri>${CEFACT}</NamespaceUri>`,
    `<UnitId>${unitId(code)}</UnitId>`,
    localizedText("DisplayName", symbol),
    localizedText("Description", text),
  ].join("");
}

/** The characters of the common code as one number (OPC UA part 8, 5.6.4.3). */
function unitId(code: string): number {
  return [...code].reduce((id, character) => id * 256 + character.charCodeAt(0), 0);
}

/** A text without a language is the same in each. */
function localizedText(element: string, text: Text | string): string {
  const isWord = typeof text !== "string";
  const locale = isWord ? "<Locale>en</Locale>" : "";
  return `<${element}>${locale}<Text>${escaped(isWord ? text.en : text)}</Text></${element}>`;
}
