import type { NodesetSource } from "node-opcua";

/** Names the namespace of robots and gateway, whatever the gateway is called. */
export const FLEET_NAMESPACE = "urn:fleetgate:fleet";

/**
 * 0 is OPC UA's, 1 the server's own; ours is loaded before any companion specification, so that no NodeId
 * ever moves.
 */
export const FLEET_NAMESPACE_INDEX = 2;

/** The version of our types: a member that is added raises the second number. */
export const MODEL_VERSION = "1.2.0";
export const MODEL_DATE = "2026-11-01T00:00:00Z";

/**
 * The head of each NodeSet of ours. A compiler reads its Uri by lines, and takes white space as a part of it.
 * Others refuse a required model without version and date: that of OPC UA 1.04, which was the first to have
 * AnalogUnitType. A newer one would keep out tools that have no newer one.
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
