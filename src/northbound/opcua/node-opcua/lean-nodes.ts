import {
  AccessLevelFlag,
  type AddressSpace,
  type BaseNode,
  type DataType,
  type INamespace,
  LocalizedText,
  NodeClass,
  NodeId,
  NodeIdType,
  ObjectTypeIds,
  QualifiedName,
  ReferenceTypeIds,
  type RolePermissionTypeOptions,
  type UAMethod,
  type UAObject,
  type UAReference,
  type UAReferenceType,
  type UAVariable,
  VariableTypeIds,
} from "node-opcua";

/** The parent of a node. */
type Parent = UAObject | UAVariable;

/** What differs between the variables of a robot. */
interface VariableOptions {
  readonly dataType: DataType;
  /** Of a fixed array; null: a scalar. */
  readonly length: number | null;
  /** Who may write; null: nobody. */
  readonly writers: RolePermissionTypeOptions[] | null;
  readonly kind: "tag" | "enumeration" | "property";
}

/**
 * Makes nodes as node-opcua's `addObject` and `addVariable` do, at a fraction of their cost: a plant has some
 * hundred thousand of them. Nobody is told of them by an event.
 */
export interface LeanNodes {
  folder(parent: Parent, path: string, name: string): UAObject;
  /** A property is one that OPC UA itself has named. */
  variable(parent: Parent, path: string, name: string, options: VariableOptions): UAVariable;
  /** Lets `parent` refer to a method, or to a property, of many. It does not refer back to all of them. */
  share(parent: Parent, shared: UAMethod | UAVariable): void;
}

/**
 * What lies under the interface of node-opcua 2.182. Its `addVariable` checks, copies and looks up for each
 * node what is the same for all of a kind.
 */
interface LowerNamespace {
  internalCreateNode(options: object): BaseNode;
}
interface LowerAddressSpace {
  /** A reference that node-opcua takes as it is, so that many nodes can have the same one. */
  normalizeReferenceType(options: object): UAReference;
}
interface LowerNode {
  _add_backward_reference(reference: UAReference): void;
  __addReference(reference: UAReference): void;
}
/** What a node keeps under a symbol of this description. */
interface NodeRecord {
  _referenceIdx: ReadonlyMap<unknown, UAReference>;
}
const RECORD = "BaseNodePrivate";

const { HasComponent, HasProperty } = ReferenceTypeIds;
const READ = AccessLevelFlag.CurrentRead;
const READ_AND_WRITE = AccessLevelFlag.CurrentRead | AccessLevelFlag.CurrentWrite;

/** How nodes are tied to their parents. */
interface Relation {
  readonly id: ReferenceTypeIds;
  readonly type: UAReferenceType;
  readonly toParents: WeakMap<BaseNode, UAReference>;
}

function relation(addressSpace: AddressSpace, id: ReferenceTypeIds): Relation {
  const type = addressSpace.findReferenceType(standardId(id));
  if (type === null) throw new Error(`node-opcua has no reference type ${id}`);
  return { id, type, toParents: new WeakMap() };
}

const typeIds = {
  tag: VariableTypeIds.BaseDataVariableType,
  enumeration: VariableTypeIds.MultiStateValueDiscreteType,
  property: VariableTypeIds.PropertyType,
} as const;

/** The references of nodes, which many nodes share. */
interface SharedReferences {
  readonly relations: Readonly<Record<"component" | "property", Relation>>;
  /** To the type and to the parent: two references for each of them are enough for all nodes. */
  of(type: number, parent: Parent, relation: Relation): UAReference[];
  /** Lets the parent refer to its new child. */
  adopt(parent: Parent, child: BaseNode, relation: Relation): void;
  /** The tags of a folder refer to the same nodes: all have the map of the first. */
  shareAmongTags(tag: BaseNode, parent: Parent): void;
  share: LeanNodes["share"];
}

function createSharedReferences(addressSpace: AddressSpace): SharedReferences {
  const space = lower<LowerAddressSpace>(addressSpace, "normalizeReferenceType");
  const typeReferences = new Map<number, UAReference>();
  const sharedReferences = new WeakMap<BaseNode, UAReference>();
  const tagReferences = new WeakMap<BaseNode, NodeRecord["_referenceIdx"]>();
  let lastKey = 0;

  function reference(type: ReferenceTypeIds, nodeId: NodeId, isForward: boolean): UAReference {
    return space.normalizeReferenceType({ referenceType: standardId(type), nodeId, isForward });
  }

  return {
    relations: {
      component: relation(addressSpace, HasComponent),
      property: relation(addressSpace, HasProperty),
    },
    of(type, parent, { id, toParents }) {
      const toType = () => reference(ReferenceTypeIds.HasTypeDefinition, standardId(type), true);
      return [
        cached(typeReferences, type, toType),
        cached(toParents, parent, () => reference(id, parent.nodeId, false)),
      ];
    },
    adopt(parent, child, { type }) {
      const fromParent = space.normalizeReferenceType({
        referenceType: type.nodeId,
        _referenceType: type,
        nodeId: child,
        isForward: true,
      });
      // The key under which the parent finds it: a text of the whole NodeId, if it is not set.
      lastKey -= 1;
      Reflect.set(fromParent, "__key", lastKey);
      lower<LowerNode>(parent, "_add_backward_reference")._add_backward_reference(fromParent);
    },
    shareAmongTags(tag, parent) {
      const record = recordOf(tag);
      record._referenceIdx = cached(tagReferences, parent, () => record._referenceIdx);
    },
    share(parent, shared) {
      const type = shared.nodeClass === NodeClass.Method ? HasComponent : HasProperty;
      const to = cached(sharedReferences, shared, () => reference(type, shared.nodeId, true));
      lower<LowerNode>(parent, "__addReference").__addReference(to);
    },
  };
}

/** Makes them in `namespace`. */
export function createLeanNodes(addressSpace: AddressSpace, namespace: INamespace): LeanNodes {
  const lowerNamespace = lower<LowerNamespace>(namespace, "internalCreateNode");
  const references = createSharedReferences(addressSpace);
  const { relations } = references;
  const { index } = namespace;
  const names = new Map<
    string,
    { readonly browseName: QualifiedName; readonly displayName: LocalizedText }
  >();
  const dataTypes = new Map<DataType, NodeId>();
  const permissions = new WeakMap<RolePermissionTypeOptions[], unknown>();

  function namesOf(name: string, namespaceIndex: number) {
    return cached(names, `${namespaceIndex}:${name}`, () => ({
      browseName: new QualifiedName({ name, namespaceIndex }),
      displayName: new LocalizedText({ text: name }),
    }));
  }

  function create(parent: Parent, to: Relation, options: object): BaseNode {
    const node = lowerNamespace.internalCreateNode(options);
    // Node's emitter makes its list of listeners when it needs one. An empty one takes 200 bytes.
    Reflect.set(node, "_events", undefined);
    references.adopt(parent, node, to);
    return node;
  }

  /** node-opcua makes four objects of them for each node: here all nodes share those of the first. */
  function permit(variable: UAVariable, writers: RolePermissionTypeOptions[]): void {
    const made = permissions.get(writers);
    if (made !== undefined) Reflect.set(variable, "_rolePermissions", made);
    else {
      variable.setRolePermissions(writers);
      permissions.set(writers, Reflect.get(variable, "_rolePermissions"));
    }
  }

  return {
    folder(parent, path, name) {
      const { browseName, displayName } = namesOf(name, index);
      const node = create(parent, relations.component, {
        nodeClass: NodeClass.Object,
        nodeId: new NodeId(NodeIdType.STRING, path, index),
        browseName,
        displayName,
        references: references.of(ObjectTypeIds.FolderType, parent, relations.component),
        eventNotifier: 0,
      });
      return node as UAObject;
    },
    variable(parent, path, name, { dataType, length, writers, kind }) {
      const isProperty = kind === "property";
      const { browseName, displayName } = namesOf(name, isProperty ? 0 : index);
      const parentRelation = isProperty ? relations.property : relations.component;
      const node = create(parent, parentRelation, {
        nodeClass: NodeClass.Variable,
        nodeId: new NodeId(NodeIdType.STRING, path, index),
        browseName,
        displayName,
        references: references.of(typeIds[kind], parent, parentRelation),
        dataType: cached(dataTypes, dataType, () => standardId(dataType)),
        valueRank: length === null ? -1 : 1,
        arrayDimensions: length === null ? null : [length],
        accessLevel: writers === null ? READ : READ_AND_WRITE,
        minimumSamplingInterval: 0,
        historizing: false,
      });
      const variable = node as UAVariable;
      if (kind === "tag") references.shareAmongTags(variable, parent);
      if (writers !== null) permit(variable, writers);
      return variable;
    },
    share: references.share,
  };
}

/** A node of OPC UA itself. */
function standardId(value: number): NodeId {
  return new NodeId(NodeIdType.NUMERIC, value, 0);
}

function recordOf(node: BaseNode): NodeRecord {
  const symbol = Object.getOwnPropertySymbols(node).find(({ description }) => description === RECORD);
  const record: unknown = symbol === undefined ? undefined : Reflect.get(node, symbol);
  if (typeof record !== "object" || record === null || !("_referenceIdx" in record)) {
    throw new Error("node-opcua keeps the references of a node elsewhere now");
  }
  return record as NodeRecord;
}

/** A part of node-opcua, as one that has this method. */
function lower<T>(part: object, method: keyof T & string): T {
  if (typeof Reflect.get(part, method) !== "function")
    throw new Error(`node-opcua has no ${method} any more`);
  return part as T;
}

function cached<K extends object, V>(values: WeakMap<K, V>, key: K, make: () => V): V;
function cached<K, V>(values: Map<K, V>, key: K, make: () => V): V;
function cached(
  values: { get(key: unknown): unknown; set(key: unknown, value: unknown): unknown },
  key: unknown,
  make: () => unknown,
): unknown {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  return made;
}
