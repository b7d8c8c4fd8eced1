import {
  type AddressSpace,
  type CallMethodResultOptions,
  DataType,
  type INamespace,
  type ISessionContext,
  type RolePermissionTypeOptions,
  type UAMethod,
  type UAObject,
  type Variant,
} from "node-opcua";
import { createEnumerations, type EnumTable, type EnumTag } from "./enumeration.ts";
import { createLeanNodes } from "./node-opcua/lean-nodes.ts";
import { Tag } from "./node-opcua/tag.ts";

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

interface TagOptions {
  readonly length?: number | null;
  readonly isWritable?: boolean;
  readonly kind?: "tag" | "property";
}

interface MethodArgument {
  readonly name: string;
  readonly dataType: DataType;
  /** What it is, for people. */
  readonly text: string;
  readonly isList?: boolean;
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
  /** A property that OPC UA itself has named. */
  property(parent: Folder, name: string, type: TagType): Tag;
  /** A fixed array of `length` values. */
  list(parent: Folder, name: string, type: "Boolean" | "Int32" | "String", length: number): Tag;
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

/** Builds under Objects of the address space; `writers` is who may write parameters. */
export function createNodeBuilder(
  addressSpace: AddressSpace,
  namespace: INamespace,
  writers: RolePermissionTypeOptions[],
): NodeBuilder {
  const nodes = createLeanNodes(addressSpace, namespace);
  const enumerations = createEnumerations(nodes, namespace);

  function addTag(
    parent: Folder,
    name: string,
    type: TagType,
    { length = null, isWritable = false, kind = "tag" }: TagOptions = {},
  ): Tag {
    const options = { dataType: DataType[type], length, writers: isWritable ? writers : null, kind };
    const variable = nodes.variable(parent.node, `${parent.path}.${name}`, name, options);
    return new Tag(variable, DataType[type], length !== null);
  }

  return {
    root(name, description) {
      const node = namespace.addObject({
        organizedBy: addressSpace.rootFolder.objects,
        typeDefinition: "FolderType",
        browseName: name,
        nodeId: `s=${name}`,
        description,
      });
      return { node, path: name };
    },
    folder(parent, name) {
      const path = `${parent.path}.${name}`;
      return { node: nodes.folder(parent.node, path, name), path };
    },
    tag: (parent, name, type) => addTag(parent, name, type),
    property: (parent, name, type) => addTag(parent, name, type, { kind: "property" }),
    list: (parent, name, type, length) => addTag(parent, name, type, { length }),
    enumeration: (parent, name, table) =>
      enumerations.add(parent.node, `${parent.path}.${name}`, name, table),
    parameter: (parent, name, type, length) =>
      addTag(parent, name, type, { length: length ?? null, isWritable: true }),
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
      nodes.share(parent.node, node);
    },
  };
}

function argument({ name, dataType, text, isList = false }: MethodArgument) {
  return { name, dataType, valueRank: isList ? 1 : -1, description: { text } };
}
