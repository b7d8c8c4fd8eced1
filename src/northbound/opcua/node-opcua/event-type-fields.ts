import {
  type AddressSpace,
  type BaseNode,
  BrowseDirection,
  NodeClass,
  type NodeId,
  type QualifiedName,
  type UAObjectType,
} from "node-opcua";
import { cached } from "./lower.ts";

/** The fields of all event types of an address space. */
export interface EventTypeFields {
  /** BaseEventType. */
  readonly baseType: NodeId;
  isEventType(type: NodeId): boolean;
  /** Whether events of the type, or of one that extends it, have a field at this path. */
  has(type: NodeId, path: readonly QualifiedName[]): boolean;
}

const spaces = new WeakMap<AddressSpace, EventTypeFields>();

/** They are collected at the first question: types do not change while the server runs. */
export function eventFieldsOf(space: AddressSpace): EventTypeFields {
  return cached(spaces, space, () => collect(space));
}

function collect(space: AddressSpace): EventTypeFields {
  const baseType = space.findEventType("BaseEventType");
  if (baseType === null) throw new Error("the address space has no BaseEventType");
  /** The paths of a type's fields, with those of the types that extend it. */
  const paths = new Map<string, ReadonlySet<string>>();

  function add(type: UAObjectType, inherited: readonly string[]): ReadonlySet<string> {
    const own = [...inherited, ...pathsBelow(type, "", DEEPEST)];
    const all = new Set(own);
    for (const subtype of subtypesOf(type)) for (const path of add(subtype, own)) all.add(path);
    paths.set(type.nodeId.toString(), all);
    return all;
  }

  add(baseType, []);
  return {
    baseType: baseType.nodeId,
    isEventType: (type) => paths.has(type.toString()),
    has: (type, path) => paths.get(type.toString())?.has(path.map(String).join("/")) === true,
  };
}

function subtypesOf(type: UAObjectType): readonly UAObjectType[] {
  const subtypes = type.findReferencesAsObject("HasSubtype", true);
  return subtypes.filter((node): node is UAObjectType => node.nodeClass === NodeClass.ObjectType);
}

/** `ShelvingState/CurrentState/Id` of alarms. */
const DEEPEST = 3;

/** Fields have fields of their own: `EnabledState` has its `Id`. */
function pathsBelow(node: BaseNode, prefix: string, depth: number): readonly string[] {
  if (depth === 0) return [];
  return node.findReferencesExAsObject("Aggregates", BrowseDirection.Forward).flatMap((child) => {
    const path = prefix + String(child.browseName);
    const below = pathsBelow(child, `${path}/`, depth - 1);
    return child.nodeClass === NodeClass.Variable ? [path, ...below] : below;
  });
}
