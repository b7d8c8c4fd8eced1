import { expect, it } from "vitest";
import { createOpenWriter } from "../../src/cluster/protocol/epoch-writer.ts";
import { createKnownKeys, createMirror } from "../../src/cluster/protocol/mirror.ts";
import { createReplicatedStore } from "../../src/cluster/protocol/replicated-store.ts";
import { createEtcdStore } from "../../src/cluster/store/etcd-store.ts";
import { openDurableJournal } from "../../src/commands/journal/durable-journal.ts";
import { systemClock as clock } from "../../src/platform/clock.ts";
import { silentLog as log } from "../../src/platform/log.ts";
import { createRunningTime } from "../../src/platform/running-time.ts";
import { recordOf } from "./ended-record.ts";
import { hasEtcd, startEtcd } from "./etcd-harness.ts";
import { noDisk } from "./no-disk.ts";

it.skipIf(!hasEtcd)("a journal in etcd is pruned in steps that etcd takes", async () => {
  const etcd = await startEtcd();
  const ending = new AbortController();
  const store = createEtcdStore({ client: etcd.client(), prefix: "/pruning/", clock, log });
  const mirror = createMirror({ store, clock, retryMs: 250, disk: noDisk });
  mirror.start(ending.signal);
  const tables = createReplicatedStore({
    ...{ mirror, clock, ended: ending.signal },
    keys: createKnownKeys(mirror),
    writer: createOpenWriter({ store, clock }),
    times: { permissionMs: 2_000, retryMs: 250 },
    conditionsOf: () => [],
  });
  const limits = { keepMs: 86_400_000, keepCount: 20 };
  const journal = openDurableJournal(tables, limits, createRunningTime(0, clock));
  const ids = Array.from({ length: 300 }, (_, n) => `job-${n}`);
  for (let from = 0; from < ids.length; from += 50)
    await Promise.all(ids.slice(from, from + 50).map((id) => journal.write(recordOf(id))));
  while (await journal.prune());
  expect(journal.figures()).toMatchObject({ journalEntries: 20, journalFailures: 0 });
  expect(ids.filter((id) => journal.find(id) !== undefined)).toHaveLength(20);
  ending.abort();
  await etcd.close();
});
