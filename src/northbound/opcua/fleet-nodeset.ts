import type { NodesetSource } from "node-opcua";

/** Names the namespace of robots and gateway, whatever the gateway is called. */
const FLEET_NAMESPACE = "urn:fleetgate:fleet";

/**
 * 0 is OPC UA's, 1 the server's own; ours is loaded before any companion specification, so that no NodeId
 * ever moves.
 */
export const FLEET_NAMESPACE_INDEX = 2;

/** An empty nodeset that claims the namespace's index. */
export const fleetNodeset: NodesetSource = {
  name: FLEET_NAMESPACE,
  source: `<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
  <NamespaceUris><Uri>${FLEET_NAMESPACE}</Uri></NamespaceUris>
  <Models><Model ModelUri="${FLEET_NAMESPACE}" Version="1.0.0" PublicationDate="2026-01-01T00:00:00Z">
    <RequiredModel ModelUri="http://opcfoundation.org/UA/"/>
  </Model></Models>
  <Aliases/>
</UANodeSet>`,
};
