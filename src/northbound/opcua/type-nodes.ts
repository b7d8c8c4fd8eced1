import {
  type AddressSpace,
  DataType,
  type INamespace,
  type NodeId,
  ObjectIds,
  type UAObject,
  type UAObjectType,
  type UAVariable,
  VariantArrayType,
} from "node-opcua";
import { FLEET_NAMESPACE, MODEL_DATE, MODEL_VERSION } from "./fleet-nodeset.ts";
import { localized, textsOf, textsOfNamed } from "./localized.ts";
import type { ObjectMember, ObjectModel } from "./model/member.ts";
import { objectTypes } from "./model/types.ts";
import type { LeanNodes } from "./node-opcua/lean-nodes.ts";
import { cached, standardId } from "./node-opcua/lower.ts";
import type { Variables } from "./variables.ts";

/** Whether instances of a type have a member (OPC UA part 3, 6.4.4.4). */
const rules = {
  mandatory: standardId(78),
  optional: standardId(80),
  anyNumber: standardId(11508),
} as const;

/** The nodes of our object types, from which an engineering tool builds a faceplate. */
export interface TypeNodes {
  /** The NodeId of a type, the same object each time. */
  idOf(model: ObjectModel): NodeId;
  nodeOf(model: ObjectModel): UAObjectType;
}

/** Makes all of them: `ns=2;s=<type>`, and `ns=2;s=<type>.<member>`. */
export function createTypeNodes(
  addressSpace: AddressSpace,
  namespace: INamespace,
  nodes: LeanNodes,
  variables: Variables,
): TypeNodes {
  const types = new Map<ObjectModel, UAObjectType>();

  function typeOf(model: ObjectModel): UAObjectType {
    return cached(types, model, () => {
      const node = namespace.addObjectType({
        browseName: model.name,
        nodeId: `s=${model.name}`,
        ...textsOf(model.name, model),
        subtypeOf: model.base === undefined ? (model.standardBase ?? "BaseObjectType") : typeOf(model.base),
        isAbstract: model.isAbstract === true,
      });
      addMembers(node, model);
      return node;
    });
  }

  function addMembers(
    type: UAObjectType,
    { name: path, tags, objects = {}, each, conditions = [] }: ObjectModel,
  ): void {
    for (const condition of conditions)
      type.addReference({ referenceType: "HasCondition", nodeId: typeOf(condition) });
    for (const [name, tag] of Object.entries(tags)) {
      const rule = tag.isOptional === true ? rules.optional : rules.mandatory;
      variables.declare(type, `${path}.${name}`, name, tag, rule);
    }
    for (const [name, member] of Object.entries(objects)) {
      const rule = member.isOptional === true ? rules.optional : rules.mandatory;
      addObject(type, `${path}.${name}`, name, member, rule);
    }
    if (each !== undefined) addObject(type, `${path}.${each.name}`, each.name, each, rules.anyNumber);
  }

  /** The object has the very members of its type, not copies. */
  function addObject(type: UAObjectType, path: string, name: string, member: ObjectMember, rule: NodeId) {
    const { nodeId } = typeOf(member.model);
    const isNamed = rule === rules.anyNumber;
    const node = nodes.object(type, path, name, {
      type: nodeId,
      texts: isNamed ? textsOfNamed(member) : textsOf(name, member),
      rule,
    });
    for (const part of membersOf(member.model)) nodes.share(node, part, "component");
  }

  /** Properties of types are standard ones: an object need not have them. */
  function membersOf(model: ObjectModel): readonly (UAObject | UAVariable)[] {
    const inherited = model.base === undefined ? [] : membersOf(model.base);
    const own = [...Object.keys(model.tags), ...Object.keys(model.objects ?? {})].flatMap((name) => {
      if (model.tags[name]?.isProperty === true) return [];
      const node = addressSpace.findNode(`ns=${namespace.index};s=${model.name}.${name}`);
      return node === null ? [] : [node as UAObject | UAVariable];
    });
    return [...inherited, ...own];
  }

  for (const model of objectTypes) typeOf(model);
  return { idOf: (model) => typeOf(model).nodeId, nodeOf: typeOf };
}

const STRING_IDS = 1;

/** Describes our namespace under `Server.Namespaces` (OPC UA part 5, 6.3.13). */
export function addNamespaceMetadata(addressSpace: AddressSpace, namespace: INamespace): void {
  const namespaces = addressSpace.findNode(`ns=0;i=${ObjectIds.Server_Namespaces}`);
  if (namespaces === null) throw new Error("the OPC UA server has no list of namespaces");
  const object = namespace.addObject({
    componentOf: namespaces,
    typeDefinition: "NamespaceMetadataType",
    browseName: FLEET_NAMESPACE,
    nodeId: "s=Namespace",
    description: localized({
      en: "The robots, stations and the gateway of Fleetgate, and their types",
      de: "Die Roboter, Stationen und das Gateway von Fleetgate, und ihre Typen",
    }),
  });
  const properties = [
    ["NamespaceUri", DataType.String, "String", FLEET_NAMESPACE],
    ["NamespaceVersion", DataType.String, "String", MODEL_VERSION],
    ["NamespacePublicationDate", DataType.DateTime, "DateTime", new Date(MODEL_DATE)],
    ["IsNamespaceSubset", DataType.Boolean, "Boolean", false],
    // Types have the same NodeIds everywhere; robots are each plant's own.
    ["StaticNodeIdTypes", DataType.Int32, "IdType", [STRING_IDS]],
    ["StaticNumericNodeIdRange", DataType.String, "NumericRange", []],
    ["StaticStringNodeIdPattern", DataType.String, "String", ""],
  ] as const;
  for (const [name, dataType, type, value] of properties) {
    const isList = Array.isArray(value);
    namespace.addVariable({
      propertyOf: object,
      typeDefinition: "PropertyType",
      browseName: { name, namespaceIndex: 0 },
      nodeId: `s=Namespace.${name}`,
      dataType: type,
      valueRank: isList ? 1 : -1,
      accessLevel: "CurrentRead",
      minimumSamplingInterval: 0,
      value: { dataType, arrayType: isList ? VariantArrayType.Array : VariantArrayType.Scalar, value },
    });
  }
}
