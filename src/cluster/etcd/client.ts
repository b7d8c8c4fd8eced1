import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { credentials } from "@grpc/grpc-js";
import type { RandomSource } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import { tlsCredentials } from "../../platform/grpc-channel.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import {
  AlarmRequestSchema,
  AlarmType,
  Cluster,
  CompactionRequestSchema,
  KV,
  Lease,
  LeaseGrantRequestSchema,
  LeaseKeepAliveRequestSchema,
  LeaseRevokeRequestSchema,
  LeaseTimeToLiveRequestSchema,
  Maintenance,
  MemberListRequestSchema,
  RangeRequestSchema,
  type ResponseHeader,
  StatusRequestSchema,
  TxnRequestSchema,
} from "../../wire/etcd/rpc_pb.js";
import { createMember, type EtcdMember } from "./member.ts";
import type { Done, ReadOutcome, WriteOutcome } from "./outcome.ts";
import { faultOf } from "./outcome.ts";
import { createRoute, type Ended } from "./route.ts";
import {
  operationsProblem,
  type Transaction,
  type TransactionResult,
  transactionRequest,
  transactionResult,
} from "./transaction.ts";
import { type Entry, entryOf, headerOf, type Keys, keyRange, nextKey } from "./values.ts";
import { runWatch, type WatchHandlers, type WatchTarget } from "./watch.ts";

/** What to read: all pages have the revision of the first. */
export interface RangeQuery {
  readonly keys: Keys;
  /** Absent: the newest. */
  readonly revision?: bigint;
  /** The most entries of a page. Absent: 500. */
  readonly limit?: number;
  /** The first key of this page. Absent: the first of all. */
  readonly from?: Uint8Array;
}

export interface Page {
  /** In the order of their keys. */
  readonly entries: readonly Entry[];
  /** The revision at which they were read. */
  readonly revision: bigint;
  /** The query of the next page; null: this is the last one. */
  readonly next: RangeQuery | null;
}

export interface GrantedLease {
  readonly id: bigint;
  /** What etcd grants, which may be more than what was asked for. */
  readonly ttlS: number;
}

export interface MemberStatus {
  readonly memberId: bigint;
  /** The member that this one takes for the leader; null: none. */
  readonly leaderId: bigint | null;
  readonly version: string;
  readonly storeBytes: number;
  /** The most that `storeBytes` may be; null: etcd before 3.6 does not say. */
  readonly quotaBytes: number | null;
  readonly errors: readonly string[];
}

export interface EtcdAlarm {
  readonly memberId: bigint;
  readonly kind: "NOSPACE" | "CORRUPT" | "OTHER";
}

export interface ClusterMember {
  readonly memberId: bigint;
  /** Empty: it was added, and has never started. */
  readonly name: string;
}

/**
 * A client of one etcd cluster. Every call ends within the deadline. A write is sent at most once, and its
 * outcome says whether it was applied (docs/internals/decisions.md, Our own client of etcd tells three
 * outcomes apart).
 */
export interface EtcdClient {
  range(query: RangeQuery): Promise<ReadOutcome<Page>>;
  txn(transaction: Transaction): Promise<WriteOutcome<TransactionResult>>;
  put(key: string, value: Uint8Array, lease?: bigint): Promise<WriteOutcome<null>>;
  /** Forgets the revisions before this one. */
  compact(revision: bigint): Promise<WriteOutcome<null>>;
  grantLease(ttlS: number): Promise<WriteOutcome<GrantedLease>>;
  revokeLease(id: bigint): Promise<WriteOutcome<null>>;
  /** Renews a lease once. It proves no leader: etcd 3.4 renews at a leader that was replaced, too. */
  keepLeaseAlive(id: bigint): Promise<WriteOutcome<{ readonly ttlS: number }>>;
  /** The seconds that are left; null: there is no such lease. */
  leaseTimeToLive(id: bigint): Promise<ReadOutcome<number | null>>;
  /** Returns the function that closes it. */
  watch(target: WatchTarget, handlers: WatchHandlers): () => void;
  /** Of one member, also one without a quorum. */
  status(endpoint: string): Promise<ReadOutcome<MemberStatus>>;
  alarms(): Promise<ReadOutcome<readonly EtcdAlarm[]>>;
  members(): Promise<ReadOutcome<readonly ClusterMember[]>>;
  close(): void;
}

export interface EtcdClientParts {
  /** `host:port` of each member. */
  readonly endpoints: readonly string[];
  /** PEM texts; null: no TLS. */
  readonly tls: {
    readonly ca: string;
    readonly client: { readonly certificate: string; readonly key: string } | null;
  } | null;
  /** For each call. A watch asks a member that is silent for so long, and gives it so long to answer. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

const PAGE = 500;
/** etcd's default is 1.5 MiB (`--max-request-bytes`), and it adds a header. */
const MOST_BYTES = 1_500_000;

export function createEtcdClient(parts: EtcdClientParts): EtcdClient {
  const { endpoints, tls, deadlineMs, clock, random, log } = parts;
  const secured = tls === null ? credentials.createInsecure() : tlsCredentials(tls);
  const members = endpoints.map((endpoint) => createMember(endpoint, secured, clock));
  const route = createRoute(members, clock, deadlineMs);
  const closing = new AbortController();

  const read = async <I extends DescMessage, O extends DescMessage, V>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    value: (answer: MessageShape<O> & Headed) => V,
  ) => asRead(outcome(await route.call(true, (member, ms) => member.call(method, request, ms)), value));
  const write = async <I extends DescMessage, O extends DescMessage, V>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    value: (answer: MessageShape<O> & Headed) => V,
  ) => outcome(await route.call(false, (member, ms) => member.call(method, request, ms)), value);

  async function txn(transaction: Transaction): Promise<WriteOutcome<TransactionResult>> {
    const tooMany = operationsProblem(transaction);
    if (tooMany !== null) return tooLarge(tooMany);
    const request = transactionRequest(transaction);
    const { length } = toBinary(TxnRequestSchema, request);
    if (length > MOST_BYTES)
      return tooLarge(`a transaction of ${length} bytes, and etcd takes ${MOST_BYTES}`);
    return write(KV.method.txn, request, transactionResult);
  }

  return {
    range: (query) => read(KV.method.range, rangeRequest(query), (answer) => pageOf(query, answer)),
    txn,
    async put(key, value, lease = 0n) {
      const ended = await txn({ success: [{ kind: "put", key, value, lease }] });
      return ended.kind === "done" ? { ...ended, value: null } : ended;
    },
    compact: (revision) =>
      write(KV.method.compact, create(CompactionRequestSchema, { revision }), () => null),
    grantLease: (ttlS) =>
      write(
        Lease.method.leaseGrant,
        create(LeaseGrantRequestSchema, { TTL: BigInt(ttlS) }),
        ({ ID, TTL }) => ({
          id: ID,
          ttlS: Number(TTL),
        }),
      ),
    revokeLease: (id) =>
      write(Lease.method.leaseRevoke, create(LeaseRevokeRequestSchema, { ID: id }), () => null),
    async keepLeaseAlive(id) {
      const request = create(LeaseKeepAliveRequestSchema, { ID: id });
      const { leaseKeepAlive } = Lease.method;
      const ended = outcome(
        await route.call(true, (member, ms) => member.callOnce(leaseKeepAlive, request, ms)),
        ({ TTL }) => ({ ttlS: Number(TTL) }),
      );
      if (ended.kind !== "done" || ended.value.ttlS > 0) return ended;
      return {
        kind: "failed",
        fault: faultOf(ended.endpoint, "NO_LEASE", "no such lease", "grant a lease anew"),
      };
    },
    leaseTimeToLive: (id) =>
      read(Lease.method.leaseTimeToLive, create(LeaseTimeToLiveRequestSchema, { ID: id }), ({ TTL }) =>
        TTL < 0n ? null : Number(TTL),
      ),
    watch(target, handlers) {
      const own = new AbortController();
      const { signal } = own;
      const stopListening = onAbort(closing.signal, () => own.abort());
      void runWatch(target, handlers, { route, clock, random, log, deadlineMs, signal }).finally(
        stopListening,
      );
      return () => own.abort();
    },
    async status(endpoint) {
      const member = members.find((each) => each.endpoint === endpoint);
      if (member === undefined) throw new Error(`${endpoint} is no endpoint of this client`);
      return statusOf(member, clock, deadlineMs);
    },
    alarms: () =>
      read(Maintenance.method.alarm, create(AlarmRequestSchema), ({ alarms }) =>
        alarms.map(({ memberID, alarm }) => ({ memberId: memberID, kind: alarmKind(alarm) })),
      ),
    members: () =>
      read(Cluster.method.memberList, create(MemberListRequestSchema), (answer) =>
        answer.members.map(({ ID, name }) => ({ memberId: ID, name })),
      ),
    close() {
      closing.abort();
      for (const member of members) member.close();
    },
  };
}

/** Each answer of etcd has a header. */
type Headed = { readonly header?: ResponseHeader | undefined };

function outcome<Answer, Value>(
  ended: Ended<Answer>,
  value: (answer: Answer & Headed) => Value,
): WriteOutcome<Value> {
  if (ended.kind !== "answered") return ended;
  const { endpoint } = ended;
  const answer: Answer & Headed = ended.answer as Answer & Headed;
  return { kind: "done", value: value(answer), header: headerOf(answer.header), endpoint };
}

/** A read that got no answer has failed: it changes nothing. */
function asRead<Value>(ended: WriteOutcome<Value>): ReadOutcome<Value> {
  return ended.kind === "unsure" ? { kind: "failed", fault: ended.fault } : ended;
}

function tooLarge(what: string): WriteOutcome<never> {
  return { kind: "failed", fault: faultOf(null, "TOO_LARGE", what, "split it; nothing was sent") };
}

function rangeRequest({ keys, revision = 0n, limit = PAGE, from }: RangeQuery) {
  const { key, rangeEnd } = keyRange(keys);
  return create(RangeRequestSchema, { key: from ?? key, rangeEnd, revision, limit: BigInt(limit) });
}

function pageOf(query: RangeQuery, { kvs, more, header }: MessageShape<typeof KV.method.range.output>): Page {
  const revision = query.revision ?? headerOf(header).revision;
  const last = kvs.at(-1);
  const next = more && last !== undefined ? { ...query, revision, from: nextKey(last.key) } : null;
  return { entries: kvs.map(entryOf), revision, next };
}

async function statusOf(
  member: EtcdMember,
  clock: Clock,
  limitMs: number,
): Promise<ReadOutcome<MemberStatus>> {
  const untilMs = clock.monotonicMs() + limitMs;
  const fault = await member.connect(limitMs);
  if (fault !== null) return { kind: "failed", fault };
  const request = create(StatusRequestSchema);
  const left = untilMs - clock.monotonicMs();
  const end = await member.call(Maintenance.method.status, request, left, "alone");
  if (end.kind !== "answered") return { kind: "failed", fault: end.fault };
  const { answer } = end;
  const header = headerOf(answer.header);
  const value: MemberStatus = {
    memberId: header.memberId,
    leaderId: answer.leader === 0n ? null : answer.leader,
    version: answer.version,
    storeBytes: Number(answer.dbSize),
    quotaBytes: answer.dbSizeQuota === 0n ? null : Number(answer.dbSizeQuota),
    errors: answer.errors,
  };
  return { kind: "done", value, header, endpoint: member.endpoint } satisfies Done<MemberStatus>;
}

function alarmKind(alarm: AlarmType): EtcdAlarm["kind"] {
  if (alarm === AlarmType.NOSPACE) return "NOSPACE";
  return alarm === AlarmType.CORRUPT ? "CORRUPT" : "OTHER";
}
