import type { OPCUAServer, Subscription } from "node-opcua";
import type { Cancel, Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { ANONYMOUS } from "../security.ts";
import { wrap } from "./lower.ts";

/** A subscription that outlived its session. */
export interface Orphan {
  /** The user of that session. */
  readonly owner: string;
  readonly subscription: Subscription;
}

/** How long a subscription without a session waits for another session of its user. */
const LONGEST_MS = 120_000;

/** The subscriptions that outlived their session, the oldest first: node-opcua 2.182 keeps them apart. */
export function orphansOf({ engine }: OPCUAServer): readonly Orphan[] {
  const kept: unknown = Reflect.get(engine, "_orphanPublishEngine");
  if (kept === undefined) return [];
  const subscriptions: unknown =
    typeof kept === "object" && kept !== null && Reflect.get(kept, "subscriptions");
  if (!Array.isArray(subscriptions)) throw new Error("node-opcua keeps orphaned subscriptions elsewhere now");
  return subscriptions.map((subscription: Subscription) => {
    const owner: unknown = Reflect.get(subscription, "$transferSessionIdentity");
    const name: unknown = typeof owner === "object" && owner !== null && Reflect.get(owner, "userName");
    return { owner: typeof name === "string" ? name : ANONYMOUS, subscription };
  });
}

/** Ends the oldest subscription of a user that has no session. False: there is none. */
export function retireOrphan(server: OPCUAServer, user: string, log: Log): boolean {
  const oldest = orphansOf(server).find(({ owner }) => owner === user);
  if (oldest === undefined) return false;
  server.engine.deleteOrphanSubscription(oldest.subscription);
  log.info({ user }, "an OPC UA subscription without a session gave way to a new one of the same user");
  return true;
}

type CloseSession = (token: unknown, deletesSubscriptions: boolean, reason: string) => unknown;

/** Ends subscriptions that no session has taken over in time. Their own lifetime may be an hour. */
export function expireOrphans(server: OPCUAServer, clock: Clock): void {
  const cancels = new WeakMap<object, Cancel>();
  const subscriptions = () => orphansOf(server).map(({ subscription }) => subscription);
  wrap<CloseSession>(server.engine, "closeSession", (close) => (token, deletesSubscriptions, reason) => {
    const before = new Set(subscriptions());
    close(token, deletesSubscriptions, reason);
    for (const orphan of subscriptions()) {
      if (before.has(orphan)) continue;
      const cancel = () => cancels.get(orphan)?.();
      // It may have been taken over since it lost an earlier session.
      if (cancels.has(orphan)) cancel();
      // An end that waits would keep it in memory. Mostly its own, shorter lifetime ends it.
      else orphan.once("terminated", cancel);
      const end = () => {
        if (subscriptions().includes(orphan)) server.engine.deleteOrphanSubscription(orphan);
      };
      cancels.set(orphan, clock.after(LONGEST_MS, end));
    }
  });
}
