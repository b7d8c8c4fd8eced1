import {
  type AddressSpace,
  DataType,
  type INamespace,
  type NodesetSource,
  ObjectIds,
  VariantArrayType,
} from "node-opcua";
import { localized } from "./localized.ts";

/** The namespace of robots and gateway, whatever the gateway's name. */
export const FLEET_NAMESPACE = "urn:fleetgate:fleet";

/**
 * 0 is OPC UA's, 1 the server's own. Ours is loaded before any companion specification, so that no NodeId
 * ever changes.
 */
export const FLEET_NAMESPACE_INDEX = 2;

/** The version of our types: a new member raises the second number. */
export const MODEL_VERSION = "1.2.0";
const MODEL_DATE = "2026-11-01T00:00:00Z";

/**
 * The head of each NodeSet of ours. One compiler reads its Uri by lines, and counts white space as a part of
 * it. Others refuse a required model without version and date. It is that of OPC UA 1.04, the first with
 * AnalogUnitType, because a newer one would keep out tools that do not have it.
 */
export const modelHead: readonly string[] = [
  "  <NamespaceUris>",
  `    <Uri>${FLEET_NAMESPACE}</Uri>`,
  "  </NamespaceUris>",
  "  <Models>",
  `    <Model ModelUri="${FLEET_NAMESPACE}" Version="${MODEL_VERSION}" PublicationDate="${MODEL_DATE}">`,
  '      <RequiredModel ModelUri="http://opcfoundation.org/UA/" Version="1.04" PublicationDate="2018-05-15T00:00:00Z"/>',
  "    </Model>",
  "  </Models>",
];

/** An empty nodeset that claims the namespace's index. */
export const fleetNodeset: NodesetSource = {
  name: FLEET_NAMESPACE,
  source: `<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
${modelHead.join("\n")}
  <Aliases/>
</UANodeSet>`,
};

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
