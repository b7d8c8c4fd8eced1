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
 * Makes nodes as node-opcua's `addObject` and `addVariable` do, at a fraction of their cost: a plant has some hundred
 * thousand of them. Nobody is told of them by an event.
 */
export interface LeanNodes {
  folder(parent: Parent, path: string, name: string): UAObject;
  /** A property is one that OPC UA itself has named. */
  variable(parent: Parent, path: string, name: string, options: VariableOptions): UAVariable;
  /** Lets `parent` refer to a method, or to a property, of many. It does not refer back to all of them. */
  share(parent: Parent, shared: UAMethod | UAVariable): void;
}

/**
 * What lies under the interface of node-opcua 2.182. Its `addVariable` checks, copies and looks up for each node what
 * is the same for all of a kind.
 */
interface LowerNamespace {
  internalCreateNode(options: object): BaseNode;
}
interface LowerAddressSpace {
  /** A reference that node-opcua takes as it is, so that many nodes can have the same one. */
  normalizeReferenceType(options: object): UAReference;
}
interface LowerNode {
  propagate_back_references(): void;
  __addReference(reference: UAReference): void;
}

const typeIds = {
  tag: VariableTypeIds.BaseDataVariableType,
  enumeration: VariableTypeIds.MultiStateValueDiscreteType,
  property: VariableTypeIds.PropertyType,
} as const;

/** Makes them in `namespace`. */
export function createLeanNodes(addressSpace: AddressSpace, namespace: INamespace): LeanNodes {
  const space = lower<LowerAddressSpace>(addressSpace, "normalizeReferenceType");
  const lowerNamespace = lower<LowerNamespace>(namespace, "internalCreateNode");
  const { index } = namespace;
  const names = new Map<
    string,
    { readonly browseName: QualifiedName; readonly displayName: LocalizedText }
  >();
  const typeReferences = new Map<number, UAReference>();
  const parentReferences = {
    [ReferenceTypeIds.HasComponent]: new WeakMap<BaseNode, UAReference>(),
    [ReferenceTypeIds.HasProperty]: new WeakMap<BaseNode, UAReference>(),
  } as const;
  const sharedReferences = new WeakMap<BaseNode, UAReference>();
  const dataTypes = new Map<DataType, NodeId>();
  const permissions = new WeakMap<RolePermissionTypeOptions[], unknown>();

  function namesOf(name: string, namespaceIndex: number) {
    return cached(names, `${namespaceIndex}:${name}`, () => ({
      browseName: new QualifiedName({ name, namespaceIndex }),
      displayName: new LocalizedText({ text: name }),
    }));
  }

  function reference(type: ReferenceTypeIds, nodeId: NodeId, isForward: boolean): UAReference {
    return space.normalizeReferenceType({ referenceType: standardId(type), nodeId, isForward });
  }

  function referencesOf(
    type: number,
    parent: Parent,
    toParent: keyof typeof parentReferences,
  ): UAReference[] {
    return [
      cached(typeReferences, type, () =>
        reference(ReferenceTypeIds.HasTypeDefinition, standardId(type), true),
      ),
      cached(parentReferences[toParent], parent, () => reference(toParent, parent.nodeId, false)),
    ];
  }

  function create(path: string, options: object): BaseNode {
    const nodeId = new NodeId(NodeIdType.STRING, path, index);
    const node = lowerNamespace.internalCreateNode({ ...options, nodeId });
    lower<LowerNode>(node, "propagate_back_references").propagate_back_references();
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
      return create(path, {
        ...namesOf(name, index),
        nodeClass: NodeClass.Object,
        references: referencesOf(ObjectTypeIds.FolderType, parent, ReferenceTypeIds.HasComponent),
        eventNotifier: 0,
      }) as UAObject;
    },
    variable(parent, path, name, { dataType, length, writers, kind }) {
      const isProperty = kind === "property";
      const toParent = isProperty ? ReferenceTypeIds.HasProperty : ReferenceTypeIds.HasComponent;
      const variable = create(path, {
        ...namesOf(name, isProperty ? 0 : index),
        nodeClass: NodeClass.Variable,
        references: referencesOf(typeIds[kind], parent, toParent),
        dataType: cached(dataTypes, dataType, () => standardId(dataType)),
        valueRank: length === null ? -1 : 1,
        arrayDimensions: length === null ? null : [length],
        accessLevel:
          AccessLevelFlag.CurrentRead |
          (writers === null ? AccessLevelFlag.None : AccessLevelFlag.CurrentWrite),
        minimumSamplingInterval: 0,
        historizing: false,
      }) as UAVariable;
      if (writers !== null) permit(variable, writers);
      return variable;
    },
    share(parent, shared) {
      const isMethod = shared.nodeClass === NodeClass.Method;
      const type = isMethod ? ReferenceTypeIds.HasComponent : ReferenceTypeIds.HasProperty;
      const to = cached(sharedReferences, shared, () => reference(type, shared.nodeId, true));
      lower<LowerNode>(parent, "__addReference").__addReference(to);
    },
  };
}

/** A node of OPC UA itself. */
function standardId(value: number): NodeId {
  return new NodeId(NodeIdType.NUMERIC, value, 0);
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
