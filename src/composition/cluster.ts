import { createEtcdClient } from "../cluster/etcd/client.ts";
import { type ClusterOptions, keyPrefix } from "../cluster/options.ts";
import { fenceCommand } from "../cluster/protocol/fence.ts";
import { createMember, type Member, type MemberParts } from "../cluster/protocol/member.ts";
import type { DiskMirror } from "../cluster/protocol/mirror.ts";
import { decode, LEADER_KEY, LEFT_KEY, type LeftRecord } from "../cluster/protocol/records.ts";
import {
  createSharedClients,
  createSharedTables,
  type MemberTables,
} from "../cluster/protocol/shared-tables.ts";
import { type ProtocolTimes, protocolTimes } from "../cluster/protocol/times.ts";
import { leadershipOf, unreadRecord } from "../cluster/protocol/unled.ts";
import { watchEtcd } from "../cluster/store/etcd-health.ts";
import { createEtcdStore, startCompaction } from "../cluster/store/etcd-store.ts";
import type { Dispatcher } from "../commands/dispatcher.ts";
import { createMemberJournal, type MemberJournal } from "../commands/journal/member-journal.ts";
import { canReadRecord, holdIn, startIn } from "../commands/journal/stored-record.ts";
import type { Config } from "../config/load.ts";
import type { SharedClients } from "../contracts/client-certificates.ts";
import type {
  ClusterView,
  HandoverReport,
  MemberFacts,
  RobotStop,
  SharedCommands,
} from "../contracts/cluster.ts";
import type { Outbox } from "../delivery/outbox/outbox.ts";
import {
  canReadTickets,
  createMemberTickets,
  type TicketStore,
} from "../northbound/opcua/commands/ticket-store.ts";
import type { RandomSource } from "../platform/backoff.ts";
import { type Clock, every } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { TableChange } from "../platform/stores/table-store.ts";
import type { WriteBehind } from "../platform/stores/write-behind.ts";
import { version } from "../version.ts";
import type { ClusterSight } from "./cluster-alarms.ts";
import { type HandoverParts, reportOf } from "./handover.ts";
import { createStandbySession, type StandbySession } from "./standby-session.ts";

/** This gateway as a member of a cluster. */
export interface Cluster {
  readonly shared: SharedCommands;
  readonly journal: MemberJournal;
  readonly view: ClusterView;
  readonly sight: ClusterSight;
  readonly handover: HandoverAccess;
  /** Null: the session to the service is open at all times. */
  readonly standby: StandbySession | null;
  /** An engineer knows that the member is off. Returns why that cannot be used. */
  readonly confirmFence: (member: string) => string | null;
  /** It leaves the cluster, or leads no more. */
  readonly ended: AbortSignal;
  /** Of the slots of OPC UA. */
  readonly tickets: TicketStore;
  readonly clients: SharedClients;
  /** Those of the box, and those that the members share. */
  readonly tables: WriteBehind;
  /** Stands by from now on, and leads when nobody else does. */
  join(dispatcher: Dispatcher): void;
  /** Lets another member lead at once, when this one has ended its commands. */
  leave(): Promise<void>;
}

/** How this member hands over, and how it came to lead. */
export interface HandoverAccess extends Pick<HandoverParts, "others" | "standAside" | "settled" | "resign"> {
  /** The handover by which this member leads; null: it does not, or for another reason. */
  own(): HandoverReport | null;
}

export interface ClusterParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** Names this process. */
  readonly sessionId: string;
  /** Events wait in it for the broker; null: there is none. */
  readonly events: Pick<Outbox, "length" | "leaveBefore"> | null;
  /** What this box has of the store on its disk. */
  readonly disk: DiskMirror;
  /** Those of this box. */
  readonly tables: WriteBehind;
  /** There is a session to the service. */
  readonly isFleetUp: () => boolean;
  /** A few digits of each section of the configuration that the members should have alike. */
  readonly configuration: () => MemberFacts["configuration"];
  /**
   * Another member leads, or may: this process must end at once. Nothing of it may reach the service any
   * more.
   */
  readonly lost: () => void;
}

/** Shorter than a permission holds: then what became of a write is known in time. */
const ETCD_DEADLINE_MS = 1_500;
const LOOK_MS = 100;
/** A takeover waits so long for the session of a warm standby. */
const SESSION_MS = 5_000;
/** Without news for so long, beyond what is usual, a standby does not know what the leader has written. */
const UNHEARD_MS = 1_000;

export function createCluster(options: ClusterOptions, config: Config, parts: ClusterParts): Cluster {
  const { clock, random, sessionId, isFleetUp, events, configuration } = parts;
  const log = parts.log.child({ part: "cluster" });
  const { client, store } = openEtcd(options, { clock, random, log });
  const { callDeadlineMs, evidenceMs } = config.dispatcher;
  const times = protocolTimes({ leaseMs: options.leaseMs, callDeadlineMs, evidenceMs });
  const ended = new AbortController();
  const standby = options.standby === "warm" ? createStandbySession(clock, ended.signal) : null;
  let dispatcher: Dispatcher | null = null;
  let isAside = false;
  let doubtsOfTakeover = 0;
  let handover: HandoverReport | null = null;

  function ownHandover(): HandoverReport | null {
    const takeover = member.takeover();
    handover ??= takeover && reportOf(takeover, options.member, doubtsOfTakeover, clock.nowMs());
    return handover;
  }
  const facts = () => ({
    ...{ version, configuration: configuration(), handover: ownHandover() },
    fence: member.fencing.state(),
    unreadable: unreadRecord(unreadableOf(options, member)),
  });

  const member = createMember({
    ...{ store, clock, times },
    identity: { member: options.member, process: sessionId },
    records: recordsOf(() => journal),
    disk: parts.disk,
    leading: {
      // A warm standby can open one, as far as it knows.
      hasSession: () => isFleetUp() || (standby?.isOpen() === false && member.mirror.revision() > 0),
      fence: fenceCommand(options, clock, log),
      isPublished: () => events === null || events.length === 0,
      async takeOver(tables, time, aside) {
        await standby?.reached(isFleetUp, SESSION_MS);
        await journal.lead(tables, config.journal, time);
        log.info({ epoch: member.epoch()?.revision }, "this member leads from now on");
        tickets.lead(tables);
        shared.lead(aside);
        await dispatcher?.start();
        doubtsOfTakeover = view.robotsInDoubt();
      },
      lost() {
        if (ended.signal.aborted) return;
        const text = "this member leads no more: it ends, and stands by again";
        if (isAside) log.info({}, text);
        else log.error({ leader: view.leader() }, text);
        parts.lost();
      },
    },
    others: { facts, ...heard(() => dispatcher, events) },
  });
  const journal = createMemberJournal(member.tables);
  member.onTable(journal.changed);
  const tickets = createMemberTickets();

  const etcd = watchEtcd({ client, etcd: options.etcd, clock, signal: ended.signal });
  const place = { ...member, isFull: () => etcd()?.isFull === true };
  const { view, follow } = createView(options, place, times, () => dispatcher, log);
  const shared = shareTables(parts, options, member, view, ended.signal);
  return {
    shared: { ...member, isLeading: () => !isAside && member.isLeading() },
    ...{ journal, view, ended: ended.signal },
    sight: {
      ...{ view, etcd, facts, silenceMs: options.leaseMs },
      ...{ others: member.others, takeover: member.takeover },
    },
    handover: {
      others: member.others,
      own: ownHandover,
      settled: shared.settled,
      resign: (note) => shared.settled().then(() => member.resign("planned", note)),
      standAside(now) {
        isAside = now;
      },
    },
    ...{ tickets, standby, tables: shared, confirmFence: member.fencing.confirm },
    clients: createSharedClients(store, member.mirror),
    join(joined) {
      dispatcher = joined;
      joined.standBy();
      if (standby !== null) openAfterCut(standby, member, options.member);
      member.start();
      startCompaction({
        ...{ client, clock, isLeading: member.isLeading, revision: member.mirror.revision },
        ended: ended.signal,
      });
      follow(clock, ended.signal);
    },
    async leave() {
      ended.abort();
      await shared.settled();
      await member.resign("planned");
      client.close();
    },
  };
}

/** The keys in etcd of a record that the member cannot read; empty: there is none. */
function unreadableOf({ name }: ClusterOptions, member: Member): readonly string[] {
  return member.unreadable().map((key) => keyPrefix(name) + key);
}

function recordsOf(journal: () => MemberJournal): MemberParts["records"] {
  return {
    readStart: startIn,
    canRead: (change) => canReadRecord(change) && canReadTickets(change),
    lacking: () => journal().lacking(),
  };
}

/** What is done with what other members say. */
function heard(dispatcher: () => Dispatcher | null, events: ClusterParts["events"]) {
  return {
    stop: (stop: RobotStop) => dispatcher()?.elsewhere.stop(stop),
    table(change: TableChange) {
      const found = holdIn(change);
      if (found !== null) dispatcher()?.elsewhere.hold(found.hold, found.isHeld);
    },
    published: (beforeMs: number) => events?.leaveBefore(beforeMs),
    repeat: (stop: RobotStop) => dispatcher()?.elsewhere.repeat(stop) ?? Promise.resolve(),
  };
}

/**
 * A member that has given way for lack of the service does not know that it could open a session. Else two
 * warm members without the service would take turns.
 */
function openAfterCut(standby: StandbySession, { mirror }: Member, own: string): void {
  mirror.subscribe((key, entry) => {
    if (key !== LEFT_KEY || entry === null) return;
    const left = decode<LeftRecord>(entry, "member", "why");
    if (left?.member === own && left.why === "cut") standby.open();
  });
}

function openEtcd(
  { name, etcd: { endpoints, tls } }: ClusterOptions,
  { clock, random, log }: Pick<ClusterParts, "clock" | "random" | "log">,
) {
  const client = createEtcdClient({ endpoints, tls, deadlineMs: ETCD_DEADLINE_MS, clock, random, log });
  return { client, store: createEtcdStore({ client, prefix: keyPrefix(name), clock, log }) };
}

function shareTables(
  { tables, clock, log }: ClusterParts,
  { member: own }: ClusterOptions,
  { tables: written, onTable }: Member,
  view: ClusterView,
  ended: AbortSignal,
): MemberTables {
  const isOtherLeading = () => ![null, own].includes(view.leader()) && view.lagMs() < UNHEARD_MS;
  return createSharedTables({
    own: tables,
    written: { tables: written, onTable, isOtherLeading },
    ...{ clock, log, ended },
  });
}

/** What is shown of the place of a member, and what tells its listeners of a change. */
function createView(
  options: ClusterOptions,
  member: Member & { readonly isFull: () => boolean },
  { proofMs }: ProtocolTimes,
  dispatcher: () => Dispatcher | null,
  log: Log,
) {
  const { member: own, members, standby } = options;
  const listeners = new Set<() => void>();
  let newestEpoch = 0;
  let wasActive = false;
  let before = "";

  function note(): void {
    const [isActive, epoch, leader] = [view.isActive(), view.epoch(), view.leader()];
    wasActive = isActive;
    const now = JSON.stringify([isActive, epoch, leader]);
    if (now === before) return;
    before = now;
    log.info({ isActive, epoch, leader }, "the cluster");
    for (const listener of listeners) listener();
  }

  const place = { ...member, unreadable: () => unreadableOf(options, member) };
  const view: ClusterView = {
    member: own,
    members,
    standby,
    isActive: member.isLeading,
    epoch() {
      newestEpoch = Math.max(newestEpoch, member.mirror.get(LEADER_KEY)?.created ?? 0);
      return newestEpoch;
    },
    leader: () => leadershipOf(place, own).leader,
    unledBecause: () => leadershipOf(place, own).because,
    // The leader says something each second.
    lagMs: () => Math.max(0, member.mirror.lagMs() - 2 * proofMs),
    robotsInDoubt: () => dispatcher()?.handover.robotsInDoubt() ?? 0,
    look() {
      if (view.isActive() !== wasActive) note();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    view,
    follow: (clock: Clock, signal: AbortSignal) => every(clock, LOOK_MS, signal, note),
  };
}
