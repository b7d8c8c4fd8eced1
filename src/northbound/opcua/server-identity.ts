import {
  type AddressSpace,
  DataType,
  type OPCUAServer,
  type OPCUAServerOptions,
  StatusCodes,
  type UAVariable,
  VariableIds,
} from "node-opcua";
import type { ClusterView } from "../../contracts/cluster.ts";
import { followRole } from "../../models/cluster.ts";
import { urlHost } from "../../platform/url-host.ts";
import type { GatewayFacts } from "./gateway-tags.ts";
import { MOST_CONTINUATION_POINTS } from "./node-opcua/browse.ts";
import { MOST_HISTORIES } from "./node-opcua/large-requests.ts";
import { locales } from "./node-opcua/locales.ts";
import { Tag, timesAt } from "./node-opcua/tag.ts";
import type { OpcUaLimits, OpcUaOptions } from "./options.ts";

export const PRODUCT = "Fleetgate";
export const PRODUCT_URI = "urn:fleetgate";

/** The profiles that the gateway implements and tests (OPC UA part 7): not all that its library could do. */
const profiles = [
  "http://opcfoundation.org/UA-Profile/Server/EmbeddedUA2017",
  "http://opcfoundation.org/UA-Profile/Server/Methods",
  "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary",
];

/** Longer texts do not fit into a request, which may have 8 MiB in all. */
const LONGEST_TEXT_BYTES = 4 * 1024 * 1024;

/** The limit to which node-opcua 2.182 revises the queue of a monitored item. */
const LONGEST_ITEM_QUEUE = 5_000;

const MOST_SUBSCRIPTIONS_OF_SESSION = 100;

/** Who the server is and what it can do, as it tells its clients. */
export function describeServer(
  options: OpcUaOptions,
  { version, builtAt }: GatewayFacts,
): OPCUAServerOptions {
  const { limits } = options;
  return {
    host: options.host,
    port: options.port,
    hostname: urlHost(options.hostname),
    alternateHostname: options.alternateHostnames.map(urlHost),
    serverInfo: {
      applicationUri: options.applicationUri,
      productUri: PRODUCT_URI,
      applicationName: { text: PRODUCT, locale: "en" },
    },
    buildInfo: {
      productName: PRODUCT,
      productUri: PRODUCT_URI,
      manufacturerName: PRODUCT,
      softwareVersion: version,
      buildNumber: version,
      buildDate: builtAt,
    },
    maxConnectionsPerEndpoint: limits.maxConnections,
    serverCapabilities: {
      ...capacity(limits),
      serverProfileArray: profiles,
      localeIdArray: [...locales],
      maxStringLength: LONGEST_TEXT_BYTES,
      maxByteStringLength: LONGEST_TEXT_BYTES,
      maxMonitoredItemsQueueSize: LONGEST_ITEM_QUEUE,
      maxBrowseContinuationPoints: MOST_CONTINUATION_POINTS,
      // Every change of a variable is sent: no slower clock samples it.
      minSupportedSampleRate: 0,
      operationLimits: {
        maxNodesPerRead: 10_000,
        maxNodesPerWrite: 10_000,
        maxNodesPerBrowse: 10_000,
        maxMonitoredItemsPerCall: 10_000,
        maxNodesPerRegisterNodes: 10_000,
        maxNodesPerTranslateBrowsePathsToNodeIds: 10_000,
        maxNodesPerMethodCall: 1_000,
        maxNodesPerHistoryReadData: MOST_HISTORIES,
        // A limit of 0 is not shown.
        maxNodesPerHistoryReadEvents: 0,
      },
    },
  };
}

function capacity(limits: OpcUaLimits) {
  return {
    maxSessions: limits.maxSessions,
    maxSubscriptions: limits.maxSubscriptions,
    maxSubscriptionsPerSession: MOST_SUBSCRIPTIONS_OF_SESSION,
    maxMonitoredItems: limits.maxMonitoredItems,
    maxMonitoredItemsPerSubscription: limits.maxMonitoredItems,
  };
}

/** node-opcua always shows at least 100 ms: our variables report on change. For an initialised server. */
export function showSampleRate({ engine }: OPCUAServer): void {
  const id = `ns=0;i=${VariableIds.Server_ServerCapabilities_MinSupportedSampleRate}`;
  const variable = engine.addressSpace?.findNode(id) as UAVariable | null | undefined;
  variable?.bindVariable({}, true);
  variable?.setValueFromSource({ dataType: DataType.Double, value: 0 });
}

/**
 * The values of Server.ServiceLevel (OPC UA part 4, 6.6.2.4.2): a client of several servers takes the one
 * with the highest.
 */
const serviceLevels = {
  /** The fleet service is not reached: no values of robots come. */
  noData: 1,
  /** A member of a cluster stands by, and has all that its leader has. */
  standby: 99,
  /** The values of at least one robot are not good. */
  degraded: 100,
  healthy: 255,
} as const;

/** Shows the present level. */
export type ShowServiceLevel = (nowMs: number, isFleetReached: boolean, robotsNotGood: number) => void;

/** Replaces node-opcua's variable, which is always 255. */
export function openServiceLevel(addressSpace: AddressSpace, cluster: ClusterView | null): ShowServiceLevel {
  const variable = addressSpace.findNode(`ns=0;i=${VariableIds.Server_ServiceLevel}`) as UAVariable;
  variable.bindVariable({}, true);
  // It changes by events, like our own variables: a client may have it without a sampling clock.
  variable.minimumSamplingInterval = 0;
  const tag = new Tag(variable, DataType.Byte, false);
  const roleNow = cluster === null ? null : followRole(cluster);
  return (nowMs, isFleetReached, robotsNotGood) => {
    const { noData, degraded, healthy } = serviceLevels;
    const reached = robotsNotGood === 0 ? healthy : degraded;
    const role = roleNow?.() ?? "leader";
    const level = role === "standby" ? standbyLevel(cluster?.lagMs() ?? 0) : reached;
    const isUseful = isFleetReached && role !== "no proof";
    tag.set(isUseful ? level : noData, StatusCodes.Good, timesAt(nowMs));
  };
}

/** A second of lag takes one off, down to the lowest level with data. */
function standbyLevel(lagMs: number): number {
  const { noData, standby } = serviceLevels;
  return Math.max(noData + 1, standby - Math.floor(lagMs / 1_000));
}
