import { expect, it } from "vitest";
import type { ClusterStore, StoreEntry } from "../../src/cluster/protocol/cluster-store.ts";
import { createLeader } from "../../src/cluster/protocol/leader.ts";
import type { Mirror } from "../../src/cluster/protocol/mirror.ts";
import { BEAT_KEY, LEADER_KEY } from "../../src/cluster/protocol/records.ts";
import { protocolTimes } from "../../src/cluster/protocol/times.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

const times = protocolTimes({ leaseMs: 5_000, callDeadlineMs: 15_000, evidenceMs: 30_000 });
const HOUR_MS = 3_600_000;

/** One member leads for a while on a store that keeps what is put, and crashes. */
async function lead(entries: Map<string, StoreEntry>, clock: ManualClock, forMs: number): Promise<number> {
  const process = `process ${entries.size}`;
  let revision = Math.max(0, ...[...entries.values()].map(({ modified }) => modified));
  entries.delete(LEADER_KEY);
  let isDead = false;
  const store: Partial<ClusterStore> = {
    grant: async () => "lease",
    keepAlive: async () => "alive",
    read: async (key) => ({
      clusterId: "a",
      revision,
      entries: [...entries.values()].filter((entry) => entry.key === key),
    }),
    async commit({ parts }) {
      if (isDead) return { kind: "failed" };
      revision += 1;
      for (const { key, value } of parts.flatMap(({ puts }) => puts)) {
        const created = entries.get(key)?.created ?? revision;
        if (value !== null) entries.set(key, { key, value, created, modified: revision });
      }
      return { kind: "done", revision, parts: parts.map(() => true) };
    },
  };
  const mirror = {
    get: (key: string) => entries.get(key),
    revision: () => revision,
    isAhead: () => false,
    subscribe: () => () => {},
  };
  const totals: (() => number)[] = [];
  const leader = createLeader({
    ...{ clock, times, mirror: mirror as unknown as Mirror, store: store as ClusterStore },
    identity: { member: "m", process },
    self: { mayLead: () => true, isPublished: () => true, mustWait: () => false, hasLed: () => true },
    acquired: (_epoch, { totalMs }) => void totals.push(totalMs),
    lost() {},
  });
  revision += 1;
  leader.start();
  await clock.settle(1_000);
  await clock.settle(forMs);
  isDead = true;
  return totals[0]?.() ?? Number.NaN;
}

it("records age by the time for which members have led, and by no member's own", async () => {
  const entries = new Map<string, StoreEntry>();
  const clock = createManualClock();
  expect(await lead(entries, clock, HOUR_MS)).toBeCloseTo(HOUR_MS, -4);
  // Nobody leads for a day, and the machine of the next leader has run for years.
  clock.advance(24 * HOUR_MS);
  expect(await lead(entries, clock, HOUR_MS)).toBeCloseTo(2 * HOUR_MS, -4);
  expect(JSON.parse(entries.get(BEAT_KEY)?.value ?? "null")).toMatchObject({ count: expect.any(Number) });
});
