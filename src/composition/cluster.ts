import { createEtcdClient } from "../cluster/etcd/client.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { keyPrefix } from "../cluster/options.ts";
import { createMember } from "../cluster/protocol/member.ts";
import type { SeenMark } from "../cluster/protocol/mirror.ts";
import { decode, LEADER_KEY, type LeaderRecord } from "../cluster/protocol/records.ts";
import { protocolTimes } from "../cluster/protocol/times.ts";
import { createEtcdStore } from "../cluster/store/etcd-store.ts";
import type { Dispatcher } from "../commands/dispatcher.ts";
import { openDurableJournal } from "../commands/journal/durable-journal.ts";
import { createMemberJournal, type MemberJournal } from "../commands/journal/member-journal.ts";
import { holdIn, startIn } from "../commands/journal/stored-record.ts";
import type { Config } from "../config/load.ts";
import type { ClusterView, SharedCommands } from "../contracts/cluster.ts";
import type { Outbox } from "../delivery/outbox/outbox.ts";
import { createMemberTickets, type TicketStore } from "../northbound/opcua/commands/ticket-store.ts";
import type { RandomSource } from "../platform/backoff.ts";
import { type Clock, every } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";

/** This gateway as a member of a cluster. */
export interface Cluster {
  readonly shared: SharedCommands;
  readonly journal: MemberJournal;
  readonly view: ClusterView;
  /** Of the slots of OPC UA. */
  readonly tickets: TicketStore;
  /** Stands by from now on, and leads when nobody else does. */
  join(dispatcher: Dispatcher): void;
  /** Lets another member lead at once, when this one has ended its commands. */
  leave(): Promise<void>;
}

export interface ClusterParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** Names this process. */
  readonly sessionId: string;
  /** Events wait in it for the broker; null: there is none. */
  readonly events: Pick<Outbox, "length" | "leaveBefore"> | null;
  /** What this box has seen of the store. */
  readonly seen: SeenMark;
  /** There is a session to the service. */
  readonly isFleetUp: () => boolean;
  /**
   * Another member leads, or may: this process must end at once. Nothing of it may reach the service any
   * more.
   */
  readonly lost: () => void;
}

/** Shorter than a permission holds: then what became of a write is known in time. */
const ETCD_DEADLINE_MS = 1_500;
const LOOK_MS = 250;

export function createCluster(options: ClusterOptions, config: Config, parts: ClusterParts): Cluster {
  const { clock, random, sessionId, isFleetUp, events } = parts;
  const log = parts.log.child({ part: "cluster" });
  const { endpoints, tls } = options.etcd;
  const client = createEtcdClient({ endpoints, tls, deadlineMs: ETCD_DEADLINE_MS, clock, random, log });
  const prefix = keyPrefix(options.name);
  const { callDeadlineMs, evidenceMs } = config.dispatcher;
  const times = protocolTimes({ leaseMs: options.leaseMs, callDeadlineMs, evidenceMs });
  const ended = new AbortController();
  const listeners = new Set<() => void>();
  let dispatcher: Dispatcher | null = null;

  const leaderEntry = () => member.mirror.get(LEADER_KEY);
  let newestEpoch = 0;

  const member = createMember({
    store: createEtcdStore({ client, prefix, clock, log }),
    clock,
    times,
    identity: { member: options.member, process: sessionId },
    readStart: startIn,
    seen: parts.seen,
    leading: {
      hasSession: isFleetUp,
      isPublished: () => events === null || events.length === 0,
      async takeOver(tables, time) {
        log.info({ epoch: member.epoch()?.revision }, "this member leads from now on");
        journal.lead(openDurableJournal(tables, config.journal, time));
        tickets.lead(tables);
        await dispatcher?.start();
      },
      lost() {
        if (ended.signal.aborted) return;
        log.error({ leader: view.leader() }, "this member leads no more: it ends, and stands by again");
        parts.lost();
      },
    },
    others: {
      stop: (stop) => dispatcher?.elsewhere.stop(stop),
      table(change) {
        const found = holdIn(change);
        if (found !== null) dispatcher?.elsewhere.hold(found.hold, found.isHeld);
      },
      published: (beforeMs) => events?.leaveBefore(beforeMs),
      repeat: (stop) => dispatcher?.elsewhere.repeat(stop) ?? Promise.resolve(),
    },
  });
  const journal = createMemberJournal(member.tables);
  const tickets = createMemberTickets();

  const view: ClusterView = {
    member: options.member,
    members: options.members,
    isActive: member.isLeading,
    epoch() {
      newestEpoch = Math.max(newestEpoch, leaderEntry()?.created ?? 0);
      return newestEpoch;
    },
    leader() {
      const entry = leaderEntry();
      return entry === undefined ? null : decode<LeaderRecord>(entry).member;
    },
    // The leader says something each second.
    lagMs: () => Math.max(0, member.mirror.lagMs() - 2 * times.proofMs),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };

  return {
    shared: member,
    journal,
    view,
    tickets,
    join(joined) {
      dispatcher = joined;
      joined.standBy();
      member.start();
      let before = "";
      every(clock, LOOK_MS, ended.signal, () => {
        const now = JSON.stringify([view.isActive(), view.epoch(), view.leader()]);
        if (now === before) return;
        before = now;
        log.info({ isActive: view.isActive(), epoch: view.epoch(), leader: view.leader() }, "the cluster");
        for (const listener of listeners) listener();
      });
    },
    async leave() {
      ended.abort();
      await member.resign();
      client.close();
    },
  };
}
