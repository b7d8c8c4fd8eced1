import {
  type CallMethodResultOptions,
  DataType,
  type INamespace,
  type ISessionContext,
  type RolePermissionTypeOptions,
  type UAMethod,
  type UAObject,
  type Variant,
} from "node-opcua";
import { addEnumeration, type EnumTable, type EnumTag } from "./enumeration.ts";
import { Tag } from "./tag.ts";

/** The scalar types that every PLC knows. */
type TagType = "Boolean" | "Int32" | "Double" | "String";

/** An object of the address space under which tags stand; its path is its string NodeId. */
export interface Folder {
  readonly node: UAObject;
  readonly path: string;
}

/** A method that may stand under many objects. */
export interface MethodNode {
  readonly node: UAMethod;
}

interface MethodArgument {
  readonly name: string;
  readonly dataType: DataType;
  /** What it is, for people. */
  readonly text: string;
}

/** Answers a call. `objectPath` is the object that it was called on. */
type MethodHandler = (
  values: readonly Variant[],
  context: ISessionContext,
  objectPath: string,
) => Promise<CallMethodResultOptions>;

/** Makes nodes with stable string NodeIds: the path of names, joined with dots. */
export interface NodeBuilder {
  /** A folder directly under Objects. */
  root(name: string, description: string): Folder;
  folder(parent: Folder, name: string): Folder;
  tag(parent: Folder, name: string, type: TagType): Tag;
  /** A fixed array of `length` values. */
  list(parent: Folder, name: string, type: "Int32" | "String", length: number): Tag;
  enumeration(parent: Folder, name: string, table: EnumTable): EnumTag;
  /** A tag that operators may write; an array when it has a length. */
  parameter(parent: Folder, name: string, type: TagType, length?: number): Tag;
  /** A method; `handle` must not reject. */
  method(
    parent: Folder,
    name: string,
    description: string,
    arguments_: { readonly inputs: readonly MethodArgument[]; readonly outputs: readonly MethodArgument[] },
    handle: MethodHandler,
  ): MethodNode;
  /** Lets a method be called on one more object, without nodes of its own. */
  share(parent: Folder, method: MethodNode): void;
}

/** Builds under `objects` of the address space that `namespace` belongs to; `writers` is who may write parameters. */
export function createNodeBuilder(
  namespace: INamespace,
  objects: UAObject,
  writers: RolePermissionTypeOptions[],
): NodeBuilder {
  function addVariable(
    parent: Folder,
    name: string,
    type: TagType,
    length: number | null,
    accessLevel: string,
  ) {
    return namespace.addVariable({
      componentOf: parent.node,
      browseName: name,
      nodeId: `s=${parent.path}.${name}`,
      dataType: DataType[type],
      valueRank: length === null ? -1 : 1,
      arrayDimensions: length === null ? null : [length],
      accessLevel,
      minimumSamplingInterval: 0,
    });
  }

  return {
    root(name, description) {
      const node = namespace.addObject({
        organizedBy: objects,
        typeDefinition: "FolderType",
        browseName: name,
        nodeId: `s=${name}`,
        description,
      });
      return { node, path: name };
    },
    folder(parent, name) {
      const path = `${parent.path}.${name}`;
      const node = namespace.addObject({
        componentOf: parent.node,
        typeDefinition: "FolderType",
        browseName: name,
        nodeId: `s=${path}`,
      });
      return { node, path };
    },
    tag(parent, name, type) {
      return new Tag(addVariable(parent, name, type, null, "CurrentRead"), DataType[type], false);
    },
    list(parent, name, type, length) {
      return new Tag(addVariable(parent, name, type, length, "CurrentRead"), DataType[type], true);
    },
    enumeration(parent, name, table) {
      return addEnumeration(namespace, parent.node, `${parent.path}.${name}`, name, table);
    },
    parameter(parent, name, type, length) {
      const variable = addVariable(parent, name, type, length ?? null, "CurrentRead | CurrentWrite");
      variable.setRolePermissions(writers);
      return new Tag(variable, DataType[type], length !== undefined);
    },
    method(parent, name, description, { inputs, outputs }, handle) {
      const node = namespace.addMethod(parent.node, {
        browseName: name,
        nodeId: `s=${parent.path}.${name}`,
        description,
        inputArguments: inputs.map(argument),
        outputArguments: outputs.map(argument),
      });
      // Two parameters: node-opcua counts them to know that a promise is returned.
      node.bindMethod((values: Variant[], context: ISessionContext) =>
        // The object is the session's last one: to be read before anything else is called.
        handle(values, context, String(context.object?.nodeId.value ?? "")),
      );
      return { node };
    },
    share(parent, { node }) {
      parent.node.addReference({ referenceType: "HasComponent", nodeId: node.nodeId });
    },
  };
}

function argument({ name, dataType, text }: MethodArgument) {
  return { name, dataType, description: { text } };
}
