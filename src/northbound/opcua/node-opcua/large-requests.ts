import {
  BrowsePathResult,
  CallRequest,
  CreateMonitoredItemsRequest,
  HistoryReadRequest,
  type NodeId,
  type OPCUAServer,
  ReadRequest,
  RegisterNodesRequest,
  ServiceFault,
  type StatusCode,
  StatusCodes,
  WriteRequest,
} from "node-opcua";
import { browseInSlices } from "./browse.ts";
import { wrap } from "./lower.ts";
import { type MissingRobots, robotName } from "./node-lookup.ts";
import { createSlicedAnswer, type ListAnswer } from "./sliced-answer.ts";
import type { Pause, TimeSlices } from "./time-slices.ts";

/** A service of node-opcua 2.182 whose requests may name thousands of nodes. */
interface ListService {
  /** The name of its list in the request. */
  readonly list: string;
  /** How many items are done in one time slice. */
  readonly slice: number;
  /** The limit of its list, if it is not that of most services. */
  readonly most?: number;
  readonly hasDiagnostics?: boolean;
  /** It works item by item in time slices itself, and must get all of them at once. */
  readonly isWhole?: boolean;
}

/** The limit of nodes in one HistoryRead. They share the values of an answer (history-reads.ts). */
export const MOST_HISTORIES = 100;

/** By node-opcua's name of its handler. Browse is in browse.ts; Call waits for outcomes. */
const services: Readonly<Record<string, ListService>> = {
  _on_ReadRequest: { list: "nodesToRead", slice: 100 },
  _on_HistoryReadRequest: { list: "nodesToRead", slice: 2, most: MOST_HISTORIES },
  _on_WriteRequest: { list: "nodesToWrite", slice: 100, isWhole: true },
  _on_CallRequest: { list: "methodsToCall", slice: Number.POSITIVE_INFINITY },
  _on_CreateMonitoredItemsRequest: { list: "itemsToCreate", slice: 50 },
  _on_ModifyMonitoredItemsRequest: { list: "itemsToModify", slice: 200 },
  _on_SetMonitoringModeRequest: { list: "monitoredItemIds", slice: 200 },
  _on_DeleteMonitoredItemsRequest: { list: "monitoredItemIds", slice: 500 },
  _on_TranslateBrowsePathsToNodeIdsRequest: { list: "browsePaths", slice: 20 },
  _on_RegisterNodesRequest: { list: "nodesToRegister", slice: 500, hasDiagnostics: false },
};

/** Lists of services that work in one time slice. A reasonable client has only a few entries. */
const shortLists: Readonly<Record<string, readonly string[]>> = {
  _on_SetTriggeringRequest: ["linksToAdd", "linksToRemove"],
  _on_PublishRequest: ["subscriptionAcknowledgements"],
};
const LONGEST_SHORT_LIST = 1_000;

/** The longest browse path: node-opcua follows its elements by recursion. */
const LONGEST_PATH = 100;

/** Parts below node-opcua's interface: a request, and its channel. */
interface Message {
  readonly request: object;
}
interface Channel {
  readonly remoteAddress: string;
  send_response(type: string, response: unknown, message: unknown): void;
  close(): void;
}
type Handle = (message: Message, channel: Channel) => unknown;

/**
 * Executes long requests in parts, one in each time slice: a whole one would delay all others for seconds.
 * Missing robots of a part are built before it. For an initialised server that does not listen yet.
 */
export function takeLargeRequests(server: OPCUAServer, robots: MissingRobots, slices: TimeSlices): void {
  browseInSlices(server, slices);
  closeInSlices(server, slices);
  refuseLongPaths(server);
  refuseLongLists(server);
  const limits = server.engine.serverCapabilities.operationLimits;
  const most = Math.max(limits.maxNodesPerRead, limits.maxMonitoredItemsPerCall);

  async function build(request: unknown, pause: Pause): Promise<void> {
    for (const name of missingOf(request, robots)) {
      await pause();
      robots.need(name);
    }
  }

  async function handleInSlices(
    handle: Handle,
    { list, slice, isWhole = false, hasDiagnostics = true }: ListService,
    message: Message,
    channel: Channel,
    pause: Pause,
  ): Promise<void> {
    const items = listOf(message.request, list);
    const send = (response: unknown) => channel.send_response("MSG", response, message);
    const refuse = (serviceResult: StatusCode) =>
      send(new ServiceFault({ responseHeader: { serviceResult } }));
    const answer = createSlicedAnswer(send, refuse, hasDiagnostics);
    const size = isWhole ? items.length : slice;
    for (let at = 0; at < items.length; at += size) {
      await pause();
      const request = withList(message.request, list, items.slice(at, at + size));
      wholeLengths.set(request, items.length);
      await build(request, pause);
      const part = await answerTo(handle, { ...message, request }, channel);
      if (part.responseHeader.serviceResult.isNotGood()) {
        send(part);
        return;
      }
      if (!answer.add(part)) break;
    }
    answer.send();
  }

  for (const [name, service] of Object.entries(services)) {
    wrap<Handle>(server, name, (handle) => (message, channel) => {
      const { length } = listOf(message.request, service.list);
      // If there are too many, node-opcua refuses the request.
      if (length > service.slice && length <= (service.most ?? most)) {
        return slices.run(channel, (pause) => handleInSlices(handle, service, message, channel, pause));
      }
      if (missingOf(message.request, robots).size < 2) return handle(message, channel);
      return slices
        .run(channel, (pause) => build(message.request, pause))
        .then(() => handle(message, channel));
    });
  }
}

interface CloseMessage {
  readonly request: { readonly deleteSubscriptions: boolean };
  readonly session?: {
    readonly channel?: object;
    readonly publishEngine: {
      readonly subscriptions: ReadonlyArray<{ terminate(): void }>;
      onSessionClose(): void;
    } | null;
  };
}

/**
 * Ends the subscriptions of a session in time slices before the session closes, since each takes 2 ms. The
 * last one is left to node-opcua.
 */
function closeInSlices(server: OPCUAServer, slices: TimeSlices): void {
  type Close = (message: CloseMessage, channel: Channel) => unknown;
  wrap<Close>(server, "_on_CloseSessionRequest", (handle) => (message, channel) => {
    const { session, request } = message;
    const subscriptions = session?.publishEngine?.subscriptions ?? [];
    const isLong = request.deleteSubscriptions && subscriptions.length > 1;
    if (!isLong || session?.channel !== channel) return handle(message, channel);
    // Publish requests that wait get the answer of a closed session, not of a deleted subscription.
    session.publishEngine?.onSessionClose();
    return slices
      .run(channel, async (pause) => {
        for (const subscription of subscriptions.slice(1)) {
          await pause();
          subscription.terminate();
        }
      })
      .then(() => handle(message, channel));
  });
}

function refuseLongLists(server: OPCUAServer): void {
  const serviceResult = StatusCodes.BadTooManyOperations;
  for (const [name, lists] of Object.entries(shortLists)) {
    wrap<Handle>(server, name, (handle) => (message, channel) => {
      const isLong = lists.some((list) => listOf(message.request, list).length > LONGEST_SHORT_LIST);
      if (!isLong) return handle(message, channel);
      return channel.send_response("MSG", new ServiceFault({ responseHeader: { serviceResult } }), message);
    });
  }
}

function refuseLongPaths({ engine }: OPCUAServer): void {
  const translate = engine.translateBrowsePath.bind(engine);
  engine.translateBrowsePath = async (path) => {
    const { length } = path.relativePath.elements ?? [];
    if (length <= LONGEST_PATH) return translate(path);
    return new BrowsePathResult({ statusCode: StatusCodes.BadQueryTooComplex });
  };
}

function answerTo(handle: Handle, message: Message, channel: Channel): Promise<ListAnswer> {
  return new Promise((resolve) => {
    handle(message, {
      remoteAddress: channel.remoteAddress,
      close: () => channel.close(),
      send_response: (_type, response) => resolve(response as ListAnswer),
    });
  });
}

function listOf(request: object, list: string): readonly unknown[] {
  const items: unknown = Reflect.get(request, list);
  return Array.isArray(items) ? items : [];
}

/** Of requests that are parts of another one. */
const wholeLengths = new WeakMap<object, number>();

/** How long the list of the client's request is, of which this may be a part. */
export function wholeLength(request: object, list: string): number {
  return wholeLengths.get(request) ?? listOf(request, list).length;
}

/** The same request with another list. */
function withList(request: object, list: string, items: readonly unknown[]): object {
  return Object.assign(Object.create(Object.getPrototypeOf(request)), request, { [list]: items });
}

/** The robots in the request whose nodes are missing. */
function missingOf(request: unknown, { missing }: MissingRobots): ReadonlySet<string> {
  const names = new Set<string>();
  if (missing.size === 0) return names;
  for (const nodeId of nodeIdsOf(request)) {
    const name = robotName(nodeId.value);
    if (name !== null && missing.has(name)) names.add(name);
  }
  return names;
}

function nodeIdsOf(request: unknown): readonly NodeId[] {
  if (request instanceof ReadRequest || request instanceof HistoryReadRequest) {
    return (request.nodesToRead ?? []).map(({ nodeId }) => nodeId);
  }
  if (request instanceof WriteRequest) return (request.nodesToWrite ?? []).map(({ nodeId }) => nodeId);
  if (request instanceof CreateMonitoredItemsRequest) {
    return (request.itemsToCreate ?? []).map(({ itemToMonitor }) => itemToMonitor.nodeId);
  }
  if (request instanceof CallRequest) return (request.methodsToCall ?? []).map(({ objectId }) => objectId);
  return request instanceof RegisterNodesRequest ? (request.nodesToRegister ?? []) : [];
}
