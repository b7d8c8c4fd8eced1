import { type AddressSpace, DataType, type INamespace, ObjectIds, VariantArrayType } from "node-opcua";
import { FLEET_NAMESPACE, MODEL_DATE, MODEL_VERSION } from "./fleet-nodeset.ts";
import { localized } from "./localized.ts";

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
