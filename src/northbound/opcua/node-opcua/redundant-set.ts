import {
  type AddressSpace,
  ApplicationDescription,
  ApplicationType,
  DataType,
  EnumRedundancySupport,
  ObjectIds,
  ObjectTypeIds,
  type OPCUAServer,
  ReferenceTypeIds,
  type UAObject,
  type UAVariable,
  VariableIds,
  VariantArrayType,
} from "node-opcua";
import type { ClusterView } from "../../../contracts/cluster.ts";
import { PRODUCT, PRODUCT_URI } from "../server-identity.ts";
import { standardId, wrap } from "./lower.ts";

/** Shows the servers of the cluster to clients. For an initialised server that describes itself. */
export function showRedundantSet(server: OPCUAServer, cluster: ClusterView): void {
  const { addressSpace } = server.engine;
  if (addressSpace !== null) showMembers(addressSpace, cluster);
  listPeers(server, cluster);
}

/**
 * A non-transparent redundant set. Hot: each server has its values at all times (OPC UA part 5, 6.3.9).
 * node-opcua's object has a type without a list of servers, and the list lies beside it.
 */
function showMembers(addressSpace: AddressSpace, { members, standby }: ClusterView): void {
  const object = addressSpace.findNode(standardId(ObjectIds.Server_ServerRedundancy)) as UAObject;
  const referenceType = standardId(ReferenceTypeIds.HasTypeDefinition);
  object.removeReference({ referenceType, nodeId: standardId(ObjectTypeIds.ServerRedundancyType) });
  object.addReference({ referenceType, nodeId: standardId(ObjectTypeIds.NonTransparentRedundancyType) });
  object.addReference({
    referenceType: standardId(ReferenceTypeIds.HasProperty),
    nodeId: standardId(VariableIds.Server_ServerRedundancy_ServerUriArray),
  });
  show(addressSpace, VariableIds.Server_ServerRedundancy_RedundancySupport, {
    dataType: DataType.Int32,
    value: standby === "hot" ? EnumRedundancySupport.Hot : EnumRedundancySupport.Warm,
  });
  show(addressSpace, VariableIds.Server_ServerRedundancy_ServerUriArray, {
    dataType: DataType.String,
    arrayType: VariantArrayType.Array,
    value: members.flatMap(({ opcuaUri }) => opcuaUri ?? []),
  });
}

function show(
  addressSpace: AddressSpace,
  id: VariableIds,
  value: Parameters<UAVariable["setValueFromSource"]>[0],
): void {
  const variable = addressSpace.findNode(standardId(id)) as UAVariable;
  variable.bindVariable({}, true);
  variable.setValueFromSource(value);
}

/** The part of node-opcua's server that answers FindServers. */
type GetServers = (channel: object) => ApplicationDescription[];

/** Lists the other members in FindServers. */
function listPeers(server: OPCUAServer, { member, members }: ClusterView): void {
  const peers = members.flatMap(({ name, opcuaUri, opcuaUrl = null }) =>
    name === member || opcuaUri === null ? [] : descriptionOf(opcuaUri, opcuaUrl),
  );
  wrap<GetServers>(server, "getServers", (getServers) => {
    return (channel) => [...getServers(channel), ...peers];
  });
}

function descriptionOf(applicationUri: string, url: string | null): ApplicationDescription {
  return new ApplicationDescription({
    applicationUri,
    productUri: PRODUCT_URI,
    applicationName: { text: PRODUCT, locale: "en" },
    applicationType: ApplicationType.Server,
    discoveryUrls: url === null ? [] : [url],
  });
}
