import { describe, expect, it } from "vitest";
import type { StoreEntry, StoreTransaction } from "../../src/cluster/protocol/cluster-store.ts";
import type { MirrorListener } from "../../src/cluster/protocol/mirror.ts";
import { BEAT_KEY, LEADER_KEY, MOVED_OUT, MOVING_IN } from "../../src/cluster/protocol/records.ts";
import { createSilenceWatch } from "../../src/cluster/protocol/silence-watch.ts";
import { protocolTimes } from "../../src/cluster/protocol/times.ts";
import { createManualClock } from "../support/manual-clock.ts";

const times = protocolTimes({ leaseMs: 5_000, callDeadlineMs: 15_000, evidenceMs: 30_000 });
const LOOK_MS = 500;

/** A standby that looks twice a second at a leader whose lease never ends. */
function open(process = "p") {
  const clock = createManualClock();
  const entries = new Map<string, StoreEntry>();
  const listeners = new Set<MirrorListener>();
  let revision = 0;
  let isAnswering = true;
  let endedAtMs: number | null = null;

  function put(key: string, isHeard = true): void {
    revision += 1;
    const created = entries.get(key)?.created ?? revision;
    const entry = { key, value: JSON.stringify({ member: "a", process }), created, modified: revision };
    entries.set(key, entry);
    if (isHeard) for (const listener of listeners) listener(key, entry, revision);
  }

  const known = new Map<string, StoreEntry>();
  const silence = createSilenceWatch({
    store: {
      async commit({ guard, parts }: StoreTransaction) {
        if (!isAnswering) return { kind: "unsure" };
        const holds = guard.every((each) => {
          const entry = "key" in each ? entries.get(each.key) : undefined;
          return "modified" in each ? entry?.modified === each.modified : true;
        });
        if (holds && parts.length > 0) endedAtMs ??= clock.monotonicMs();
        return { kind: "done", revision, parts: holds ? parts.map(() => true) : null };
      },
    },
    mirror: {
      get: (key) => known.get(key),
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    ...{ clock, times },
  });
  listeners.add((key, entry) => void (entry !== null && known.set(key, entry)));
  put(LEADER_KEY);
  put(BEAT_KEY);

  return {
    beat: (isHeard = true) => put(BEAT_KEY, isHeard),
    answer(is: boolean): void {
      isAnswering = is;
    },
    endedAtMs: () => endedAtMs,
    /** Nobody looks. */
    idle: (forMs: number) => clock.settle(forMs),
    async pass(forMs: number): Promise<void> {
      for (let left = forMs; left > 0; left -= LOOK_MS) {
        await clock.settle(LOOK_MS);
        await silence.look();
      }
    },
  };
}

describe("a leader whose lease does not end", () => {
  it("is ended when it has proven nothing for as long as a lease", async () => {
    const scene = open();
    for (let second = 0; second < 20; second += 1) {
      await scene.pass(1_000);
      scene.beat();
    }
    expect(scene.endedAtMs()).toBeNull();
    await scene.pass(times.leaseMs + LOOK_MS);
    expect(scene.endedAtMs()).toBe(20_000 + times.leaseMs);
  });

  it("is not ended while the store takes nothing, and not at once when it does again", async () => {
    const scene = open();
    scene.answer(false);
    await scene.pass(30_000);
    scene.answer(true);
    await scene.pass(times.answeringMs);
    scene.beat();
    await scene.pass(2_000);
    expect(scene.endedAtMs()).toBeNull();
  });

  it("is not ended by answers of a time in which nobody looked", async () => {
    const scene = open();
    await scene.pass(3_000);
    await scene.idle(20_000);
    await scene.pass(times.answeringMs);
    expect(scene.endedAtMs()).toBeNull();
    await scene.pass(LOOK_MS);
    expect(scene.endedAtMs()).not.toBeNull();
  });

  it("is not ended if it has proven itself, and only this member has not heard of it", async () => {
    const scene = open();
    for (let second = 0; second < 20; second += 1) {
      await scene.pass(1_000);
      scene.beat(false);
    }
    expect(scene.endedAtMs()).toBeNull();
  });

  it.each([MOVING_IN, MOVED_OUT])("is not ended if it is the command %s", async (process) => {
    const scene = open(process);
    await scene.pass(60_000);
    expect(scene.endedAtMs()).toBeNull();
  });
});
