import { expect, it } from "vitest";
import type { StoreEntry } from "../../src/cluster/protocol/cluster-store.ts";
import type { Mirror, MirrorListener } from "../../src/cluster/protocol/mirror.ts";
import { watchPublished } from "../../src/cluster/protocol/presence.ts";
import { BEAT_KEY, LEADER_KEY } from "../../src/cluster/protocol/records.ts";
import { createManualClock } from "../support/manual-clock.ts";

function open() {
  const clock = createManualClock();
  const listeners: MirrorListener[] = [];
  let created = 1;
  let revision = 1;
  const entryOf = (value: string): StoreEntry => ({ key: "", value, created, modified: created });
  const mirror: Pick<Mirror, "get" | "revision" | "subscribe"> = {
    get: (key) => (key === LEADER_KEY ? entryOf("") : undefined),
    revision: () => revision,
    subscribe(listener) {
      listeners.push(listener);
      return () => {};
    },
  };
  const told: number[] = [];
  watchPublished(
    { mirror: mirror as Mirror, clock },
    (beforeMs) => void told.push(clock.monotonicMs() - beforeMs),
  );
  return {
    clock,
    told,
    read(upTo: number) {
      revision = upTo;
    },
    takeover() {
      created += 1;
    },
    beat(runMs: number, isPublished = true) {
      const entry = entryOf(JSON.stringify({ count: 1, runMs, isPublished }));
      for (const listener of listeners) listener(BEAT_KEY, entry, created);
    },
  };
}

it("all that is older than a minute was published when the leader says that nothing waits", () => {
  const { clock, told, beat } = open();
  beat(5_000);
  clock.advance(1_000);
  beat(6_000, false);
  clock.advance(1_000);
  beat(7_000);
  expect(told).toEqual([60_000, 60_000]);
});

it("what the leader has said long ago holds for then, also when it comes only now", () => {
  const { clock, told, beat, takeover } = open();
  beat(5_000);
  clock.advance(300_000);
  beat(6_000);
  expect(told).toEqual([60_000, 359_000]);
  // Another leader counts from where it has found the time.
  takeover();
  beat(1_000);
  expect(told.at(-1)).toBe(60_000);
});

it("what the store had before this process watched it says nothing of now", () => {
  const { clock, told, beat, read } = open();
  read(0);
  beat(5_000);
  read(1);
  clock.advance(1_000);
  beat(5_500);
  expect(told).toEqual([60_000]);
});
