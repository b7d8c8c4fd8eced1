import type { OPCUAServer, Subscription } from "node-opcua";

/** The parts of node-opcua's session, and of what publishes for it, that are needed here. */
interface Session {
  on(event: "new_subscription", listener: (subscription: Subscription) => void): void;
}
interface Closed {
  dispose(): void;
}

/**
 * Forgets subscriptions that expire after their session. node-opcua 2.182 keeps each for ever, with its
 * session, until a client asks for its last notification; nobody can ask for one without a session.
 */
export function forgetClosedSubscriptions(server: OPCUAServer): void {
  server.on("create_session", (session: Session) => {
    session.on("new_subscription", (subscription) => {
      // What publishes for it keeps it in this turn.
      subscription.once("terminated", () => setImmediate(() => forgetOrphans(server)));
    });
  });
}

function forgetOrphans({ engine }: OPCUAServer): void {
  const orphans: unknown = Reflect.get(engine, "_orphanPublishEngine");
  if (typeof orphans !== "object" || orphans === null) return;
  const closed: unknown = Reflect.get(orphans, "_closed_subscriptions");
  if (!Array.isArray(closed)) throw new Error("node-opcua keeps closed subscriptions elsewhere now");
  for (const each of closed.splice(0) as Closed[]) each.dispose();
}
