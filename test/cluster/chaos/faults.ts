import { setTimeout as wait } from "node:timers/promises";
import { keyPrefix } from "../../../src/cluster/options.ts";
import { LEADER_KEY } from "../../../src/cluster/protocol/records.ts";
import { type Box, CLUSTER, DOUBT_MS, EVIDENCE_MS, LEASE_MS } from "./box.ts";
import type { LateWire } from "./late-wire.ts";
import { portsOf } from "./ports-of.ts";
import { request } from "./request.ts";
import type { Scene } from "./scene.ts";

/** A fault that struck. */
export interface Struck {
  /** The box that led until then. */
  readonly leader: Box;
  /** Its process. */
  readonly life: number;
  /** How long it lasts; the time begins when another box leads, if `isFromTakeover`. */
  readonly lastsMs: number;
  readonly isFromTakeover?: boolean;
  /** What was done to it. */
  readonly text: string;
  /** Ends it. @returns the bytes that arrive late */
  heal(): Promise<number>;
}

type Strike = (
  scene: Scene,
  leader: Box,
  random: () => number,
) => Promise<Pick<Struck, "lastsMs" | "isFromTakeover" | "heal">>;

const kinds = {
  /** `kill -9` of the leader. */
  async kill(_scene, leader) {
    await leader.kill();
    return { lastsMs: 0, heal: async () => 0 };
  },
  /** The leader stands still for longer than its lease. */
  async pause(_scene, leader, random) {
    leader.pause();
    const heal = async () => {
      leader.resume();
      return 0;
    };
    return { lastsMs: beyondLease(random), heal };
  },
  /** The leader cannot reach etcd. */
  async "cut-etcd"(_scene, { etcdWires }, random) {
    return cut(etcdWires, beyondLease(random));
  },
  /** The leader cannot reach the service. */
  async "cut-service"(_scene, { serviceWires }, random) {
    return cut(serviceWires, 8_000 + random() * 12_000);
  },
  /** The leader of etcd is killed, and comes again. */
  async "etcd-leader"({ etcd }, _leader, random) {
    const member = await leaderOf(etcd.members);
    await member.kill();
    const heal = async () => {
      await member.start();
      return 0;
    };
    return { lastsMs: 2_000 + random() * 6_000, heal };
  },
  /** The leader's box, which has a member of etcd, is cut from both other machines. All reach the service. */
  async split({ boxes, etcd, peerWires }, leader, random) {
    const own = boxes.indexOf(leader);
    const ownPid = etcd.members[own]?.pid() ?? 0;
    const toOthers = peerWires.filter((_, index) => index !== own);
    for (const wire of toOthers) wire.die((port) => portsOf(ownPid).has(port));
    const acrossBoxes = boxes.flatMap((box) =>
      box.etcdWires.filter((_, index) => (box === leader) !== (index === own)),
    );
    const wires = [...peerWires.slice(own, own + 1), ...acrossBoxes];
    for (const wire of wires) wire.die();
    return { lastsMs: beyondLease(random), heal: async () => healed([...wires, ...toOthers]) };
  },
  /**
   * The leader is cut from the service and killed. What it has sent comes when its successor has found no
   * evidence of it, and still waits for it.
   */
  async "kill-late"(_scene, leader, random) {
    const wires = leader.serviceWires;
    for (const wire of wires) wire.die();
    await wait(SENDING_MS);
    await leader.kill();
    const lastsMs = EVIDENCE_MS + 1_000 + random() * 2_500;
    return { lastsMs, isFromTakeover: true, heal: async () => healed(wires) };
  },
  /**
   * The leader stands still with permissions on their way to it, and goes on when its successor has told what
   * became of them.
   */
  async "pause-slow"(_scene, leader, random) {
    const wires = leader.etcdWires;
    for (let answers = 0; answers < SLOW_ANSWERS; answers += 1) {
      for (const wire of wires) wire.mute();
      await wait(SLOW_MS);
      // The process has what was delivered, and is stopped before it can look at it.
      const delivered = healed(wires);
      if (answers === SLOW_ANSWERS - 1) leader.pause();
      await delivered;
    }
    const heal = async () => {
      leader.resume();
      return 0;
    };
    return { lastsMs: DOUBT_MS + 3_000 + random() * 3_000, isFromTakeover: true, heal };
  },
  /** The leader's lease ends, though it is well: etcd has lost a renewal. */
  async lease({ etcd }) {
    const client = etcd.client();
    const read = await client.range({ keys: { key: `${keyPrefix(CLUSTER)}${LEADER_KEY}` } });
    const lease = read.kind === "done" ? read.value.entries[0]?.lease : undefined;
    if (lease === undefined) throw new Error("etcd does not know the leader");
    await client.revokeLease(lease);
    client.close();
    return { lastsMs: 0, heal: async () => 0 };
  },
  /** What the leader writes is in etcd, and the answers do not come, for less than its proof holds. */
  async "mute-etcd"(_scene, { etcdWires }, random) {
    for (const wire of etcdWires) wire.mute();
    return { lastsMs: MUTE_MS + random() * 1_000, heal: () => healed(etcdWires) };
  },
  /** The leader hands over, as `fleetgate handover` asks it to, while a conveyor turns. */
  async handover(_scene, leader) {
    const answer = await request(leader, "POST", "handover", {}, {});
    if (answer?.status !== 202) throw new Error(`no handover: ${JSON.stringify(answer)}`);
    await leader.ended();
    return { lastsMs: 0, heal: async () => 0 };
  },
} as const satisfies Record<string, Strike>;

/** Calls are under way then. */
const SENDING_MS = 300;
/** Longer than two writes in a row are waited for. */
const MUTE_MS = 3_200;
const SLOW_MS = 150;
const SLOW_ANSWERS = 7;

/**
 * For how long a connection may be silent, in the configuration of both boxes. Values that are stale after a
 * pause would keep a start from leaving.
 */
export const silenceMsOf = (kind: Kind): number => (kind === "pause-slow" ? 30_000 : 4_000);
/** The leader goes on to lead. */
export const keepsLeading: ReadonlySet<Kind> = new Set<Kind>(["etcd-leader", "mute-etcd"]);
export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as readonly Kind[];

export async function strike(scene: Scene, kind: Kind, random: () => number): Promise<Struck> {
  const leader = scene.leader();
  const life = leader.life();
  const struck: Awaited<ReturnType<Strike>> = await kinds[kind](scene, leader, random);
  return { ...struck, leader, life, text: `${kind} of ${leader.name}, life ${life}` };
}

const beyondLease = (random: () => number): number => LEASE_MS + 1_000 + random() * 7_000;

function cut(wires: readonly LateWire[], lastsMs: number): Pick<Struck, "lastsMs" | "heal"> {
  for (const wire of wires) wire.die();
  return { lastsMs, heal: async () => healed(wires) };
}

/** @returns the bytes that arrive late */
async function healed(wires: readonly LateWire[]): Promise<number> {
  const late = await Promise.all(wires.map((wire) => wire.heal()));
  return late.reduce((sum, bytes) => sum + bytes, 0);
}

export async function leaderOf<M extends { readonly endpoint: string }>(members: readonly M[]): Promise<M> {
  for (const member of members) {
    const metrics = await fetch(`http://${member.endpoint}/metrics`).then((answer) => answer.text());
    if (/^etcd_server_is_leader 1$/m.test(metrics)) return member;
  }
  throw new Error("etcd has no leader");
}
