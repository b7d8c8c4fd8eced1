import type { ObjectMember, ObjectModel } from "../../northbound/opcua/model/member.ts";
import type { MethodModel } from "../../northbound/opcua/model/method.ts";
import { sharedPropertiesOf } from "../../northbound/opcua/model/properties.ts";
import { robotType } from "../../northbound/opcua/model/robot.ts";
import { objectTypes } from "../../northbound/opcua/model/types.ts";
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
import type { ExportedNode, NodeGroup, NodeRef, Reference } from "./node.ts";

/** Our object types with their members and methods, and the properties that many tags share. */
export function typeNodes(methods: readonly MethodModel[]): NodeGroup {
  const shared = objectTypes
    .flatMap(({ tags }) => Object.values(tags))
    .flatMap(sharedPropertiesOf)
    .map((property) => [sharedPath(property), property] as const);
  return [
    ...[...new Map(shared).values()].map(sharedNode),
    ...objectTypes.flatMap(nodesOf),
    ...methods
      .filter(({ isOfRobots }) => isOfRobots)
      .flatMap((method) => methodNodes(method, from("HasComponent", { path: robotType.name }))),
  ];
}

function nodesOf(type: ObjectModel): readonly ExportedNode[] {
  const { name, tags, objects = {}, each } = type;
  const base: NodeRef = type.base === undefined ? standard("BaseObjectType") : { path: type.base.name };
  const node: ExportedNode = {
    ...{ kind: "type", path: name, browseName: name, hasStandardName: false },
    displayName: named(name, type),
    description: type,
    parent: null,
    references: [from("HasSubtype", base)],
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
