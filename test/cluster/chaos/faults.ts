import { setTimeout as wait } from "node:timers/promises";
import { type Box, LEASE_MS } from "./box.ts";
import type { LateWire } from "./late-wire.ts";
import { portsOf } from "./ports-of.ts";
import type { Scene } from "./scene.ts";

/** A fault that struck. */
export interface Struck {
  /** The box that led until then. */
  readonly leader: Box;
  /** Its process. */
  readonly life: number;
  /** How long it lasts. */
  readonly lastsMs: number;
  /** What was done to it. */
  readonly text: string;
  /** Ends it. @returns the bytes that arrive late */
  heal(): Promise<number>;
}

type Strike = (scene: Scene, leader: Box, random: () => number) => Promise<Pick<Struck, "lastsMs" | "heal">>;

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
   * The leader is cut from the service and killed. What it has sent comes after its successor leads, while
   * that one still waits for it.
   */
  async "kill-late"(_scene, leader, random) {
    const wires = leader.serviceWires;
    for (const wire of wires) wire.die();
    await wait(SENDING_MS);
    await leader.kill();
    return { lastsMs: LEASE_MS + random() * 4_000, heal: async () => healed(wires) };
  },
} as const satisfies Record<string, Strike>;

export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as readonly Kind[];

export async function strike(scene: Scene, kind: Kind, random: () => number): Promise<Struck> {
  const leader = scene.leader();
  const life = leader.life();
  const struck = await kinds[kind](scene, leader, random);
  return { ...struck, leader, life, text: `${kind} of ${leader.name}, life ${life}` };
}

/** Calls are under way then. */
const SENDING_MS = 300;
const beyondLease = (random: () => number): number => LEASE_MS + 1_000 + random() * 7_000;

function cut(wires: readonly LateWire[], lastsMs: number): Pick<Struck, "lastsMs" | "heal"> {
  for (const wire of wires) wire.die();
  return { lastsMs, heal: async () => healed(wires) };
}

/** @returns the bytes that arrive late */
function healed(wires: readonly LateWire[]): number {
  return wires.reduce((late, wire) => late + wire.heal(), 0);
}

export async function leaderOf<M extends { readonly endpoint: string }>(members: readonly M[]): Promise<M> {
  for (const member of members) {
    const metrics = await fetch(`http://${member.endpoint}/metrics`).then((answer) => answer.text());
    if (/^etcd_server_is_leader 1$/m.test(metrics)) return member;
  }
  throw new Error("etcd has no leader");
}
