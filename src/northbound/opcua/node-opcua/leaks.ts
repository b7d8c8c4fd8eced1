import { MonitoredItem, type OPCUAServer, type Subscription } from "node-opcua";
import { lower, patch } from "./lower.ts";

/** The part of node-opcua's session that is needed here. */
interface Session {
  on(event: "new_subscription", listener: (subscription: Subscription) => void): void;
}
interface Closed {
  dispose(): void;
}

/** How many expired subscriptions a session is told of when it asks. */
const MOST_TOLD = 10;

/**
 * Bounds the memory of expired subscriptions. node-opcua 2.182 keeps each, with its session, until the
 * session asks for its last notification: for ever, if the session has ended or never asks.
 */
export function forgetClosedSubscriptions(server: OPCUAServer): void {
  server.on("create_session", (session: Session) => {
    session.on("new_subscription", (subscription) => {
      subscription.once("terminated", () => {
        const { publishEngine } = subscription;
        if (publishEngine === undefined) return;
        const ofNobody: unknown = Reflect.get(server.engine, "_orphanPublishEngine");
        const most = publishEngine === ofNobody ? 0 : MOST_TOLD;
        // In a later step, because the caller still uses it in this turn.
        queueMicrotask(() => keepNewest(publishEngine, most));
      });
    });
  });
}

function keepNewest(publishEngine: object, most: number): void {
  const closed: unknown = Reflect.get(publishEngine, "_closed_subscriptions");
  if (!Array.isArray(closed)) throw new Error("node-opcua keeps closed subscriptions elsewhere now");
  const oldest = closed.splice(0, Math.max(0, closed.length - most)) as Closed[];
  for (const each of oldest) each.dispose();
}

/** The parts of node-opcua's channel that are needed here. */
interface Channel {
  readonly aborted: boolean;
  beforeHandleOpenSecureChannelRequest: () => Promise<void>;
}

/**
 * Opens no channel for a client that hung up while its certificate was being checked. node-opcua 2.182 opens
 * it all the same, and the timer of its token keeps the channel for up to 12.5 minutes. For an initialised
 * server that does not listen yet.
 */
export function forgetHungUpClients(server: OPCUAServer): void {
  for (const endpoint of server.endpoints) {
    endpoint.on("newChannel", (channel: Channel) => {
      const before = channel.beforeHandleOpenSecureChannelRequest.bind(channel);
      channel.beforeHandleOpenSecureChannelRequest = async () => {
        await before();
        // Nothing holds a promise that never settles, so it is collected with all that waits for it.
        if (channel.aborted) await new Promise(() => {});
      };
    });
  }
}

/** A node, which is an event emitter too. */
interface Node {
  setMaxListeners(most: number): void;
}
type SetNode = (this: MonitoredItem, node: Node) => void;

let mayHaveMany = false;

/**
 * Allows any number of monitored items on one node; `maxMonitoredItems` bounds them. Each item listens to its
 * node. With the 11th item of an object, or the 5,001st of a variable, Node.js describes the node for a
 * warning, and node-opcua 2.182 throws in that.
 */
export function allowManyWatchers(): void {
  if (mayHaveMany) return;
  patch<SetNode>(MonitoredItem.prototype, "setNode", (setNode) => {
    return function (node) {
      node.setMaxListeners(0);
      setNode.call(this, node);
    };
  });
  mayHaveMany = true;
}

/** An item that others trigger, and what it has been triggered to send. */
interface Triggering {
  readonly queueSize: number;
  _linkedItems?: number[];
  _triggeredNotifications?: unknown[];
  extractMonitoredItemNotifications(isForced: boolean): unknown[];
  hasLinkItem(id: number): boolean;
  trigger(): void;
}

let areTriggersBounded = false;

/**
 * Bounds what SetTriggering leaves. node-opcua 2.182 keeps all that an item was triggered to send until the
 * client fetches it, beyond the size of its queue. And it links the first item of a list once more with each
 * request.
 */
export function boundTriggers(): void {
  if (areTriggersBounded) return;
  const item = lower<Triggering>(MonitoredItem.prototype, "trigger");
  lower<Triggering>(item, "hasLinkItem");
  areTriggersBounded = true;
  item.hasLinkItem = function (id) {
    return this._linkedItems?.includes(id) === true;
  };
  item.trigger = function () {
    setImmediate(() => {
      const all = [...(this._triggeredNotifications ?? []), ...this.extractMonitoredItemNotifications(true)];
      this._triggeredNotifications = all.slice(-Math.max(1, this.queueSize));
    });
  };
}
