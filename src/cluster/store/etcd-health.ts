import { type Clock, every } from "../../platform/clock.ts";
import type { EtcdClient } from "../etcd/client.ts";
import { readEtcdMetrics } from "../etcd/metrics.ts";
import type { ClusterOptions } from "../options.ts";

/** What was found at the last look at etcd. */
export interface EtcdSight {
  /** Members that do not answer, or know no leader, by their endpoints. */
  readonly silent: readonly string[];
  /** The others are a majority. */
  readonly hasMajority: boolean;
  /** How much of its quota the fullest member uses, from 0 to 1. */
  readonly usedPart: number;
  /** etcd takes no write, as a member is full. */
  readonly isFull: boolean;
}

export interface EtcdHealthParts {
  readonly client: Pick<EtcdClient, "status" | "alarms">;
  readonly etcd: ClusterOptions["etcd"];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const LOOK_MS = 5_000;
/** etcd's own, where it is not set (`--quota-backend-bytes`). */
const USUAL_QUOTA_BYTES = 2 * 1024 ** 3;
const METRICS_MS = 2_000;
/** A quota changes only with a start of its member. */
const QUOTA_LOOKS = 120;

/** Looks at the members of etcd. Returns what was found last; null: nothing yet. */
export function watchEtcd({ client, etcd, clock, signal }: EtcdHealthParts): () => EtcdSight | null {
  const { endpoints, tls } = etcd;
  const quotas = new Map<string, number>();
  let sight: EtcdSight | null = null;
  let looks = 0;
  let isLooking = false;

  /** etcd before 3.6 tells its quota in its metrics alone. */
  async function quotaOf(endpoint: string, told: number | null): Promise<number> {
    if (told !== null) return told;
    const known = quotas.get(endpoint);
    if (known !== undefined) return known;
    const metrics = await readEtcdMetrics(endpoint, tls, METRICS_MS);
    const quota = metrics?.quotaBytes ?? USUAL_QUOTA_BYTES;
    quotas.set(endpoint, quota);
    return quota;
  }

  async function lookAt(endpoint: string): Promise<{ readonly isSilent: boolean; readonly part: number }> {
    const outcome = await client.status(endpoint);
    if (outcome.kind !== "done") return { isSilent: true, part: 0 };
    const { leaderId, storeBytes, quotaBytes } = outcome.value;
    return { isSilent: leaderId === null, part: storeBytes / (await quotaOf(endpoint, quotaBytes)) };
  }

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    if (looks % QUOTA_LOOKS === 0) quotas.clear();
    looks += 1;
    const [members, alarms] = await Promise.all([Promise.all(endpoints.map(lookAt)), client.alarms()]);
    const isFull =
      alarms.kind === "done" ? alarms.value.some(({ kind }) => kind === "NOSPACE") : sight?.isFull === true;
    const silent = endpoints.filter((_, index) => members[index]?.isSilent === true);
    sight = {
      silent,
      hasMajority: 2 * silent.length < endpoints.length,
      usedPart: Math.max(...members.map(({ part }) => part)),
      isFull,
    };
    isLooking = false;
  }

  void look();
  every(clock, LOOK_MS, signal, () => void look());
  return () => sight;
}
