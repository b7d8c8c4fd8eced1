import {
  type ISecurityToken,
  type OPCUAServer,
  type PublishRequest,
  ServerSidePublishEngine,
  TokenStack,
} from "node-opcua";
import { type Answering, onAnswers, patch } from "./lower.ts";

/** A request that waits in a session of node-opcua until there is something to publish. */
interface Waiting {
  readonly request: PublishRequest;
  serverTimeWhenReceived: number;
}

type PushToken = (this: TokenStack, token: ISecurityToken, keys: unknown) => void;
type TakePublish = (this: ServerSidePublishEngine, request: PublishRequest, ...rest: unknown[]) => void;

let isPatched = false;

/**
 * Makes security tokens and waiting publish requests age by the monotonic clock. node-opcua 2.182 subtracts
 * wall times, so a clock that is set forward ends all of them at once, and one that is set back ends none.
 * Its other timeouts are timers. For the whole process, because an age begins in a module of node-opcua.
 */
export function ageByMonotonicClock(): void {
  if (isPatched) return;
  isPatched = true;
  patch(TokenStack.prototype, "pushNewToken", (push: PushToken): PushToken => {
    return function (token, keys) {
      const sinceMs = performance.now();
      const createdAt = Object.assign(new Date(token.createdAt ?? 0), { getTime: () => startOf(sinceMs) });
      // A copy: the response to the client has the wall time.
      push.call(this, { ...tokenFacts(token), createdAt }, keys);
    };
  });
  patch(ServerSidePublishEngine.prototype, "_on_PublishRequest", (take: TakePublish): TakePublish => {
    return function (request, ...rest) {
      const sinceMs = performance.now();
      take.call(this, request, ...rest);
      const queue: unknown = Reflect.get(this, "_publish_request_queue");
      if (!Array.isArray(queue)) throw new Error("node-opcua keeps publish requests elsewhere now");
      const waiting = (queue as Waiting[]).at(-1);
      // It may have been answered at once.
      if (waiting?.request !== request) return;
      Object.defineProperty(waiting, "serverTimeWhenReceived", { get: () => startOf(sinceMs) });
    };
  });
}

/** The wall time at which it would have begun if nobody had set the clock since. */
function startOf(sinceMs: number): number {
  return Date.now() - (performance.now() - sinceMs);
}

function tokenFacts({ tokenId, revisedLifetime, channelId }: ISecurityToken) {
  return { tokenId, revisedLifetime, channelId };
}

/** The parts of node-opcua's channel that are needed here. */
interface Channel extends Answering {
  close(): void;
}

/**
 * Closes a channel on which no answer can be sent, for example because its client has not renewed its token.
 * node-opcua 2.182 drops the answer, and a client that only listens gets nothing until its session ends. For
 * an initialised server that does not listen yet.
 */
export function closeKeylessChannels(server: OPCUAServer): void {
  onAnswers<Channel>(server, (send, channel) => {
    return (type, response, message, done) =>
      send(type, response, message, (error) => {
        if (error !== undefined && error !== null) channel.close();
        done?.(error);
      });
  });
}
