import type { OPCUAServer, Subscription } from "node-opcua";

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
