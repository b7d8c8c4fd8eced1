import { type Clock, every } from "../../platform/clock.ts";
import type { ClusterStore } from "./cluster-store.ts";
import type { Mirror } from "./mirror.ts";
import { decode, MEMBERS, type PresenceRecord } from "./records.ts";

/** Tells the other members that this one is there, and knows which of them could lead. */
export interface Presence {
  /** Another member is there, and has a session to the service. */
  isOtherReady(): boolean;
}

export interface PresenceParts {
  readonly store: ClusterStore;
  readonly mirror: Mirror;
  readonly clock: Clock;
  /** The name of this member. */
  readonly member: string;
  /** It has a session to the service. */
  readonly hasSession: () => boolean;
  readonly ended: AbortSignal;
}

const PERIOD_MS = 2_000;
/** A member that has said nothing for so long is not there. */
const GONE_MS = 3 * PERIOD_MS;

export function createPresence(parts: PresenceParts): Presence {
  const { store, mirror, clock, member, hasSession, ended } = parts;
  const heard = new Map<string, { readonly atMs: number; readonly hasSession: boolean }>();
  let count = 0;

  mirror.subscribe((key, entry) => {
    if (!key.startsWith(MEMBERS) || entry === null) return;
    const name = key.slice(MEMBERS.length);
    const record = decode<PresenceRecord>(entry);
    if (name !== member) heard.set(name, { atMs: clock.monotonicMs(), hasSession: record.hasSession });
  });

  every(clock, PERIOD_MS, ended, () => {
    count += 1;
    const record: PresenceRecord = { hasSession: hasSession(), count };
    const puts = [{ key: `${MEMBERS}${member}`, value: JSON.stringify(record) }];
    // One that is lost or late does no harm: the next one follows.
    void store.commit({ guard: [], parts: [{ when: [], puts }] });
  });

  return {
    isOtherReady: () =>
      [...heard.values()].some((each) => each.hasSession && clock.monotonicMs() - each.atMs < GONE_MS),
  };
}
