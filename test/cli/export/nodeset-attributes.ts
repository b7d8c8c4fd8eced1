import {
  AttributeIds,
  BrowseDirection,
  type DataValue,
  LocalizedText,
  NodeClass,
  QualifiedName,
} from "node-opcua";
import type { Caller } from "../../northbound/opcua/opcua-harness.ts";
import { childrenOf, type ReadNode, type ReadNodeSet } from "./nodeset-reader.ts";

/** What a node is, by the names of attributes; `null`: it has no such attribute, or it is empty. */
export type NodeFacts = Readonly<Record<string, unknown>>;

const languages = ["en", "de"] as const;
type Language = (typeof languages)[number];

/** Attributes of a node class, with the defaults of the schema. */
const byClass: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Object: { EventNotifier: 0 },
  Variable: { AccessLevel: 1, MinimumSamplingInterval: 0, Historizing: false },
  Method: { Executable: true },
  ObjectType: { IsAbstract: false },
};

/** What the file says of each node, by its path. The absent attributes have the defaults of the schema. */
export function factsOfFile({ nodes }: ReadNodeSet): ReadonlyMap<string, NodeFacts> {
  return new Map(nodes.map((node) => [pathOf(node), factsOf(node)]));
}

function pathOf({ id }: Pick<ReadNode, "id">): string {
  return id.slice("ns=1;s=".length);
}

function factsOf(node: ReadNode): NodeFacts {
  const { element, nodeClass, browseName, dataType, valueRank, arrayDimensions } = node;
  const { attributes } = element;
  const isVariable = nodeClass === "Variable";
  const others = Object.entries(byClass[nodeClass] ?? {}).map(([name, usual]) => {
    const text = attributes[name];
    return [name, text === undefined ? usual : typeof usual === "boolean" ? text === "true" : Number(text)];
  });
  return {
    NodeClass: nodeClass,
    BrowseName: browseName,
    ...Object.fromEntries(
      languages.flatMap((language) =>
        ["DisplayName", "Description"].map((name) => [`${name} ${language}`, textOf(node, name, language)]),
      ),
    ),
    WriteMask: Number(attributes.WriteMask ?? 0),
    ...Object.fromEntries(others),
    DataType: isVariable ? dataType : null,
    ValueRank: isVariable ? valueRank : null,
    ArrayDimensions: isVariable && arrayDimensions.length > 0 ? arrayDimensions.join() : null,
  };
}

/** The text of a language; of none, if the name is the same in each; or the only one there is. */
function textOf({ element }: ReadNode, name: string, language: Language): string | undefined {
  const texts = childrenOf(element, name);
  const found = texts.find(({ attributes }) => attributes.Locale === language) ?? texts[0];
  return found?.text;
}

const attributeIds = {
  NodeClass: AttributeIds.NodeClass,
  BrowseName: AttributeIds.BrowseName,
  DisplayName: AttributeIds.DisplayName,
  Description: AttributeIds.Description,
  WriteMask: AttributeIds.WriteMask,
  IsAbstract: AttributeIds.IsAbstract,
  EventNotifier: AttributeIds.EventNotifier,
  AccessLevel: AttributeIds.AccessLevel,
  MinimumSamplingInterval: AttributeIds.MinimumSamplingInterval,
  Historizing: AttributeIds.Historizing,
  Executable: AttributeIds.Executable,
  DataType: AttributeIds.DataType,
  ValueRank: AttributeIds.ValueRank,
  ArrayDimensions: AttributeIds.ArrayDimensions,
} as const;

/** The same, as two sessions of a live server read it. */
export async function factsOfServer(
  callers: Readonly<Record<Language, Caller>>,
  paths: readonly string[],
): Promise<ReadonlyMap<string, NodeFacts>> {
  const names = Object.keys(attributeIds);
  const read = async ({ session }: Caller) => {
    const all = paths.flatMap((path) =>
      Object.values(attributeIds).map((attributeId) => ({ nodeId: `ns=2;s=${path}`, attributeId })),
    );
    const values: DataValue[] = [];
    for (let from = 0; from < all.length; from += 5_000)
      values.push(...(await session.read(all.slice(from, from + 5_000))));
    return (place: number, name: string) => plain(name, values[place * names.length + names.indexOf(name)]);
  };
  const [english, german] = [await read(callers.en), await read(callers.de)];
  return new Map(
    paths.map((path, index) => {
      const nodeClass = String(english(index, "NodeClass"));
      const texts = ["DisplayName", "Description"].flatMap((name) => [
        [`${name} en`, english(index, name)],
        [`${name} de`, german(index, name)],
      ]);
      const others = ["BrowseName", "WriteMask", ...Object.keys(byClass[nodeClass] ?? {})];
      const facts = [...others, "DataType", "ValueRank", "ArrayDimensions"].map((name) => [
        name,
        english(index, name),
      ]);
      return [path, { NodeClass: nodeClass, ...Object.fromEntries([...texts, ...facts]) }];
    }),
  );
}

function plain(name: string, data: DataValue | undefined): unknown {
  if (data === undefined || data.statusCode.isNotGood()) return null;
  const value: unknown = data.value.value;
  if (name === "NodeClass") return NodeClass[Number(value)];
  if (name === "DataType") return String(value).replace("ns=0;", "");
  if (name === "ArrayDimensions") return Object.values(value ?? {}).length === 0 ? null : String(value);
  if (value instanceof LocalizedText) return value.text;
  if (value instanceof QualifiedName)
    return value.namespaceIndex === 0 ? value.name : `${value.namespaceIndex - 1}:${value.name}`;
  return value;
}

/** The forward references of each node, those that only their targets state among them. */
export function referencesOfFile({ nodes }: ReadNodeSet): readonly string[] {
  const all = nodes.flatMap((node) =>
    node.references.map(({ type, isForward, to }) =>
      isForward ? `${node.id} ${type} ${to}` : `${to} ${type} ${node.id}`,
    ),
  );
  return [...new Set(all)].filter((text) => text.startsWith("ns=1;")).sort();
}

/** The same, as a live server shows them. */
export async function referencesOfServer(
  { session }: Caller,
  paths: readonly string[],
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (let from = 0; from < paths.length; from += 500) {
    const some = paths.slice(from, from + 500);
    const browsed = await session.browse(
      some.map((path) => ({
        nodeId: `ns=2;s=${path}`,
        browseDirection: BrowseDirection.Forward,
        resultMask: 63,
      })),
    );
    for (const [index, { references }] of browsed.entries()) {
      for (const { referenceTypeId, nodeId } of references ?? []) {
        const [type, to] = [referenceTypeId, nodeId].map((id) =>
          id.toString().replace("ns=0;", "").replace("ns=2;", "ns=1;"),
        );
        texts.push(`ns=1;s=${some[index]} ${type} ${to}`);
      }
    }
  }
  return texts.sort();
}
