import { type Clock, every } from "../../platform/clock.ts";
import type { EtcdClient } from "../etcd/client.ts";

export interface CompactionParts {
  readonly client: Pick<EtcdClient, "compact">;
  readonly clock: Clock;
  /** This member leads: one of them is enough. */
  readonly isLeading: () => boolean;
  /** The newest revision that this member knows. */
  readonly revision: () => number;
  readonly ended: AbortSignal;
}

const PERIOD_MS = 60_000;

/**
 * Lets etcd forget what has been replaced for a minute: it keeps every value that a key ever had, until its
 * disk is full. A watch that is further behind begins anew.
 */
export function startCompaction({ client, clock, isLeading, revision, ended }: CompactionParts): void {
  let known = 0;
  every(clock, PERIOD_MS, ended, () => {
    const before = known;
    known = revision();
    // It has failed if another gateway has done so for a later revision.
    if (before > 0 && isLeading()) void client.compact(BigInt(before));
  });
}
