import {
  Argument,
  DataType,
  DataTypeIds,
  type INamespace,
  resolveNodeId,
  StatusCodes,
  type UAMethod,
  Variant,
  VariantArrayType,
} from "node-opcua";
import { germanOf, localized, textsOf } from "./localized.ts";
import { type ArgumentList, argumentLists, type MethodArgument } from "./model/method.ts";
import { answerInGerman } from "./node-opcua/locales.ts";
import { standardId } from "./node-opcua/lower.ts";

/**
 * Describes the arguments of a method, in the language of the session. The NodeId consists of names, like all
 * of ours: node-opcua would number them.
 */
export function addArguments(namespace: INamespace, method: UAMethod, [name, list]: ArgumentList): void {
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
