import {
  type ClusterMember,
  createEtcdClient,
  type EtcdAlarm,
  type EtcdClient,
  type MemberStatus,
} from "../../cluster/etcd/client.ts";
import { type EtcdMetrics, readEtcdMetrics } from "../../cluster/etcd/metrics.ts";
import type { Fault, ReadOutcome } from "../../cluster/etcd/outcome.ts";
import { type ClusterOptions, keyPrefix } from "../../cluster/options.ts";
import type { Clock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { etcdKey, ok, type Part, skipped, TRY_MS, wrong } from "./endpoints.ts";
import { clocksPart, syncPart, tryMembers } from "./members.ts";

/** A date of HTTP has whole seconds. */
const HALF_SECOND_MS = 500;
const MEGABYTE = 1_000_000;
/** Of a member's quota; the alarm of the gateway is raised there, too. */
const MOST_OF_QUOTA = 0.6;
/** The loss of one leaves a majority. */
const SAFE_MEMBERS = 3;
const PEERS = "look whether a majority of the members runs, and whether they reach each other (port 2380)";
const SPACE =
  "compact, and defragment each member, then disarm the alarm (etcdctl compact, defrag, alarm disarm)";

/** A member that has answered, beside its endpoint. */
export interface Answered {
  readonly endpoint: string;
  readonly clusterId: bigint;
  readonly status: MemberStatus;
}

/**
 * Asks each member of etcd, and all as one. Writes nothing.
 *
 * @param sections those of the configuration that both boxes should have alike; null: not known
 * @param isThere whether the endpoint with this key could be connected to
 */
export async function tryEtcd(
  cluster: ClusterOptions,
  sections: Readonly<Record<string, string>> | null,
  isThere: (key: string) => boolean,
  clock: Clock,
): Promise<readonly Part[]> {
  const { name, etcd } = cluster;
  const { endpoints, tls } = etcd;
  const client = createEtcdClient({
    endpoints,
    tls,
    deadlineMs: TRY_MS,
    clock,
    random: Math.random,
    log: silentLog,
  });
  try {
    const asked = await Promise.all(
      endpoints.map((endpoint, index) => (isThere(etcdKey(index)) ? client.status(endpoint) : null)),
    );
    const told = await Promise.all(
      asked.map((outcome) =>
        outcome?.kind === "done" ? tellsOf(outcome.endpoint, tls, clock) : Promise.resolve(null),
      ),
    );
    const own = asked.map((outcome, index) => {
      const part = `etcd ${etcdKey(index)}`;
      if (outcome === null) return skipped(part, "there is no connection to it");
      if (outcome.kind === "failed") return failed(part, outcome.fault, tls !== null);
      return memberPart(part, outcome.endpoint, outcome.value, told[index]?.metrics ?? null);
    });
    const syncs = asked.flatMap((outcome, index) =>
      outcome?.kind === "done"
        ? [syncPart(`etcd disk ${etcdKey(index)}`, outcome.endpoint, told[index]?.metrics ?? null)]
        : [],
    );
    const skews = new Map(
      asked.flatMap((outcome, index) =>
        outcome?.kind === "done" ? [[outcome.endpoint, told[index]?.skewMs ?? null] as const] : [],
      ),
    );
    const answered = asked.flatMap((outcome): Answered[] =>
      outcome?.kind === "done"
        ? [{ endpoint: outcome.endpoint, clusterId: outcome.header.clusterId, status: outcome.value }]
        : [],
    );
    if (answered.length === 0) return [...own, skipped("etcd cluster", "no member has answered")];
    const [members, alarms, keys] = [
      await client.members(),
      await client.alarms(),
      await keysPart(client, keyPrefix(name)),
    ];
    const found = [
      ...own,
      ...syncs,
      clocksPart(skews),
      clusterPart(answered, endpoints.length, members),
      alarmsPart(alarms, members),
      keys,
    ];
    if (keys.state !== "ok") return found;
    return [...found, ...(await tryMembers(client, cluster, sections, clock))];
  } finally {
    client.close();
  }
}

/** What a member tells beside its API, and by how much its clock is ahead of this one, by half a second. */
async function tellsOf(endpoint: string, tls: ClusterOptions["etcd"]["tls"], clock: Clock) {
  const metrics = await readEtcdMetrics(endpoint, tls, TRY_MS);
  const dateMs = metrics?.dateMs ?? null;
  return { metrics, skewMs: dateMs === null ? null : dateMs + HALF_SECOND_MS - clock.nowMs() };
}

function failed(part: string, { endpoint, what, code, advice }: Fault, isSecured: boolean): Part {
  const detail = `${endpoint ?? "etcd"}: ${what} (${code})`;
  const certificates =
    "let cluster.etcd.certificate name a certificate that etcd trusts (its --trusted-ca-file), for clients";
  return wrong(part, detail, isSecured && code === "NO_CONNECTION" ? certificates : advice);
}

export function memberPart(
  part: string,
  endpoint: string,
  status: MemberStatus,
  metrics: Pick<EtcdMetrics, "quotaBytes"> | null = null,
): Part {
  const { version, memberId, leaderId, storeBytes } = status;
  const quotaBytes = status.quotaBytes ?? metrics?.quotaBytes ?? null;
  if (leaderId === null) return wrong(part, `${endpoint} has version ${version}, and knows no leader`, PEERS);
  const role = leaderId === memberId ? "leads" : "follows";
  const stored = `${endpoint} has version ${version}, ${role}, and keeps ${megabytes(storeBytes)}`;
  if (quotaBytes === null)
    return ok(part, `${stored}; its quota is not told (--quota-backend-bytes, 2 GiB if not set)`);
  const percent = Math.round((storeBytes / quotaBytes) * 100);
  const detail = `${stored}, which is ${percent} % of its quota of ${megabytes(quotaBytes)}`;
  return storeBytes > MOST_OF_QUOTA * quotaBytes ? wrong(part, detail, SPACE) : ok(part, detail);
}

/** Whether the endpoints are the members of one cluster, and all of them. */
export function clusterPart(
  answered: readonly Answered[],
  endpoints: number,
  members: ReadOutcome<readonly ClusterMember[]>,
): Part {
  const part = "etcd cluster";
  const groups = grouped(answered, ({ clusterId }) => clusterId);
  if (groups.length > 1)
    return wrong(
      part,
      `the endpoints lead to ${groups.length} clusters of etcd: ${groups.map((group) => namesOf(group)).join("; ")}`,
      "let all of them be members of one: an etcd that was started alone is a cluster of its own, whatever it is told later",
    );
  const twice = grouped(answered, ({ status }) => status.memberId).find((group) => group.length > 1);
  if (twice !== undefined)
    return wrong(
      part,
      `${namesOf(twice)} lead to the same member`,
      "write one endpoint for each member into cluster.etcd.endpoints",
    );
  if (members.kind === "failed")
    return skipped(part, `its members are not told: ${members.fault.what}`, members.fault.advice);
  const all = members.value;
  const absent = all.filter(({ name }) => name === "").length;
  if (absent > 0)
    return wrong(
      part,
      `${absent} of ${all.length} members was added, and has never started`,
      "start it, or remove it (etcdctl member remove): it counts for the majority",
    );
  if (answered.length === endpoints && all.length > endpoints)
    return wrong(
      part,
      `etcd has ${all.length} members (${all.map(({ name }) => name).join(", ")}), and cluster.etcd.endpoints has ${endpoints}`,
      "write every member into cluster.etcd.endpoints: a box that knows too few loses etcd before etcd has lost its majority",
    );
  return agreedPart(part, answered, all.length);
}

function agreedPart(part: string, answered: readonly Answered[], count: number): Part {
  const versions = [...new Set(answered.map(({ status }) => status.version))].sort();
  const detail = `${count} ${count === 1 ? "member" : "members"} of one cluster, version ${versions.join(" and ")}`;
  if (count < SAFE_MEMBERS)
    return ok(
      part,
      detail,
      "no safe failover is possible with fewer than three members: add one (docs/cluster.md)",
    );
  if (versions.length > 1)
    return ok(part, detail, "give all members the same version; a mixture is for the time of an upgrade");
  return ok(part, detail);
}

export function alarmsPart(
  alarms: ReadOutcome<readonly EtcdAlarm[]>,
  members: ReadOutcome<readonly ClusterMember[]>,
): Part {
  const part = "etcd alarms";
  if (alarms.kind === "failed") return skipped(part, `not told: ${alarms.fault.what}`, alarms.fault.advice);
  if (alarms.value.length === 0) return ok(part, "none");
  const nameOf = (memberId: bigint) => {
    const known =
      members.kind === "done" ? members.value.find((each) => each.memberId === memberId) : undefined;
    return known?.name ?? memberId.toString(16);
  };
  const texts = alarms.value.map(({ kind, memberId }) => `${kind} of ${nameOf(memberId)}`);
  const isCorrupt = alarms.value.some(({ kind }) => kind === "CORRUPT");
  return wrong(
    part,
    texts.join(", "),
    isCorrupt ? "replace the member: its data differ from those of the others (docs/cluster.md)" : SPACE,
  );
}

/**
 * Whether a majority answers, and the gateway may read and write its keys. etcd checks the rights to all of a
 * transaction, also to what it does not do.
 */
async function keysPart(client: EtcdClient, prefix: string): Promise<Part> {
  const part = "etcd keys";
  const key = `${prefix}check`;
  const outcome = await client.txn({
    // No key has a negative revision.
    compare: [{ key, target: "create_revision", is: "less", to: 0n }],
    success: [{ kind: "put", key, value: new Uint8Array(0) }],
    failure: [{ kind: "range", keys: { prefix: `${prefix}check` } }],
  });
  if (outcome.kind === "done") return ok(part, `a majority answers, and ${prefix} may be read and written`);
  const { what, code, advice } = outcome.fault;
  return code === "PERMISSION_DENIED"
    ? wrong(
        part,
        `the user of cluster.etcd.certificate may not read and write ${prefix}`,
        `give the user with the certificate's common name a role for it: etcdctl role grant-permission ROLE --prefix=true readwrite ${prefix}`,
      )
    : wrong(part, `${what} (${code})`, advice);
}

function grouped<T>(list: readonly T[], key: (value: T) => bigint): ReadonlyArray<readonly T[]> {
  const groups = new Map<bigint, T[]>();
  for (const each of list) groups.set(key(each), [...(groups.get(key(each)) ?? []), each]);
  return [...groups.values()];
}

function namesOf(group: readonly Answered[]): string {
  return group.map(({ endpoint }) => endpoint).join(" and ");
}

function megabytes(bytes: number): string {
  return `${Math.round((bytes / MEGABYTE) * 10) / 10} MB`;
}
