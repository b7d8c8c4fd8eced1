import type { OperationManual } from "../../contracts/operation-manual.ts";
import { methodModels } from "../../northbound/opcua/commands/method-models.ts";
import type { ObjectMember, ObjectModel } from "../../northbound/opcua/model/member.ts";
import type { MethodModel } from "../../northbound/opcua/model/method.ts";
import { sharedPropertiesOf } from "../../northbound/opcua/model/properties.ts";
import { robotType } from "../../northbound/opcua/model/robot.ts";
import { objectTypesOf } from "../../northbound/opcua/model/types.ts";
import { modelHash } from "../../northbound/opcua/model-hash.ts";
import { type LayoutOptions, layoutOf, type PlantLayout } from "../../northbound/opcua/plant-layout.ts";
import { version } from "../../version.ts";
import { ignitionJson, type Tag, tagsOf } from "./ignition.ts";
import { instanceNodes, methodFolderNodes } from "./instance-nodes.ts";
import {
  from,
  methodNodes,
  named,
  objectNode,
  type Rule,
  sharedNode,
  sharedPath,
  standard,
  tagNodes,
  to,
} from "./make-node.ts";
import type { ExportedNode, NodeGroup, Reference } from "./node.ts";
import { nodeSetXml } from "./nodeset.ts";

/** The contents of files by name. */
export type Files = Readonly<Record<string, Iterable<string>>>;

const NODE_SET = "Fleetgate.NodeSet2.xml";

/** The files with the nodes of a plant. */
export interface PlantFiles {
  readonly files: Files;
  readonly modelHash: number;
  /** What the configuration lacks, as sentences. */
  readonly gaps: readonly string[];
}

export interface PlantFileOptions {
  /** The name of the OPC connection in Ignition. */
  readonly opcServer: string;
  /** Whether the NodeSet has the nodes of the plant too. */
  readonly hasInstances: boolean;
}

/** The object types alone, with their methods, which are the same in every plant. */
export function typeFiles(operations: OperationManual): Files {
  const nodes = [typeNodes(methodModels(operations), false)];
  return { [NODE_SET]: nodeSetXml(nodes, { version, modelHash: null }) };
}

/**
 * The object types, and lists of the plant's tags.
 *
 * @param operations those of the fleet service, each of which is a method
 */
export function plantFiles(
  options: LayoutOptions,
  operations: OperationManual,
  { opcServer, hasInstances }: PlantFileOptions,
): PlantFiles {
  const layout = layoutOf(options);
  const methods = methodModels(operations);
  const hash = modelHash(layout, methods);
  function* nodes() {
    yield typeNodes(methods, layout.isClustered);
    if (!hasInstances) return;
    yield methodFolderNodes(methods);
    yield* instanceNodes(layout, methods);
  }
  function* tags() {
    for (const group of instanceNodes(layout, methods)) yield tagsOf(group);
  }
  return {
    files: {
      [NODE_SET]: nodeSetXml(nodes(), { version, modelHash: hash }),
      "tags.csv": tagsCsv(tags(), hash),
      "ignition-tags.json": ignitionJson(tags(), { opcServer, modelHash: hash }),
    },
    modelHash: hash,
    gaps: gapsOf(options, layout),
  };
}

/** What to add to the configuration so that more of the plant's tags are exported. */
function gapsOf(options: LayoutOptions, { robots }: PlantLayout): readonly string[] {
  if (robots.length === 0) {
    return ["no robot is among the tags: name each under opcua.robots, carts in fleet.families too"];
  }
  const unknown = robots.filter(
    ({ isCart }, index) => !isCart && options.robots[index]?.family === "unknown",
  );
  if (unknown.length === 0) return [];
  const names = unknown.map(({ name }) => name).join(", ");
  const are = unknown.length === 1 ? "robot is" : "robots are";
  return [`${unknown.length} ${are} without a family in fleet.families, so without conveyors here: ${names}`];
}

const header = [
  ...["NodeId", "BrowsePath", "DataType", "ArrayLength", "Unit", "Access", "Description", "ModelHash"],
];

/** One line for each tag (RFC 4180), with the hash of the whole list. */
export function* tagsCsv(groups: Iterable<readonly Tag[]>, modelHash: number): Generator<string> {
  yield line(header);
  for (const tags of groups) yield tags.map((tag) => line(cellsOf(tag, modelHash))).join("");
}

function cellsOf(tag: Tag, modelHash: number): readonly string[] {
  const { nodeId, folders, name, dataType, length, unit, isWritable, description } = tag;
  return [
    nodeId,
    [...folders, name].join("/"),
    dataType,
    length === null ? "" : String(length),
    unit,
    isWritable ? "rw" : "r",
    description,
    String(modelHash),
  ];
}

function line(cells: readonly string[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

/** A text that a spreadsheet would read as a formula gets an apostrophe. */
export function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Our object types with their members and methods, and the properties that many tags share. */
function typeNodes(methods: readonly MethodModel[], isClustered: boolean): NodeGroup {
  const types = objectTypesOf(isClustered);
  const shared = types
    .flatMap(({ tags }) => Object.values(tags))
    .flatMap(sharedPropertiesOf)
    .map((property) => [sharedPath(property), property] as const);
  return [
    ...[...new Map(shared).values()].map(sharedNode),
    ...types.flatMap(nodesOf),
    ...methods
      .filter(({ isOfRobots }) => isOfRobots)
      .flatMap((method) => methodNodes(method, from("HasComponent", { path: robotType.name }))),
  ];
}

function nodesOf(type: ObjectModel): readonly ExportedNode[] {
  const { name, tags, objects = {}, each, conditions = [] } = type;
  const { base, standardBase = "BaseObjectType" } = type;
  const node: ExportedNode = {
    ...{ kind: "type", path: name, browseName: name, hasStandardName: false },
    displayName: named(name, type),
    description: type,
    parent: null,
    references: [
      from("HasSubtype", base === undefined ? standard(standardBase) : { path: base.name }),
      ...conditions.map((condition) => to("HasCondition", { path: condition.name })),
    ],
    isAbstract: type.isAbstract === true,
    variable: null,
    method: null,
  };
  return [
    node,
    ...Object.entries(tags).flatMap(([tag, model]) => tagNodes(name, tag, model, ruleOf(model))),
    ...Object.entries(objects).map(([member, model]) => memberNode(name, member, model, ruleOf(model))),
    ...(each === undefined ? [] : [memberNode(name, each.name, each, "OptionalPlaceholder")]),
  ];
}

function ruleOf({ isOptional }: { readonly isOptional?: true }): Rule {
  return isOptional === true ? "Optional" : "Mandatory";
}

/** The object has the very members of its type, not copies. */
function memberNode(type: string, name: string, member: ObjectMember, rule: Rule): ExportedNode {
  const displayName = rule === "OptionalPlaceholder" ? null : named(name, member);
  const parent = from("HasComponent", { path: type });
  const texts = { displayName, description: member };
  const node = objectNode(`${type}.${name}`, name, texts, member.model, parent, rule);
  return { ...node, references: [...node.references, ...membersOf(member.model)] };
}

/** Properties of types are standard ones: an object need not have them. */
function membersOf({ name, base, tags, objects = {} }: ObjectModel): readonly Reference[] {
  const inherited = base === undefined ? [] : membersOf(base);
  const own = [...Object.keys(tags), ...Object.keys(objects)].filter((key) => tags[key]?.isProperty !== true);
  return [...inherited, ...own.map((key) => to("HasComponent", { path: `${name}.${key}` }))];
}
