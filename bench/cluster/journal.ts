import { setTimeout as wait } from "node:timers/promises";
import { createEpochWriter } from "../../src/cluster/protocol/epoch-writer.ts";
import { createKnownKeys, createMirror } from "../../src/cluster/protocol/mirror.ts";
import { LEADER_KEY } from "../../src/cluster/protocol/records.ts";
import { createReplicatedStore } from "../../src/cluster/protocol/replicated-store.ts";
import { protocolTimes } from "../../src/cluster/protocol/times.ts";
import { createEtcdStore, startCompaction } from "../../src/cluster/store/etcd-store.ts";
import { openDurableJournal } from "../../src/commands/journal/durable-journal.ts";
import type { Journal } from "../../src/commands/journal/journal.ts";
import { systemClock as clock } from "../../src/platform/clock.ts";
import { silentLog as log } from "../../src/platform/log.ts";
import { createRunningTime } from "../../src/platform/running-time.ts";
import { recordOf } from "../../test/cluster/ended-record.ts";
import type { TestEtcd } from "../../test/cluster/etcd-harness.ts";
import { noDisk } from "../../test/cluster/no-disk.ts";
import type { ClusterBench } from "./open.ts";

/** What a journal on three members of etcd has taken for a while, and how much etcd has kept of it. */
export interface JournalRecords {
  readonly seconds: number;
  /** Records that are durable, a second. */
  readonly recordsASecond: number;
  /** They could not be written. */
  readonly failures: number;
  /** The largest member's database, at first, at its largest, and at the end. */
  readonly bytes: { readonly before: number; readonly most: number; readonly after: number };
  /** Grown in the second half of the time, in half an hour. */
  readonly bytesInHalfAnHour: number;
}

export const HALF_HOUR_SECONDS = 1_800;
/** Of etcd that is not told of another one. */
export const QUOTA_BYTES = 2 * 1024 ** 3;
/** More than is asked, for the pace of a busy machine. */
const RECORDS_A_SECOND = 1_050;
/** A command that waits for nothing is permitted, and ends. */
const RECORDS_PER_COMMAND = 2;
/** As many robots as may be busy. */
const MOST_OPEN = 500;
const LOOK_MS = 1_000;
const PRUNE_MS = 10_000;
const PREFIX = "/bench/journal/";
/** The gateway's own. */
const LIMITS = { keepMs: 7 * 86_400_000, keepCount: 100_000 };
const TIMES = { leaseMs: 5_000, callDeadlineMs: 15_000, evidenceMs: 30_000 };

/** Commands as a leader records them, without the gateway around its journal. */
export async function measureJournal(bench: ClusterBench, seconds: number): Promise<JournalRecords> {
  const { etcd } = bench.scene;
  await bench.scene.whole();
  const ending = new AbortController();
  const journal = await openJournal(etcd, ending.signal);
  const pruning = setInterval(() => void prune(journal), PRUNE_MS);
  const client = etcd.client();
  const sizes: number[] = [];
  async function look(): Promise<void> {
    const found = await Promise.all(etcd.endpoints.map((endpoint) => client.status(endpoint)));
    sizes.push(Math.max(...found.map((each) => (each.kind === "done" ? each.value.storeBytes : 0))));
  }
  await look();
  const looking = setInterval(() => void look(), LOOK_MS);
  const recordsASecond = await write(journal, seconds);
  clearInterval(looking);
  clearInterval(pruning);
  await look();
  ending.abort();
  const half = sizes[Math.floor(sizes.length / 2)] ?? Number.NaN;
  const after = sizes.at(-1) ?? Number.NaN;
  return {
    seconds,
    recordsASecond,
    failures: journal.figures().journalFailures ?? Number.NaN,
    bytes: { before: sizes[0] ?? Number.NaN, most: Math.max(...sizes), after },
    bytesInHalfAnHour: ((after - half) / (seconds / 2)) * HALF_HOUR_SECONDS,
  };
}

async function openJournal(etcd: TestEtcd, ended: AbortSignal): Promise<Journal> {
  const client = etcd.client();
  const store = createEtcdStore({ client, prefix: PREFIX, clock, log });
  const times = protocolTimes(TIMES);
  const mirror = createMirror({ store, clock, retryMs: times.retryMs, disk: noDisk });
  await store.commit({ guard: [], parts: [{ when: [], puts: [{ key: LEADER_KEY, value: "{}" }] }] });
  const read = await store.read(LEADER_KEY);
  if (read === null) throw new Error("etcd does not answer");
  mirror.start(ended);
  await mirror.reached(read.revision);
  const epoch = { clusterId: read.clusterId, revision: read.entries[0]?.created ?? 0 };
  const lost = () => {
    throw new Error("the journal of the bench leads no more");
  };
  startCompaction({ client, clock, isLeading: () => true, revision: mirror.revision, ended });
  const tables = createReplicatedStore({
    ...{ mirror, clock, times, ended },
    keys: createKnownKeys(mirror),
    writer: createEpochWriter({ store, clock, epoch, lost }),
    conditionsOf: () => [],
  });
  return openDurableJournal(tables, LIMITS, createRunningTime(0, clock));
}

async function prune(journal: Journal): Promise<void> {
  while (await journal.prune());
}

/** @returns the records a second */
async function write(journal: Journal, seconds: number): Promise<number> {
  const open = new Set<Promise<void>>();
  let [begun, records] = [0, 0];
  async function one(id: string): Promise<void> {
    const ended = recordOf(id);
    await journal.write({ ...ended, finalAtMs: null, outcome: null });
    await journal.write(ended);
    records += RECORDS_PER_COMMAND;
  }
  const beganMs = performance.now();
  const soFarMs = () => performance.now() - beganMs;
  while (soFarMs() < seconds * 1_000) {
    const due = (soFarMs() / 1_000) * RECORDS_A_SECOND;
    while (begun * RECORDS_PER_COMMAND < due && open.size < MOST_OPEN) {
      begun += 1;
      const writing = one(`command-${begun}`).finally(() => open.delete(writing));
      open.add(writing);
    }
    await wait(2);
  }
  const tookMs = soFarMs();
  const done = records;
  await Promise.all(open);
  return (done * 1_000) / tookMs;
}
