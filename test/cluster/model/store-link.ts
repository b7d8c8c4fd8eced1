import type {
  ClusterStore,
  CommitResult,
  StoreChanges,
  StoreTransaction,
} from "../../../src/cluster/protocol/cluster-store.ts";
import type { Box, Random, Simulation } from "./simulation.ts";
import type { StoreModel } from "./store-model.ts";

/** What the adversary does between a box and the store. */
export interface Faults {
  /** How often an answer or a question is lost, or comes late. */
  readonly lossy: number;
  readonly latestMs: number;
  readonly watchLagMs: number;
}

export interface LinkParts {
  readonly sim: Simulation;
  readonly random: Random;
  readonly store: StoreModel;
  readonly box: Box;
  readonly process: string;
  readonly faults: () => Faults;
  /** True time until which the box is cut off from the store. */
  readonly cutUntilMs: () => number;
}

const TIMEOUT_MS = 1_000;

/** A process's connection to the store. */
export function createStoreLink(parts: LinkParts): ClusterStore {
  const { sim, random, store, box, process, faults, cutUntilMs } = parts;
  const isCut = () => sim.nowMs < cutUntilMs();
  const hop = () => random.between(0.5, 8);

  /** `failed`: what it may answer without having done anything; null: nothing. */
  function ask<Answer>(question: () => Answer, noAnswer: Answer, failed: Answer | null): Promise<Answer> {
    return new Promise((resolve) => {
      const answer = (value: Answer, delayMs: number) =>
        sim.after(delayMs, () => box.enter(() => resolve(value)));
      const { lossy, latestMs } = faults();
      const isLost = random.chance(lossy);
      const way = random.next();
      if (isLost && failed !== null && way < 0.1) {
        answer(failed, hop());
        return;
      }
      if ((isCut() && way < 0.7) || (isLost && way < 0.3)) {
        answer(noAnswer, TIMEOUT_MS);
        return;
      }
      if (isLost || isCut()) {
        // It is applied, soon or after the client has given up, and the client is not told.
        const applyMs = way < 0.6 ? hop() : random.between(0, latestMs);
        sim.after(applyMs, question);
        answer(noAnswer, TIMEOUT_MS);
        return;
      }
      sim.after(hop(), () => {
        const value = question();
        answer(isCut() ? noAnswer : value, isCut() ? TIMEOUT_MS : hop());
      });
    });
  }

  return {
    commit: (transaction: StoreTransaction) =>
      ask<CommitResult>(() => store.apply(process, transaction), { kind: "unsure" }, { kind: "failed" }),
    read: (prefix) => ask(() => store.read(prefix), null, null),
    grant: (ttlMs) => ask(() => store.grant(ttlMs), null, null),
    keepAlive: (lease) => ask(() => store.keepAlive(lease), null, null),
    watch(from, receive, ended) {
      const waiting: StoreChanges[] = [];
      let isOpen = true;
      const pass = () => {
        if (!isOpen) return;
        if (isCut()) {
          sim.after(cutUntilMs() - sim.nowMs + hop(), () => box.enter(pass));
          return;
        }
        const next = waiting.shift();
        if (next === undefined) return;
        if (random.chance(faults().lossy / 5)) {
          cancel();
          ended();
        } else receive(next);
      };
      const stop = store.watch(from, (changes) => {
        waiting.push(changes);
        sim.after(hop() + random.next() * faults().watchLagMs, () => box.enter(pass));
      });
      const cancel = () => {
        isOpen = false;
        stop();
      };
      return cancel;
    },
  };
}
