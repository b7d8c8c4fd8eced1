import {
  AccessLevelFlag,
  type AddressSpace,
  type BaseNode,
  type DataType,
  EventNotifierFlags,
  type INamespace,
  LocalizedText,
  NodeClass,
  NodeId,
  NodeIdType,
  ObjectTypeIds,
  QualifiedName,
  type RolePermissionTypeOptions,
  type UAMethod,
  type UAObject,
  type UAObjectType,
  type UAVariable,
  VariableTypeIds,
} from "node-opcua";
import type { TagKind } from "../model/properties.ts";
import { cached, lower, recordOf, standardId } from "./lower.ts";
import { noteNotifier } from "./raise-event.ts";
import { createSharedReferences, type Relation } from "./shared-references.ts";

/** The parent of a node. */
type Parent = UAObject | UAObjectType | UAVariable;

/** The texts of a node, shared by all nodes of a kind. */
export interface NodeTexts {
  /** Absent: the node is shown by its name. */
  readonly displayName?: LocalizedText;
  readonly description: LocalizedText;
}

/** The options of an object of a robot. */
export interface ObjectOptions {
  /** Its type: one NodeId object for all of a type; null: a folder. */
  readonly type: NodeId | null;
  /** Null: only its name. */
  readonly texts: NodeTexts | null;
  /** For a member of a type: whether its instances have it. */
  readonly rule?: NodeId;
}

/** The options of a variable of a robot. */
export interface VariableOptions {
  readonly dataType: DataType;
  /** Of a fixed array; null: a scalar. */
  readonly length: number | null;
  /** The roles that may write; null: none. */
  readonly writers: RolePermissionTypeOptions[] | null;
  readonly kind: TagKind;
  /** Whether its past values can be read; absent: no. */
  readonly isHistorized?: boolean;
  readonly texts?: NodeTexts | null;
  readonly rule?: NodeId;
}

/**
 * Makes nodes like node-opcua's `addObject` and `addVariable`, at a fraction of their cost: a plant has some
 * hundred thousand of them. No event announces them.
 */
export interface LeanNodes {
  object(parent: Parent, path: string, name: string, options: ObjectOptions): UAObject;
  variable(parent: Parent, path: string, name: string, options: VariableOptions): UAVariable;
  /**
   * Adds a reference from `parent` to a method, a property or a member of a type that many nodes share. It
   * has no references back to them.
   */
  share(parent: Parent, shared: UAMethod | UAVariable | UAObject, as: "component" | "property"): void;
  /** Makes an object an event notifier: its events are sent to its subscribers and to those of `above`. */
  addNotifier(above: UAObject, object: UAObject): void;
  /** Gives an object another type. */
  retype(object: UAObject, type: NodeId): void;
  /**
   * Removes an object from its parent, and notifies all who listen to a node below it that the node is gone.
   * Returns a function that puts it back.
   */
  detach(parent: UAObject, object: UAObject): () => void;
}

/**
 * Parts of node-opcua 2.182 below its interface. For each node its `addVariable` checks, copies and looks up
 * what is the same for all of a kind.
 */
interface LowerNamespace {
  internalCreateNode(options: object): BaseNode;
}
interface NodeRecord {
  /** The name of a getter for the node on its parent. */
  _accessorName: string | undefined;
}

const READ = AccessLevelFlag.CurrentRead;
const READ_AND_WRITE = AccessLevelFlag.CurrentRead | AccessLevelFlag.CurrentWrite;
const READ_HISTORY = AccessLevelFlag.HistoryRead;

const folderType = standardId(ObjectTypeIds.FolderType);
const variableTypes = {
  tag: standardId(VariableTypeIds.BaseDataVariableType),
  numbered: standardId(VariableTypeIds.BaseDataVariableType),
  enumeration: standardId(VariableTypeIds.MultiStateValueDiscreteType),
  range: standardId(VariableTypeIds.AnalogUnitRangeType),
  unit: standardId(VariableTypeIds.AnalogUnitType),
  property: standardId(VariableTypeIds.PropertyType),
} as const;

// Read once: each read of an export of node-opcua is two calls.
const { Object: OBJECT, Variable: VARIABLE } = NodeClass;
const { STRING } = NodeIdType;
const Id = NodeId;

/** Makes them in `namespace`. */
export function createLeanNodes(addressSpace: AddressSpace, namespace: INamespace): LeanNodes {
  const lowerNamespace = lower<LowerNamespace>(namespace, "internalCreateNode");
  const references = createSharedReferences(addressSpace);
  const { relations } = references;
  const { index } = namespace;
  const browseNames = new Map<string, QualifiedName>();
  const standardNames = new Map<string, QualifiedName>();
  const displayNames = new Map<string, LocalizedText>();
  const accessorNames = new Map<string, string | undefined>();
  const dataTypes = new Map<DataType, NodeId>();
  const dimensions = new Map<number, number[]>();
  const permissions = new WeakMap<RolePermissionTypeOptions[], unknown>();

  function browseNameOf(name: string, namespaceIndex: number): QualifiedName {
    const names = namespaceIndex === 0 ? standardNames : browseNames;
    return cached(names, name, () => new QualifiedName({ name, namespaceIndex }));
  }
  function displayNameOf(name: string, texts: NodeTexts | null | undefined): LocalizedText {
    return texts?.displayName ?? cached(displayNames, name, () => new LocalizedText({ text: name }));
  }

  function create(parent: Parent, name: string, to: Relation, options: object): BaseNode {
    const node = lowerNamespace.internalCreateNode(options);
    // Node's emitter makes its list of listeners when it needs one. An empty list takes 200 bytes.
    Reflect.set(node, "_events", undefined);
    // The same string for each node of that name; node-opcua would make one for each.
    const record = recordOf<NodeRecord>(node, "_accessorName");
    record._accessorName = cached(accessorNames, name, () => record._accessorName);
    references.adopt(parent, node, to);
    return node;
  }

  function referencesOf(type: NodeId, parent: Parent, relation: Relation, rule: NodeId | undefined) {
    const shared = references.of(type, parent, relation);
    return rule === undefined ? shared : [...shared, references.rule(rule)];
  }

  /** node-opcua makes four objects of them for each node; here all nodes share those of the first. */
  function permit(variable: UAVariable, writers: RolePermissionTypeOptions[]): void {
    const made = permissions.get(writers);
    if (made !== undefined) Reflect.set(variable, "_rolePermissions", made);
    else {
      variable.setRolePermissions(writers);
      permissions.set(writers, Reflect.get(variable, "_rolePermissions"));
    }
  }

  /** node-opcua's own removal would also dispose of the references that all nodes share. */
  function notifyGone(node: BaseNode): void {
    for (const child of references.childrenOf(node)) notifyGone(child);
    node.emit("dispose");
  }

  return {
    object(parent, path, name, { type, texts, rule }) {
      const node = create(parent, name, relations.component, {
        nodeClass: OBJECT,
        nodeId: new Id(STRING, path, index),
        browseName: browseNameOf(name, index),
        displayName: displayNameOf(name, texts),
        description: texts?.description,
        references: referencesOf(type ?? folderType, parent, relations.component, rule),
        eventNotifier: 0,
      });
      return node as UAObject;
    },
    variable(parent, path, name, { dataType, length, writers, kind, isHistorized = false, texts, rule }) {
      const isProperty = kind === "property";
      const relation = isProperty ? relations.property : relations.component;
      const node = create(parent, name, relation, {
        nodeClass: VARIABLE,
        nodeId: new Id(STRING, path, index),
        browseName: browseNameOf(name, isProperty ? 0 : index),
        displayName: displayNameOf(name, texts),
        description: texts?.description,
        references: referencesOf(variableTypes[kind], parent, relation, rule),
        dataType: cached(dataTypes, dataType, () => standardId(dataType)),
        valueRank: length === null ? -1 : 1,
        arrayDimensions: length === null ? null : cached(dimensions, length, () => [length]),
        accessLevel: (writers === null ? READ : READ_AND_WRITE) | (isHistorized ? READ_HISTORY : 0),
        minimumSamplingInterval: 0,
        historizing: isHistorized,
      });
      const variable = node as UAVariable;
      if (kind === "tag" && rule === undefined) references.shareAmongTags(variable, parent);
      if (writers !== null) permit(variable, writers);
      return variable;
    },
    share: (parent, shared, as) => references.share(parent, shared, relations[as]),
    addNotifier(above, object) {
      object.setEventNotifier(EventNotifierFlags.SubscribeToEvents);
      references.link(above, object, relations.notifier);
      noteNotifier(above, object);
    },
    retype: references.retype,
    detach(parent, object) {
      const attach = references.unlink(parent, object);
      notifyGone(object);
      return attach;
    },
  };
}
