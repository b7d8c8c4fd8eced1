import {
  AttributeIds,
  BrowseDirection,
  DataType,
  type DataValue,
  LocalizedText,
  type NodeClass,
  ReferenceTypeIds,
} from "node-opcua";
import type { Caller } from "./opcua-harness.ts";

/** A node as clients of two languages see it. */
export interface SeenNode {
  /** Its NodeId without `ns=2;s=`. */
  readonly path: string;
  readonly browseName: string;
  readonly nodeClass: NodeClass;
  readonly typeDefinition: string;
  readonly dataType: string;
  readonly rule: string;
  readonly status: string;
  readonly writable: boolean;
  readonly notifies: boolean;
  readonly english: readonly [name: LocalizedText, description: LocalizedText];
  readonly german: readonly [name: LocalizedText, description: LocalizedText];
  /** Members that are the nodes of another place: properties of many, and methods. */
  readonly shared: readonly string[];
  readonly children: readonly string[];
}

const PREFIX = "ns=2;s=";
const attributes = [
  AttributeIds.NodeClass,
  AttributeIds.DisplayName,
  AttributeIds.Description,
  AttributeIds.DataType,
  AttributeIds.ArrayDimensions,
  AttributeIds.Value,
  AttributeIds.AccessLevel,
  AttributeIds.EventNotifier,
  AttributeIds.BrowseName,
] as const;

const rules: Readonly<Record<string, string>> = {
  "ns=0;i=78": "mandatory",
  "ns=0;i=80": "optional",
  "ns=0;i=11508": "any number",
};

/** Browses and reads the nodes and all below them, a level with one request. */
export async function seeNodes(
  english: Caller,
  german: Caller,
  paths: readonly string[],
): Promise<readonly SeenNode[]> {
  if (paths.length === 0) return [];
  const nodeIds = paths.map((path) => `${PREFIX}${path}`);
  const browsed = await english.session.browse(
    nodeIds.map((nodeId) => ({ nodeId, browseDirection: BrowseDirection.Forward, resultMask: 63 })),
  );
  const [inEnglish, inGerman] = [await readAll(english, nodeIds), await readAll(german, nodeIds)];
  const level = paths.map((path, index): SeenNode => {
    const references = browsed[index]?.references ?? [];
    const targets = (type: ReferenceTypeIds) =>
      references.filter(({ referenceTypeId }) => referenceTypeId.value === type);
    const members = [...targets(ReferenceTypeIds.HasComponent), ...targets(ReferenceTypeIds.HasProperty)].map(
      ({ nodeId }) => nodeId.toString().slice(PREFIX.length),
    );
    const isOwn = (member: string) => member.startsWith(`${path}.`);
    const [nodeClass, , , dataType, dimensions, value, access, notifier, browseName] = inEnglish[index] ?? [];
    return {
      path,
      browseName: String(browseName?.value.value),
      nodeClass: nodeClass?.value.value,
      typeDefinition: typeName(targets(ReferenceTypeIds.HasTypeDefinition)[0]?.nodeId.toString()),
      dataType: dataTypeName(dataType, dimensions),
      rule: rules[targets(ReferenceTypeIds.HasModellingRule)[0]?.nodeId.toString() ?? ""] ?? "",
      status: value?.statusCode.name ?? "",
      writable: ((access?.value.value ?? 0) & 2) !== 0,
      notifies: notifier?.value.value === 1,
      english: textsOf(inEnglish[index]),
      german: textsOf(inGerman[index]),
      shared: members.filter((member) => !isOwn(member)),
      children: members.filter(isOwn),
    };
  });
  const below = await seeNodes(
    english,
    german,
    level.flatMap(({ children }) => children),
  );
  const byPath = new Map([...level, ...below].map((node) => [node.path, node]));
  const inOrder = (path: string): readonly SeenNode[] => {
    const node = byPath.get(path);
    return node === undefined ? [] : [node, ...node.children.flatMap(inOrder)];
  };
  return paths.flatMap(inOrder);
}

async function readAll({ session }: Caller, nodeIds: readonly string[]): Promise<readonly DataValue[][]> {
  const values = await session.read(
    nodeIds.flatMap((nodeId) => attributes.map((attributeId) => ({ nodeId, attributeId }))),
  );
  return nodeIds.map((_, index) => values.slice(index * attributes.length, (index + 1) * attributes.length));
}

function textsOf(values: readonly DataValue[] | undefined): readonly [LocalizedText, LocalizedText] {
  const [, name, description] = values ?? [];
  return [text(name), text(description)];
}

function text(data: DataValue | undefined): LocalizedText {
  return data?.value.value instanceof LocalizedText ? data.value.value : new LocalizedText({});
}

const standardTypes: Readonly<Record<string, string>> = {
  "ns=0;i=61": "FolderType",
  "ns=0;i=63": "BaseDataVariableType",
  "ns=0;i=68": "PropertyType",
  "ns=0;i=11238": "MultiStateValueDiscreteType",
  "ns=0;i=17497": "AnalogUnitType",
  "ns=0;i=17570": "AnalogUnitRangeType",
};

function typeName(nodeId = ""): string {
  return standardTypes[nodeId] ?? nodeId.replace(PREFIX, "");
}

function dataTypeName(dataType: DataValue | undefined, dimensions: DataValue | undefined): string {
  if (dataType === undefined || dataType.statusCode.isNotGood()) return "";
  const number: number = dataType.value.value.value;
  const name = DataType[number] ?? `i=${number}`;
  const length: unknown = dimensions?.value.value?.[0];
  return length === undefined ? name : `${name}[${length}]`;
}

/** A node in three lines, or in one without texts. */
export function nodeText(node: SeenNode): string {
  const facts = [
    node.typeDefinition,
    node.dataType,
    node.writable ? "written" : "",
    node.notifies ? "events" : "",
    node.rule,
    node.status === "BadAttributeIdInvalid" ? "" : node.status,
    ...node.shared,
  ];
  return [
    `${node.path}: ${facts.filter((fact) => fact !== "").join(", ")}`,
    ...[node.english, node.german].map(
      ([name, description]) => `  ${name.locale ?? "-"} ${name.text}: ${description.text}`,
    ),
  ].join("\n");
}
