import { Client } from "undici";
import type { ClusterOptions } from "../options.ts";

/** What a member of etcd tells beside its API. */
export interface EtcdMetrics {
  /** The most that its store may be; null: it does not say. */
  readonly quotaBytes: number | null;
  /** Of 100 syncs of its log, 99 were not slower; null: none was, or it does not say. */
  readonly syncMs: number | null;
  /** The time of its machine, in whole seconds; null: it does not say. */
  readonly dateMs: number | null;
}

const LARGEST_PAGE = 4_000_000;
const QUOTA = /^etcd_server_quota_backend_bytes (\S+)$/m;
const SYNCS = /^etcd_disk_wal_fsync_duration_seconds_bucket\{le="([^"]+)"\} (\S+)$/gm;

/** Reads `/metrics`, which etcd serves at the address for clients, too. Null: it cannot be read there. */
export async function readEtcdMetrics(
  endpoint: string,
  tls: ClusterOptions["etcd"]["tls"],
  limitMs: number,
): Promise<EtcdMetrics | null> {
  const client = new Client(`${tls === null ? "http" : "https"}://${endpoint}`, {
    maxResponseSize: LARGEST_PAGE,
    connect: {
      timeout: limitMs,
      ...(tls === null ? {} : { ca: tls.ca }),
      ...(tls?.client == null ? {} : { cert: tls.client.certificate, key: tls.client.key }),
    },
  });
  try {
    const signal = AbortSignal.timeout(limitMs);
    const { statusCode, headers, body } = await client.request({ method: "GET", path: "/metrics", signal });
    const page = await body.text();
    const dateMs = Date.parse(String(headers.date));
    return statusCode === 200 ? { ...metricsOf(page), dateMs: Number.isNaN(dateMs) ? null : dateMs } : null;
  } catch {
    return null;
  } finally {
    await client.destroy();
  }
}

export function metricsOf(page: string): Pick<EtcdMetrics, "quotaBytes" | "syncMs"> {
  const quota = Number(QUOTA.exec(page)?.[1] ?? 0);
  const buckets = Array.from(page.matchAll(SYNCS), ([, limit, count]) => ({
    limitMs: limit === "+Inf" ? Number.POSITIVE_INFINITY : Number(limit) * 1_000,
    count: Number(count),
  }));
  const all = buckets.at(-1)?.count ?? 0;
  const found = buckets.find(({ count }) => count >= 0.99 * all);
  return {
    quotaBytes: quota > 0 ? quota : null,
    syncMs: all === 0 || found === undefined ? null : found.limitMs,
  };
}
