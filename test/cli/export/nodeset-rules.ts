import { readFileSync } from "node:fs";
import {
  at,
  childrenOf,
  type Element,
  type ReadNode,
  type ReadNodeSet,
  readNodeSet,
} from "./nodeset-reader.ts";

/** Namespace 0, as the OPC Foundation publishes it. */
export function standardNodeSet(): ReadNodeSet {
  return readNodeSet(readFileSync("node_modules/node-opcua-nodesets/nodesets/Opc.Ua.NodeSet2.xml", "utf8"));
}

const [ORGANIZES, MODELLING_RULE, TYPE_DEFINITION] = ["i=35", "i=37", "i=40"];
const [SUBTYPE, PROPERTY, COMPONENT] = ["i=45", "i=46", "i=47"];
const hierarchical: ReadonlySet<string> = new Set([ORGANIZES, SUBTYPE, PROPERTY, COMPONENT]);
const PROPERTY_TYPE = "i=68";
const MANDATORY = "i=78";
const OPTIONAL_PLACEHOLDER = "i=11508";
const modellingRules: ReadonlySet<string> = new Set([MANDATORY, "i=80", "i=11508", "i=11510", "i=83"]);
const ARGUMENT = "i=296";
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** The members of structures in the order of their XML encoding (OPC UA part 6, 5.3; Types.xsd). */
const structures: Readonly<Record<string, readonly string[]>> = {
  Argument: ["Name", "DataType", "ValueRank", "ArrayDimensions", "Description"],
  EnumValueType: ["Value", "DisplayName", "Description"],
  EUInformation: ["NamespaceUri", "UnitId", "DisplayName", "Description"],
  Range: ["Low", "High"],
};

type Problems = Generator<string>;

/** Both models, and how their nodes are found. */
interface Models {
  readonly own: ReadNodeSet;
  readonly standard: ReadNodeSet;
  readonly byId: ReadonlyMap<string, ReadNode>;
  /** The targets of forward hierarchical references, also of those that only the target states. */
  readonly members: ReadonlyMap<string, readonly ReadNode[]>;
}

/**
 * What a UANodeSet does that importers refuse: the rules of its schema that a schema cannot say, and those of
 * OPC UA part 6, annex F, and part 3 for the nodes in it.
 */
export function nodeSetProblems(xml: string, standard: ReadNodeSet): readonly string[] {
  const own = readNodeSet(xml);
  const all = [...standard.nodes, ...own.nodes];
  const byId = new Map(all.map((node) => [node.id, node]));
  const models: Models = { own, standard, byId, members: membersOf(all, byId) };
  return [
    ...uriProblems(own, xml),
    ...modelProblems(models),
    ...aliasProblems(models),
    ...repeated(own.nodes.map(({ id }) => id)).map((id) => `${id} is there twice`),
    ...own.nodes.flatMap((node) =>
      [
        ...nameProblems(node),
        ...referenceProblems(node, models),
        ...placeProblems(node, models),
        ...typeProblems(node, models),
        ...variableProblems(node, models),
        ...methodProblems(node, models),
      ].map((problem) => `${node.id}: ${problem}`),
    ),
  ];
}

function membersOf(all: readonly ReadNode[], byId: ReadonlyMap<string, ReadNode>): Models["members"] {
  const members = new Map<string, Set<ReadNode>>();
  const add = (from: string, to: ReadNode | undefined) => {
    if (to !== undefined) members.set(from, (members.get(from) ?? new Set()).add(to));
  };
  for (const node of all) {
    for (const { type, isForward, to } of node.references) {
      if (!hierarchical.has(type) || type === SUBTYPE) continue;
      if (isForward) add(node.id, byId.get(to));
      else add(to, node);
    }
  }
  return new Map([...members].map(([id, nodes]) => [id, [...nodes]]));
}

function repeated(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))];
}

/** One compiler takes the line, and another takes white space as a part of the name. */
function* uriProblems({ root }: ReadNodeSet, xml: string): Problems {
  for (const { text } of at(root, "NamespaceUris", "Uri")) {
    if (text !== text.trim() || text === "") yield `there is white space in the Uri "${text}"`;
    if (!new RegExp(`^ *<Uri>${text.trim()}</Uri>$`, "m").test(xml)) yield `${text} has no line of its own`;
  }
}

function* modelProblems({ own, standard }: Models): Problems {
  const uris = at(own.root, "NamespaceUris", "Uri").map(({ text }) => text);
  const models = at(own.root, "Models", "Model");
  const described = models.map(({ attributes }) => attributes.ModelUri);
  for (const uri of uris) if (!described.includes(uri)) yield `no Model describes ${uri}`;
  const [standardModel] = at(standard.root, "Models", "Model");
  for (const model of models) {
    const required = childrenOf(model, "RequiredModel");
    if (required.length === 0) yield "a Model requires none";
    for (const { attributes, name } of [model, ...required]) {
      const { ModelUri, Version, PublicationDate = "" } = attributes;
      if (ModelUri === undefined || Version === undefined) yield `a ${name} has no ModelUri or no Version`;
      if (!DATE_TIME.test(PublicationDate) || Number.isNaN(Date.parse(PublicationDate)))
        yield `${name}: PublicationDate "${PublicationDate}" is no time of UTC`;
    }
    for (const { attributes } of required) {
      const known = standardModel?.attributes;
      if (attributes.ModelUri !== known?.ModelUri) yield `nobody has the model ${attributes.ModelUri}`;
      if ((attributes.PublicationDate ?? "") > (known?.PublicationDate ?? ""))
        yield "a newer namespace 0 is required than there is";
    }
  }
  const { LastModified } = own.root.attributes;
  if (LastModified !== undefined && !DATE_TIME.test(LastModified)) yield "LastModified is no time of UTC";
}

function* aliasProblems({ own, byId }: Models): Problems {
  for (const name of repeated(
    at(own.root, "Aliases", "Alias").map(({ attributes }) => attributes.Alias ?? ""),
  ))
    yield `the alias ${name} is there twice`;
  for (const [alias, id] of own.aliases) {
    if (byId.get(id)?.browseName !== alias) yield `the alias ${alias} is for ${id}, which has another name`;
  }
}

function* nameProblems({ element, id, browseName }: ReadNode): Problems {
  if (!/^ns=1;s=.+/.test(id) || id !== id.trim()) yield "it is not of our namespace";
  if (!/^(1:)?[^:]+$/.test(browseName)) yield `its BrowseName ${browseName} is of no namespace that is there`;
  for (const name of ["DisplayName", "Description"]) {
    const texts = childrenOf(element, name);
    if (texts.length === 0 || texts.some(({ text }) => text.trim() === "")) yield `it has no ${name}`;
    const locales = texts.map(({ attributes }) => attributes.Locale ?? "");
    if (repeated(locales).length > 0) yield `it has two texts of one language in ${name}`;
    if (locales.some((locale) => !/^([a-z]{2}(-[A-Z]{2})?)?$/.test(locale)))
      yield `${name} is in no language`;
  }
}

function* referenceProblems(node: ReadNode, { byId, own }: Models): Problems {
  const texts = node.references.map(({ type, isForward, to }) => `${type} ${isForward} ${to}`);
  for (const text of repeated(texts)) yield `the reference ${text} is there twice`;
  const ours = new Set(own.nodes);
  for (const { type, isForward, to } of node.references) {
    const target = byId.get(to);
    if (byId.get(type)?.nodeClass !== "ReferenceType") yield `${type} is no reference type`;
    if (target === undefined) {
      yield `it refers to ${to}, which is not there`;
      continue;
    }
    const isStated = target.references.some(
      (other) => other.type === type && other.isForward !== isForward && other.to === node.id,
    );
    if (!isForward && ours.has(target) && !isStated) yield `${to} does not refer to it`;
    const [member, parent] = isForward ? [target, node] : [node, target];
    const isProperty = typesOf(member)[0] === PROPERTY_TYPE;
    if (type === PROPERTY && !isProperty) yield `${member.id} is a property without PropertyType`;
    if (type === COMPONENT && isProperty) yield `${member.id} of PropertyType is a component`;
    if (type === PROPERTY && typesOf(parent)[0] === PROPERTY_TYPE) yield `the property ${parent.id} has one`;
  }
}

/** It has a place in the tree, and its parent is the one to which it refers. */
function* placeProblems(node: ReadNode, { members, own, byId }: Models): Problems {
  const parents = node.references.filter(({ type, isForward }) => hierarchical.has(type) && !isForward);
  if (node.parentId !== null && !parents.some(({ to }) => to === node.parentId))
    yield `its ParentNodeId ${node.parentId} is none of those that it refers back to`;
  if (node.parentId === null && parents.length > 0 && !node.nodeClass.endsWith("Type"))
    yield "it refers back to a parent, and has no ParentNodeId";
  const isReached =
    parents.some(({ to }) => byId.has(to)) ||
    own.nodes.some(({ references }) =>
      references.some(({ type, isForward, to }) => isForward && hierarchical.has(type) && to === node.id),
    );
  if (!isReached) yield "nothing leads to it";
  const names = (members.get(node.id) ?? []).map(({ browseName }) => browseName);
  for (const name of repeated(names)) yield `two of its members have the BrowseName ${name}`;
}

function typesOf({ references }: ReadNode): readonly string[] {
  return references.filter(({ type }) => type === TYPE_DEFINITION).map(({ to }) => to);
}

/** A type and its supertypes, the nearest first. Ends at one that is not there, or that came before. */
function lineage(id: string, byId: Models["byId"], seen: readonly string[] = []): readonly ReadNode[] {
  const node = byId.get(id);
  if (node === undefined || seen.includes(id)) return [];
  const above = node.references.find(({ type, isForward }) => type === SUBTYPE && !isForward);
  return [node, ...(above === undefined ? [] : lineage(above.to, byId, [...seen, id]))];
}

function* typeProblems(node: ReadNode, { byId, members }: Models): Problems {
  const rules = node.references.filter(({ type }) => type === MODELLING_RULE).map(({ to }) => to);
  if (rules.length > 1 || rules.some((rule) => !modellingRules.has(rule))) yield "its modelling rule is none";
  const definitions = typesOf(node);
  if (node.nodeClass.endsWith("Type") || node.nodeClass === "Method") {
    if (definitions.length > 0) yield "it has a type";
    const isRooted = lineage(node.id, byId).at(-1)?.id === "i=58";
    if (node.nodeClass === "ObjectType" && !isRooted) yield "it is no subtype of BaseObjectType";
    return;
  }
  const [definition] = definitions;
  const type = byId.get(definition ?? "");
  if (definitions.length !== 1 || type?.nodeClass !== `${node.nodeClass}Type`) {
    yield `it has ${definitions.length} types, of which the first is a ${type?.nodeClass}`;
    return;
  }
  if (type.element.attributes.IsAbstract === "true" && rules.length === 0) yield "its type is abstract";
  // It stands for any number of objects: they have the members.
  if (rules.includes(OPTIONAL_PLACEHOLDER)) return;
  const has = new Set((members.get(node.id) ?? []).map(({ browseName }) => browseName));
  for (const { id } of lineage(type.id, byId)) {
    for (const member of members.get(id) ?? []) {
      const isMandatory = member.references.some(
        ({ to, type }) => type === MODELLING_RULE && to === MANDATORY,
      );
      if (isMandatory && !has.has(member.browseName)) yield `it lacks ${member.browseName} of its type`;
    }
  }
}

function* variableProblems(node: ReadNode, { byId }: Models): Problems {
  if (node.nodeClass !== "Variable") return;
  const { dataType, valueRank, arrayDimensions, element } = node;
  if (byId.get(dataType)?.nodeClass !== "DataType") yield `its DataType ${dataType} is not there`;
  const [type] = typesOf(node);
  const wanted = byId.get(type ?? "")?.dataType ?? "";
  if (wanted !== "i=24" && !lineage(dataType, byId).some(({ id }) => id === wanted))
    yield `its DataType ${dataType} is no ${wanted}, which its type wants`;
  if (arrayDimensions.length !== Math.max(0, valueRank))
    yield `its ValueRank is ${valueRank} with ${arrayDimensions.length} ArrayDimensions`;
  const values = childrenOf(element, "Value");
  if (values.length > 1 || values.some(({ children }) => children.length !== 1)) yield "its Value is not one";
  for (const value of values.flatMap(({ children }) => children)) {
    yield* valueProblems(value, node, byId);
  }
}

function* valueProblems(
  value: Element,
  { dataType, valueRank, arrayDimensions }: ReadNode,
  byId: Models["byId"],
): Problems {
  const isList = value.name.startsWith("ListOf");
  if (isList !== (valueRank === 1)) yield `its Value is a ${value.name}, its ValueRank ${valueRank}`;
  const items = isList ? value.children : [value];
  const [most = 0] = arrayDimensions;
  if (isList && most !== 0 && items.length !== most) yield `its Value has ${items.length} of ${most} items`;
  const name = byId.get(dataType)?.browseName ?? "";
  for (const item of items) {
    if (item.name !== "ExtensionObject") {
      if (item.name !== name) yield `its Value is a ${item.name}, its DataType ${name}`;
      continue;
    }
    const [encoding = ""] = at(item, "TypeId", "Identifier").map(({ text }) => text);
    const isEncoding = byId.get(encoding)?.browseName === "Default XML";
    const isOfType = byId
      .get(encoding)
      ?.references.some(({ type, isForward, to }) => type === "i=38" && !isForward && to === dataType);
    if (!isEncoding || isOfType !== true) yield `${encoding} is not the XML encoding of ${name}`;
    const bodies = at(item, "Body").flatMap(({ children }) => children);
    const order = structures[name] ?? [];
    const places = (bodies[0]?.children ?? []).map((member) => order.indexOf(member.name));
    const isOrdered = places.every((place, index) => place > (places[index - 1] ?? -1));
    if (bodies.length !== 1 || bodies[0]?.name !== name || places.length === 0 || !isOrdered)
      yield `its Value is no ${name} with members in their order`;
  }
}

function* methodProblems(node: ReadNode, { members, byId }: Models): Problems {
  if (node.nodeClass !== "Method") return;
  const described = childrenOf(node.element, "ArgumentDescription").flatMap((each) =>
    childrenOf(each, "Name").map(({ text }) => text),
  );
  const names: string[] = [];
  for (const list of ["InputArguments", "OutputArguments"]) {
    const found = (members.get(node.id) ?? []).find(({ browseName }) => browseName === list);
    if (found === undefined) continue;
    if (found.dataType !== ARGUMENT || found.valueRank !== 1) yield `${list} is no list of Argument`;
    const all = at(found.element, "Value", "ListOfExtensionObject", "ExtensionObject", "Body", "Argument");
    for (const argument of all) {
      const [name = ""] = childrenOf(argument, "Name").map(({ text }) => text);
      const [type = ""] = at(argument, "DataType", "Identifier").map(({ text }) => text);
      names.push(name);
      if (name === "") yield `an argument of ${list} has no name`;
      if (byId.get(type)?.nodeClass !== "DataType") yield `the DataType ${type} of ${name} is not there`;
      const [rank = ""] = childrenOf(argument, "ValueRank").map(({ text }) => text);
      if (rank !== "-1" && rank !== "1") yield `the ValueRank of ${name} is "${rank}"`;
    }
    if (all.length === 0) yield `${list} has no arguments`;
  }
  if (repeated(names).length > 0) yield "two of its arguments have one name";
  if (described.join() !== names.join()) yield `it describes the arguments ${described.join()}`;
}
