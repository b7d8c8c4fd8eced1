import {
  type AddressSpace,
  Argument,
  type CallMethodResultOptions,
  DataType,
  DataTypeIds,
  type INamespace,
  type ISessionContext,
  resolveNodeId,
  StatusCodes,
  type UAMethod,
  type UAObject,
  Variant,
  VariantArrayType,
} from "node-opcua";
import type { Clock } from "../../platform/clock.ts";
import { germanOf, localized, textsOf, textsOfNamed } from "./localized.ts";
import type { EnumModel, NamedText } from "./model/member.ts";
import {
  isAnyOf,
  type ObjectMember,
  type ObjectModel,
  objectMember,
  type TagModel,
  type TagTable,
  type TagType,
  tagModel,
} from "./model/member.ts";
import {
  type ArgumentList,
  argumentLists,
  argumentListsOf,
  type MethodArgument,
  type MethodModel,
} from "./model/method.ts";
import { createModelChanges, type NotifyModelChanges } from "./model-changes.ts";
import { createLeanNodes } from "./node-opcua/lean-nodes.ts";
import { answerInGerman } from "./node-opcua/locales.ts";
import { standardId } from "./node-opcua/lower.ts";
import { type Tag, type TagTimes, timesAt } from "./node-opcua/tag.ts";
import type { WriterPermissions } from "./security.ts";
import { createSharedProperties } from "./shared-properties.ts";
import { createTypeNodes } from "./type-nodes.ts";
import { createVariables, type EnumTag, type GivenTag, isEnumeration } from "./variables.ts";

/** An object of the address space under which tags stand; its path is its string NodeId. */
export interface Folder {
  readonly node: UAObject;
  readonly path: string;
  /** The prefix of the paths below it. Stored, so that the ids of its nodes share one string. */
  readonly prefix: string;
  /** Its type; null: a plain folder, whose tags have no description. */
  readonly model: ObjectModel | null;
}

/** A method that many objects may share. */
export interface MethodNode {
  readonly node: UAMethod;
}

/** Answers a call. `objectPath` is the object of the call. */
export type MethodHandler = (
  values: readonly Variant[],
  context: ISessionContext,
  objectPath: string,
) => Promise<CallMethodResultOptions>;

/** The tags of a table, by name. */
export type Tags<T extends TagTable> = {
  readonly [Name in keyof T]: T[Name] extends { readonly enumeration: EnumModel } ? EnumTag : Tag;
};

/** Makes nodes with stable string NodeIds: the path of names, joined with dots. */
export interface NodeBuilder {
  /** An object directly under Objects, with its type or only a description. */
  root(name: string, type: ObjectModel | NamedText): Folder;
  /** An object, as the type of its parent declares it. */
  folder(parent: Folder, name: string): Folder;
  /** Makes an object an event notifier, under the notifier `above`; null: under the Server object. */
  addNotifier(folder: Folder, above: Folder | null): void;
  /** Changes the type of an object to one that extends its present type. */
  retype(folder: Folder, model: ObjectModel): Folder;
  /** Removes an object from its parent. Returns a function that puts it back. */
  detach(parent: Folder, folder: Folder): () => void;
  /** All tags of a table. */
  tags<T extends TagTable>(parent: Folder, table: T): Tags<T>;
  tag(parent: Folder, name: string, type: TagType): Tag;
  /** A fixed array of `length` values. */
  list(parent: Folder, name: string, type: TagType, length: number): Tag;
  enumeration(parent: Folder, name: string, model: EnumModel): EnumTag;
  /** A tag that operators may write; an array when it has a length. */
  parameter(parent: Folder, name: string, type: TagType, length?: number): Tag;
  /** The times of a value that is the gateway's own: now. */
  timesNow(): TagTimes;
  /** Notifies clients of nodes that were added where they may have browsed. */
  readonly changed: NotifyModelChanges;
  /** A method in the object of its folder; `handle` must not reject. */
  method(folder: Folder, model: MethodModel, handle: MethodHandler): MethodNode;
  /** Lets a method be called on one more object, without nodes of its own. */
  share(parent: Folder, method: MethodNode): void;
  /** Declares a method on a type. */
  declare(model: ObjectModel, method: MethodNode): void;
}

/**
 * Builds under Objects of the address space; `writers` has the roles that may write parameters, `note` is
 * called with each tag.
 */
export function createNodeBuilder(
  addressSpace: AddressSpace,
  namespace: INamespace,
  writers: WriterPermissions,
  note: (tag: Tag, parentPath: string) => void,
  clock: Clock,
): NodeBuilder {
  const nodes = createLeanNodes(addressSpace, namespace);
  const variables = createVariables(nodes, createSharedProperties(namespace), writers, note);
  const types = createTypeNodes(addressSpace, namespace, nodes, variables);

  /** A tag of a type has its texts; it must match the type. */
  function modelOf({ model, prefix }: Folder, name: string, given: GivenTag): TagModel | GivenTag {
    const known = model === null ? undefined : tagModel(model, name);
    if (known === undefined) return given;
    const isSame =
      known.type === given.type &&
      known.length === given.length &&
      known.isWritable === given.isWritable &&
      known.enumeration === given.enumeration;
    if (!isSame) throw new Error(`${prefix}${name} is not as its type declares it`);
    return known;
  }
  function plain(parent: Folder, name: string, given: GivenTag): Tag {
    return variables.tag(parent.node, parent.prefix + name, name, modelOf(parent, name, given));
  }

  return {
    root(name, type) {
      const isTyped = "tags" in type;
      const node = namespace.addObject({
        organizedBy: addressSpace.rootFolder.objects,
        typeDefinition: isTyped ? types.idOf(type) : "FolderType",
        browseName: name,
        nodeId: `s=${name}`,
        ...textsOf(name, type),
      });
      return { node, ...placeOf(name), model: isTyped ? type : null };
    },
    folder(parent, name) {
      const path = parent.prefix + name;
      const member = parent.model === null ? undefined : objectMember(parent.model, name);
      const node = nodes.object(parent.node, path, name, {
        type: member === undefined ? null : types.idOf(member.model),
        texts: member === undefined ? null : memberTexts(name, parent, member),
      });
      return { node, ...placeOf(path), model: member?.model ?? null };
    },
    addNotifier: ({ node }, above) =>
      nodes.addNotifier(above?.node ?? addressSpace.rootFolder.objects.server, node),
    retype(folder, model) {
      nodes.retype(folder.node, types.idOf(model));
      return { ...folder, model };
    },
    detach: (parent, folder) => nodes.detach(parent.node, folder.node),
    tags(parent, table) {
      const made: Record<string, Tag | EnumTag> = {};
      for (const name in table) {
        const model = table[name];
        if (model !== undefined) made[name] = variables.any(parent.node, parent.prefix + name, name, model);
      }
      return made as Tags<typeof table>;
    },
    timesNow: () => timesAt(clock.nowMs()),
    changed: createModelChanges(addressSpace, clock),
    tag: (parent, name, type) => plain(parent, name, { type }),
    list: (parent, name, type, length) => plain(parent, name, { type, length }),
    enumeration(parent, name, enumeration) {
      const model = modelOf(parent, name, { type: "Int32", enumeration });
      if (!isEnumeration(model)) throw new Error(`${parent.prefix}${name} is no enumeration`);
      return variables.enumeration(parent.node, parent.prefix + name, name, model);
    },
    parameter(parent, name, type, length) {
      const given = { type, isWritable: true } as const;
      return plain(parent, name, length === undefined ? given : { ...given, length });
    },
    method(folder, model, handle) {
      const { name, text } = model;
      const node = namespace.addMethod(folder.node, {
        browseName: name,
        nodeId: `s=${folder.prefix}${name}`,
        ...textsOf(name, text),
        // Types declare it too.
        modellingRule: "Mandatory",
      });
      for (const list of argumentListsOf(model)) addArguments(namespace, node, list);
      // Two parameters: node-opcua takes a function of two for one that returns a promise.
      node.bindMethod((values: Variant[], context: ISessionContext) =>
        // The object is that of the session's last call: read it before anything else is called.
        handle(values, context, String(context.object?.nodeId.value ?? "")),
      );
      return { node };
    },
    share(parent, { node }) {
      nodes.share(parent.node, node, "component");
    },
    declare: (model, { node }) => nodes.share(types.nodeOf(model), node, "component"),
  };
}

function placeOf(path: string): Pick<Folder, "path" | "prefix"> {
  return { path, prefix: `${path}.` };
}

/** Each of any number of objects has a name of its own. */
function memberTexts(name: string, { model }: Folder, member: ObjectMember) {
  const isNamed = model !== null && isAnyOf(model, member);
  return isNamed ? textsOfNamed(member) : textsOf(name, member);
}

/**
 * Describes the arguments of a method, in the language of the session. The NodeId consists of names, like all
 * of ours: node-opcua would number them.
 */
function addArguments(namespace: INamespace, method: UAMethod, [name, list]: ArgumentList): void {
  const variable = namespace.addVariable({
    propertyOf: method,
    browseName: { name, namespaceIndex: 0 },
    nodeId: `s=${method.nodeId.value}.${name}`,
    ...textsOf(name, argumentLists[name]),
    typeDefinition: "PropertyType",
    modellingRule: "Mandatory",
    dataType: resolveNodeId(DataTypeIds.Argument),
    valueRank: 1,
    arrayDimensions: [list.length],
    accessLevel: "CurrentRead",
    minimumSamplingInterval: 0,
  });
  variable.setValueFromSource(variant(list, false), StatusCodes.Good);
  answerInGerman(variable, variant(list, true));
}

function variant(list: readonly MethodArgument[], inGerman: boolean): Variant {
  return new Variant({
    dataType: DataType.ExtensionObject,
    arrayType: VariantArrayType.Array,
    value: list.map((each) => argumentOf(each, inGerman)),
  });
}

function argumentOf({ name, type, text, isList }: MethodArgument, inGerman: boolean): Argument {
  const english = localized(text);
  return new Argument({
    name,
    dataType: standardId(DataType[type]),
    valueRank: isList === true ? 1 : -1,
    description: inGerman ? germanOf(english) : english,
  });
}
