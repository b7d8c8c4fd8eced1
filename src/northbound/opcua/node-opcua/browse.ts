import {
  type BrowseDescription,
  BrowseNextRequest,
  BrowseNextResponse,
  BrowseRequest,
  BrowseResponse,
  BrowseResult,
  type ISessionContext,
  NodeClass,
  type NodeId,
  type OPCUAServer,
  type ReferenceDescription,
  type StatusCode,
  StatusCodes,
  sameNodeId,
} from "node-opcua";
import { cached, lower, wrap } from "./lower.ts";
import { createSlicedAnswer, type ListAnswer, type SlicedAnswer } from "./sliced-answer.ts";
import type { Pause, TimeSlices } from "./time-slices.ts";

/** How many unfinished browses a session may have; ServerCapabilities names it. */
export const MOST_CONTINUATION_POINTS = 50;
/** The limit of references in a result. */
const MOST_REFERENCES = 10_000;
/** An answer with this many bytes takes no further node. */
const MOST_BYTES = 4 * 1024 * 1024;
/** How many references are described in one step, and how many are checked for whether there are more. */
const STEP = 200;

/** Parts of node-opcua 2.182 below its interface. */
interface Session {
  readonly sessionContext: ISessionContext;
}
interface Services {
  _apply_on_SessionObject(
    kind: unknown,
    message: unknown,
    channel: object,
    act: (
      session: Session,
      send: (answer: ListAnswer) => void,
      refuse: (status: StatusCode) => void,
    ) => Promise<void>,
  ): unknown;
}
interface ReferenceOwner {
  readonly nodeId: NodeId;
  allReferences(): unknown[];
}

/** A browse of one node: where it continues, and how many references an answer may have. */
interface Browse {
  readonly description: BrowseDescription;
  readonly most: number;
  from: number;
}
/** A session's unfinished browses by their continuation points, the oldest first. */
type Unfinished = Map<string, Browse>;

/** The references of a node to describe now, and how many it has. */
interface Step {
  readonly nodeId: NodeId;
  readonly from: number;
  readonly to: number;
  count: number;
}
let step: Step | null = null;
let isPatched = false;
let pointCount = 0;

/**
 * Answers Browse and BrowseNext in time slices. node-opcua describes all references of all nodes in one time
 * slice, three times over, and keeps those that a continuation point stands for. Here a continuation point
 * stands for an index in the list of references. Nodes without room in an answer get BadNoContinuationPoints
 * (OPC UA part 4, 7.9). For an initialised server that does not listen yet.
 */
export function browseInSlices(server: OPCUAServer, slices: TimeSlices): void {
  const { engine } = server;
  const { maxNodesPerBrowse } = engine.serverCapabilities.operationLimits;
  const sessions = new WeakMap<Session, Unfinished>();
  describeInSteps(server);

  /** Describes references until there are enough. `browse` is then at the first of the others. */
  async function next(context: ISessionContext, browse: Browse, pause: Pause) {
    const { description, most } = browse;
    const references: ReferenceDescription[] = [];
    for (;;) {
      await pause();
      // Looking up the node may build a robot.
      engine.addressSpace?.findNode(description.nodeId);
      const free = most - references.length;
      const to = browse.from + (free === 0 ? STEP : Math.min(STEP, free));
      const own: Step = { nodeId: description.nodeId, from: browse.from, to, count: 0 };
      step = own;
      // The references are described before the call returns.
      const described = engine.browse(context, [description]);
      step = null;
      const [result] = await described;
      if (result === undefined) throw new Error("node-opcua has browsed no node");
      const found = result.references ?? [];
      const hasMore = free === 0 && found.length > 0;
      if (!hasMore) {
        references.push(...found);
        browse.from = to;
      }
      if (hasMore || to >= own.count) {
        result.references = references;
        return { result, hasMore };
      }
    }
  }

  function unfinishedOf(session: Session): Unfinished {
    return cached(sessions, session, () => new Map());
  }

  /** The next result of a browse. If there are more references, it has the continuation point `point`. */
  async function resultOf(session: Session, browse: Browse, pause: Pause, point: Buffer) {
    const { result, hasMore } = await next(session.sessionContext, browse, pause);
    if (!hasMore) return result;
    const unfinished = unfinishedOf(session);
    result.continuationPoint = point;
    unfinished.set(String(point), browse);
    for (const oldest of unfinished.keys()) {
      if (unfinished.size <= MOST_CONTINUATION_POINTS) break;
      unfinished.delete(oldest);
    }
    return result;
  }

  async function browseAll(request: BrowseRequest, session: Session, answer: SlicedAnswer, pause: Pause) {
    const most = Math.min(request.requestedMaxReferencesPerNode || MOST_REFERENCES, MOST_REFERENCES);
    let points = 0;
    for (const description of request.nodesToBrowse ?? []) {
      await pause();
      let result = new BrowseResult({ statusCode: StatusCodes.BadNoContinuationPoints });
      if (points < MOST_CONTINUATION_POINTS && answer.bytes < MOST_BYTES) {
        pointCount += 1;
        const point = Buffer.from(String(pointCount));
        result = await resultOf(session, { description, most, from: 0 }, pause, point);
        if (result.continuationPoint === point) points += 1;
      }
      if (!answer.add(answerOf(new BrowseResponse(), result))) return;
    }
  }

  async function browseOn(request: BrowseNextRequest, session: Session, answer: SlicedAnswer, pause: Pause) {
    const unfinished = unfinishedOf(session);
    for (const point of request.continuationPoints ?? []) {
      await pause();
      const key = String(point);
      const browse = unfinished.get(key);
      unfinished.delete(key);
      let result = new BrowseResult({
        statusCode: browse === undefined ? StatusCodes.BadContinuationPointInvalid : StatusCodes.Good,
      });
      if (browse !== undefined && !request.releaseContinuationPoints) {
        result = await resultOf(session, browse, pause, point);
      }
      if (!answer.add(answerOf(new BrowseNextResponse(), result))) return;
    }
  }

  function refusalOf(items: number, viewId: NodeId | null): StatusCode | null {
    if (viewId !== null && !viewId.isEmpty()) {
      const node = engine.addressSpace?.findNode(viewId);
      if (node?.nodeClass !== NodeClass.View) return StatusCodes.BadViewIdUnknown;
    }
    if (items === 0) return StatusCodes.BadNothingToDo;
    return items > maxNodesPerBrowse ? StatusCodes.BadTooManyOperations : null;
  }

  replace(server, slices, BrowseRequest, BrowseResponse, {
    refusedBy: ({ nodesToBrowse, view }) => refusalOf(nodesToBrowse?.length ?? 0, view.viewId),
    work: browseAll,
  });
  replace(server, slices, BrowseNextRequest, BrowseNextResponse, {
    refusedBy: ({ continuationPoints }) => refusalOf(continuationPoints?.length ?? 0, null),
    work: browseOn,
  });
}

/** Replaces a service. */
function replace<T>(
  server: OPCUAServer,
  slices: TimeSlices,
  { name }: new () => T,
  response: unknown,
  service: {
    refusedBy(request: T): StatusCode | null;
    work(request: T, session: Session, answer: SlicedAnswer, pause: Pause): Promise<void>;
  },
): void {
  const handler = `_on_${name}`;
  type Handle = (message: { readonly request: T }, channel: object) => unknown;
  const services = lower<Services>(server, "_apply_on_SessionObject");
  wrap<Handle>(server, handler, () => (message, channel) => {
    const { request } = message;
    return services._apply_on_SessionObject(response, message, channel, async (session, send, refuse) => {
      const refusal = service.refusedBy(request);
      if (refusal !== null) return refuse(refusal);
      const answer = createSlicedAnswer(send, refuse);
      await slices.run(channel, (pause) => service.work(request, session, answer, pause));
      answer.send();
    });
  });
}

/** Without a copy of the result's references, which the constructor would make. */
function answerOf(answer: BrowseResponse | BrowseNextResponse, result: BrowseResult): ListAnswer {
  answer.results = [result];
  return answer;
}

/** Makes a node describe only the references of the step. All nodes share node-opcua's method for it. */
function describeInSteps({ engine }: OPCUAServer): void {
  if (isPatched) return;
  let prototype: object | null = engine.addressSpace?.rootFolder ?? null;
  while (prototype !== null && !Object.hasOwn(prototype, "allReferences")) {
    prototype = Object.getPrototypeOf(prototype);
  }
  if (prototype === null) throw new Error("node-opcua lists references elsewhere now");
  const owner = lower<ReferenceOwner>(prototype, "allReferences");
  const { allReferences } = owner;
  isPatched = true;
  owner.allReferences = function (this: ReferenceOwner) {
    const all = allReferences.call(this);
    if (step === null || !sameNodeId(this.nodeId, step.nodeId)) return all;
    step.count = all.length;
    return all.slice(step.from, step.to);
  };
}
