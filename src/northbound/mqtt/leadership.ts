import type { ClusterView } from "../../contracts/cluster.ts";
import type { Connection } from "../../contracts/link.ts";
import { onAbort } from "../../platform/on-abort.ts";

/** Which member of the cluster a status is of, and the epoch that it leads. */
export interface StatusPlace {
  readonly member: string;
  readonly epoch: number;
}

/** When a member of a cluster may be at the broker as the gateway. */
export interface Leadership {
  /** For the status of the gateway. */
  place(): StatusPlace;
  /** Why the gateway is not at the broker; null: this member leads. */
  whyNot(): string | null;
  /** Whether this member leads at this moment: ask before each word as the gateway. */
  leads(): boolean;
  /** Resolves when this member leads, or the signal is aborted. */
  begun(signal: AbortSignal): Promise<void>;
  /** Calls it each time when this member does not lead any more. */
  onEnd(listener: () => void): void;
  /** Whose a status is, by its place; null: it has none. */
  compare(place: StatusPlace | null): "later" | "earlier" | "foreign";
  /** A later leader was seen: this member leads no more, whatever the cluster says. */
  supersede(by: StatusPlace): void;
}

export function createLeadership(view: ClusterView): Leadership {
  const { member } = view;
  const names = new Set(view.members.map(({ name }) => name));
  const waiting = new Set<() => void>();
  const listeners: (() => void)[] = [];
  /** The epoch that this process leads; null: it has led none. */
  let own: number | null = null;
  let successor: StatusPlace | null = null;
  let wasLeading = false;

  function isLeading(): boolean {
    const leads = view.isActive() && successor === null;
    if (leads) own ??= view.epoch();
    return leads;
  }

  function look(): void {
    const leads = isLeading();
    if (leads) for (const resolve of waiting) resolve();
    else if (wasLeading) for (const listener of listeners) listener();
    wasLeading = leads;
  }
  view.onChange(look);
  look();

  return {
    place: () => ({ member, epoch: own ?? view.epoch() }),
    whyNot() {
      if (successor !== null)
        return `gives way to ${successor.member}, which leads a later epoch (${successor.epoch})`;
      if (isLeading()) return null;
      return own === null ? "stands by" : "has no proof any more that it leads";
    },
    leads() {
      view.look();
      return isLeading();
    },
    begun(signal) {
      if (isLeading() || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const settle = () => {
          waiting.delete(settle);
          stopListening();
          resolve();
        };
        const stopListening = onAbort(signal, settle);
        waiting.add(settle);
      });
    },
    onEnd: (listener) => void listeners.push(listener),
    compare(place) {
      const epoch = own ?? view.epoch();
      if (place === null || !names.has(place.member) || place.epoch === epoch) return "foreign";
      return place.epoch > epoch ? "later" : "earlier";
    },
    supersede(by) {
      if (successor !== null) return;
      successor = by;
      look();
    },
  };
}

/**
 * A connection that ends for the next one when `moved` resolves. It writes nothing while this member does not
 * lead: that of a leader that was held up ends then.
 */
export function ledConnection(
  leadership: Leadership | null,
  connection: Connection,
  moved: Promise<void>,
): Connection {
  const { lost, movesOn, write, subscribers } = connection;
  return {
    lost,
    movesOn: movesOn === undefined ? moved : Promise.race([movesOn, moved]),
    write: (batch) => (leadership?.leads() === false ? Promise.resolve(0) : write(batch)),
    ...(subscribers === undefined ? {} : { subscribers }),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
