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

/** An empty nodeset that claims the namespace's index. */
export const fleetNodeset: NodesetSource = {
  name: FLEET_NAMESPACE,
  source: `<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
  <NamespaceUris><Uri>${FLEET_NAMESPACE}</Uri></NamespaceUris>
  <Models><Model ModelUri="${FLEET_NAMESPACE}" Version="${MODEL_VERSION}" PublicationDate="${MODEL_DATE}">
    <RequiredModel ModelUri="http://opcfoundation.org/UA/"/>
  </Model></Models>
  <Aliases/>
</UANodeSet>`,
};
