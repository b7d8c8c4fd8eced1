import { setTimeout as wait } from "node:timers/promises";
import type { Box } from "../../test/cluster/chaos/box.ts";
import type { ClusterBench } from "./open.ts";
import { askAgain, type Sent, send } from "./start.ts";

/** Starts at a steady pace, by clients that know which box leads, and look for it when it does not. */
export interface Load {
  /** Each with its outcome, in the order of that; `nobody leads`: it was not asked for. */
  readonly told: readonly Sent[];
  /** The first start since then that succeeds on one of these boxes. */
  firstBy(boxes: readonly Box[], sinceMs: number): Promise<Sent>;
  /** Resolves when nothing is open. */
  stop(): Promise<void>;
}

/** Between two questions to one box. */
const LOOK_MS = 20;
const AGAIN_MS = 500;
/** A start that is sought for longer has no outcome. */
const OPEN_MS = 60_000;
const FOUND_MS = 60_000;
/** More than are told between two looks. */
const NEWEST = 500;
const lost = new Set(["no answer", "refused STANDBY", "refused SHUTTING_DOWN", "unknown STANDBY"]);

export function startLoad({ scene, busy, quiet }: ClusterBench, perSecond: number): Load {
  const told: Sent[] = [];
  const open = new Set<Promise<void>>();
  const over = new AbortController();
  let known: Box | null = scene.leader();
  let turn = 0;

  async function seek(): Promise<void> {
    for (let look = 0; !over.signal.aborted; look += 1) {
      const box = scene.boxes[look % 2] as Box;
      const sent = await send(box, quiet[look % quiet.length]?.id ?? "");
      if (sent.outcome === "succeeded") {
        told.push(sent);
        known = box;
        return;
      }
      await wait(LOOK_MS);
    }
  }

  function lose(box: Box): void {
    if (known !== box) return;
    known = null;
    void seek();
  }

  /** The outcome of a start whose box has died. */
  async function settle(sent: Sent): Promise<Sent> {
    const untilMs = performance.now() + OPEN_MS;
    let again = sent;
    while (performance.now() < untilMs && (again.outcome === "open" || lost.has(again.outcome))) {
      await wait(AGAIN_MS);
      if (known !== null) again = await askAgain(known, sent);
    }
    return again;
  }

  async function one(box: Box, robotId: string): Promise<void> {
    const sent = await send(box, robotId);
    if (lost.has(sent.outcome)) lose(box);
    const isOpen = sent.outcome === "open" || sent.outcome === "no answer";
    told.push(isOpen ? await settle(sent) : sent);
  }

  async function work(): Promise<void> {
    const beganMs = performance.now();
    for (let due = 0; !over.signal.aborted; due += 1) {
      const leftMs = beganMs + (due * 1_000) / perSecond - performance.now();
      if (leftMs > 0) await wait(leftMs);
      turn += 1;
      const robotId = busy[turn % busy.length]?.id ?? "";
      if (known === null) {
        const atMs = performance.now();
        const nobody = { box: "none", outcome: "nobody leads" };
        told.push({ id: `n${due}`, robotId, askedAtMs: atMs, toldAtMs: atMs, ...nobody });
        continue;
      }
      const sending = one(known, robotId).finally(() => open.delete(sending));
      open.add(sending);
    }
  }

  const working = work();
  return {
    told,
    async firstBy(boxes, sinceMs) {
      const names = boxes.map(({ name }) => name);
      const isIt = (sent: Sent) =>
        names.includes(sent.box) && sent.outcome === "succeeded" && sent.askedAtMs >= sinceMs;
      for (const untilMs = performance.now() + FOUND_MS; performance.now() < untilMs; await wait(1)) {
        const first = told.slice(-NEWEST).find(isIt);
        if (first !== undefined) return first;
      }
      const newest = told.slice(-5).map(({ box, outcome }) => `${outcome} (${box})`);
      throw new Error(`no start succeeds on ${names.join(" or ")}; the newest: ${newest.join(", ")}`);
    },
    async stop() {
      over.abort();
      await working;
      await Promise.all(open);
    },
  };
}
