import type { EtcdClient } from "../../cluster/etcd/client.ts";
import type { EtcdMetrics } from "../../cluster/etcd/metrics.ts";
import { type ClusterOptions, keyPrefix } from "../../cluster/options.ts";
import { MEMBERS, type PresenceRecord } from "../../cluster/protocol/records.ts";
import { cannotRead } from "../../cluster/protocol/unled.ts";
import { differingSections } from "../../config/settings.ts";
import { alarmRules } from "../../domain/alarm.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import { isJsonObject, parsedJson } from "../../platform/json.ts";
import { version } from "../../version.ts";
import { ok, type Part, skipped, TRY_MS, wrong } from "./endpoints.ts";

const LOOK_MS = 250;
/** As that of the alarm CLOCK_SKEW. */
const MOST_SKEW_MS = 2_000;
const CLOCKS =
  "let a time service set the clocks of both boxes (timedatectl): expires_at and certificates are judged by them";

/** What the gateway of a box has said while the check looked; null: nothing. */
interface Heard {
  readonly record: PresenceRecord;
  readonly aheadMs: number | null;
}

/**
 * Waits until each gateway has said something of itself, for at most 5 s: what etcd has may be from before.
 *
 * @param sections those of the checked configuration that both boxes should have alike
 */
export async function tryMembers(
  client: Pick<EtcdClient, "range">,
  cluster: ClusterOptions,
  sections: Readonly<Record<string, string>> | null,
  clock: Clock,
): Promise<readonly Part[]> {
  const heard = await listen(client, keyPrefix(cluster.name) + MEMBERS, cluster.members.length, clock);
  return cluster.members.map(({ name }) => memberPart(name, cluster, heard.get(name), sections));
}

async function listen(
  client: Pick<EtcdClient, "range">,
  prefix: string,
  count: number,
  clock: Clock,
): Promise<ReadonlyMap<string, Heard>> {
  const { signal } = new AbortController();
  const first = new Map<string, number>();
  const heard = new Map<string, Heard>();
  const untilMs = clock.monotonicMs() + TRY_MS;
  while (clock.monotonicMs() < untilMs && heard.size < count) {
    const outcome = await client.range({ keys: { prefix } });
    if (outcome.kind !== "done") return heard;
    for (const { key, value } of outcome.value.entries) {
      const name = key.slice(prefix.length);
      const record = recordOf(value);
      if (record === null) continue;
      const before = first.get(name);
      if (before === undefined) first.set(name, record.count);
      else if (before !== record.count && !heard.has(name))
        heard.set(name, {
          record,
          aheadMs: record.atMs === undefined ? null : record.atMs - clock.nowMs(),
        });
    }
    // A box that has never said anything is not waited for.
    if (first.size === 0) return heard;
    await sleep(clock, LOOK_MS, signal);
  }
  return heard;
}

function recordOf(value: Uint8Array): PresenceRecord | null {
  const record = parsedJson(Buffer.from(value).toString());
  return isJsonObject(record) ? (record as unknown as PresenceRecord) : null;
}

export function memberPart(
  name: string,
  { member: own, standby }: Pick<ClusterOptions, "member" | "standby">,
  heard: Heard | undefined,
  sections: Readonly<Record<string, string>> | null,
): Part {
  const part = `cluster member ${name}`;
  if (heard === undefined)
    return skipped(part, "its gateway says nothing: it does not run, or is cut off from etcd");
  const { record, aheadMs } = heard;
  const { hasSession, leads = null, facts = null } = record;
  const role = leads === null ? "stands by" : "leads";
  const isWarm = standby === "warm" && leads === null;
  const ready = isWarm
    ? "opens a session to the fleet service when it leads"
    : "has a session to the fleet service";
  const unreadable = facts?.unreadable ?? null;
  const notReady = unreadable === null ? "has NO session to the fleet service" : cannotRead(unreadable);
  const session = hasSession ? ready : notReady;
  const its = facts === null ? "" : `, has version ${facts.version}`;
  const clocks = aheadMs === null || name === own ? "" : `; its clock is ${skew(aheadMs)} this one`;
  const detail = `${role}${its}, ${session}${clocks}`;
  if (unreadable !== null) return wrong(part, detail, alarmRules.RECORD_UNREADABLE.advice);
  if (!hasSession)
    return wrong(part, detail, "look at its fleetgate status: without a session it does not take over");
  if (name !== own && aheadMs !== null && Math.abs(aheadMs) > MOST_SKEW_MS)
    return wrong(part, detail, CLOCKS);
  if (facts === null) return ok(part, detail);
  if (facts.version !== version)
    return ok(part, detail, `this program has version ${version}: give both boxes the same one`);
  const differing = sections === null ? [] : differingSections(sections, facts.configuration);
  if (differing.length === 0) return ok(part, `${detail}; the configuration is the same`);
  const what = `${detail}; it runs with another configuration in ${differing.join(", ")}`;
  return name === own
    ? ok(part, what, "reload or restart it, if this file is the new one")
    : wrong(
        part,
        what,
        "give both boxes the same configuration, but for the keys that are a box's own (docs/cluster.md)",
      );
}

function skew(aheadMs: number): string {
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  return `${seconds} s ${aheadMs >= 0 ? "ahead of" : "behind"}`;
}

/** etcd's own advice is 10 ms; a histogram knows powers of two. */
const GOOD_SYNC_MS = 16;
const WORST_SYNC_MS = 128;
const SLOW = "give etcd a faster disk, or one of its own: a slow one lets etcd elect leaders without need";

/** How long a member of etcd takes for its disk. */
export function syncPart(part: string, endpoint: string, metrics: EtcdMetrics | null): Part {
  if (metrics === null)
    return skipped(part, `${endpoint} does not serve /metrics, so how long its disk takes is not known`);
  const { syncMs } = metrics;
  if (syncMs === null) return skipped(part, `${endpoint} has synced nothing yet`);
  const time = Number.isFinite(syncMs) ? `at most ${Math.round(syncMs)} ms` : "more than 8 s";
  const detail = `of 100 syncs of ${endpoint} 99 take ${time}`;
  if (syncMs > WORST_SYNC_MS) return wrong(part, detail, SLOW);
  return syncMs > GOOD_SYNC_MS ? ok(part, detail, SLOW) : ok(part, detail);
}

/** Whether the clocks of etcd's machines and of this one agree: their answers have a date in seconds. */
export function clocksPart(skews: ReadonlyMap<string, number | null>): Part {
  const part = "etcd clocks";
  const known = [...skews].flatMap(([endpoint, ms]) => (ms === null ? [] : [{ endpoint, ms }]));
  if (known.length === 0) return skipped(part, "no machine of etcd tells its time: none serves /metrics");
  const off = known.filter(({ ms }) => Math.abs(ms) > MOST_SKEW_MS);
  if (off.length === 0)
    return ok(part, `${known.length} of ${skews.size} machines agree with this one, within 2 s`);
  const detail = off.map(({ endpoint, ms }) => `that of ${endpoint} is ${skew(ms)} this one`).join("; ");
  return wrong(part, detail, "let a time service set the clock of that machine (timedatectl shows which)");
}
