// Imported before node-opcua: it keeps that library from writing to standard output.
import "../northbound/opcua/node-opcua/library-log.ts";
import {
  AttributeIds,
  type ClientSession,
  type DataValue,
  MessageSecurityMode,
  NodeClass,
  OPCUAClient,
  type ReferenceDescription,
  SecurityPolicy,
  TimestampsToReturn,
} from "node-opcua";
import { aborted } from "../platform/component.ts";

const FLEET_NAMESPACE = "urn:fleetgate:fleet";
const MOST_TAGS = 2_000;
const CONNECT_RETRIES = 1;

/** Prints every change of the tags at or under `folder`, until the signal is aborted. */
export async function watchTags(url: string, folder: string, signal: AbortSignal): Promise<void> {
  const client = OPCUAClient.create({
    applicationName: "Fleetgate watch",
    securityMode: MessageSecurityMode.None,
    securityPolicy: SecurityPolicy.None,
    endpointMustExist: false,
    connectionStrategy: { maxRetry: CONNECT_RETRIES },
  });
  await client.connect(url);
  try {
    const session = await client.createSession();
    await follow(session, await tagsUnder(session, folder));
    await aborted(signal);
    await session.close(true);
  } finally {
    await client.disconnect();
  }
}

/** The NodeIds of every variable at or under a node, breadth first. */
async function tagsUnder(session: ClientSession, folder: string): Promise<string[]> {
  const index = (await session.readNamespaceArray()).indexOf(FLEET_NAMESPACE);
  if (index < 0) throw new Error("that server is not a Fleetgate");
  const root = `ns=${index};s=${folder}`;
  const nodeClass = await session.read({ nodeId: root, attributeId: AttributeIds.NodeClass });
  if (nodeClass.statusCode.isNotGood()) throw new Error(`there is no tag or folder ${folder}`);
  if (nodeClass.value.value === NodeClass.Variable) return [root];
  const tags: string[] = [];
  for (let level = [root]; level.length > 0 && tags.length < MOST_TAGS; ) {
    const children = (await Promise.all(level.map((nodeId) => childrenOf(session, nodeId)))).flat();
    tags.push(...named(children, NodeClass.Variable));
    level = named(children, NodeClass.Object);
  }
  return tags.slice(0, MOST_TAGS);
}

async function childrenOf(session: ClientSession, nodeId: string): Promise<readonly ReferenceDescription[]> {
  const result = await session.browse({
    nodeId,
    referenceTypeId: "HierarchicalReferences",
    includeSubtypes: true,
    browseDirection: 0,
    nodeClassMask: 0,
    resultMask: 63,
  });
  return result.references ?? [];
}

function named(references: readonly ReferenceDescription[], nodeClass: NodeClass): string[] {
  return references.filter((one) => one.nodeClass === nodeClass).map((one) => one.nodeId.toString());
}

async function follow(session: ClientSession, nodeIds: readonly string[]): Promise<void> {
  const subscription = await session.createSubscription2({
    requestedPublishingInterval: 200,
    requestedLifetimeCount: 100,
    requestedMaxKeepAliveCount: 10,
    maxNotificationsPerPublish: 0,
    publishingEnabled: true,
    priority: 0,
  });
  const items = await subscription.monitorItems(
    nodeIds.map((nodeId) => ({ nodeId, attributeId: AttributeIds.Value })),
    { samplingInterval: 0, queueSize: 10, discardOldest: true },
    TimestampsToReturn.Both,
  );
  items.on("changed", (_item, value, index) => {
    process.stdout.write(`${line(nodeIds[index] ?? "", value)}\n`);
  });
}

function line(nodeId: string, value: DataValue): string {
  const time =
    (value.sourceTimestamp ?? value.serverTimestamp)?.toISOString().slice(11, 23) ?? "            ";
  const shown: unknown = value.value.value;
  const text = ArrayBuffer.isView(shown)
    ? JSON.stringify(Array.from(shown as Int32Array))
    : JSON.stringify(shown);
  const status = value.statusCode.isGood() ? "" : `  ${value.statusCode.name}`;
  return `${time}  ${nodeId.slice(nodeId.indexOf(";s=") + 3)} = ${text ?? "null"}${status}`;
}
