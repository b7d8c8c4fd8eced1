import type { NodesetSource } from "node-opcua";

/** The namespace of robots and gateway, whatever the gateway's name. */
export const FLEET_NAMESPACE = "urn:fleetgate:fleet";

/**
 * 0 is OPC UA's, 1 the server's own. Ours is loaded before any companion specification, so that no NodeId
 * ever changes.
 */
export const FLEET_NAMESPACE_INDEX = 2;

/** The version of our types: a new member raises the second number. */
export const MODEL_VERSION = "1.3.0";
export const MODEL_DATE = "2026-11-01T00:00:00Z";

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
