import { setTimeout as wait } from "node:timers/promises";
import type { EtcdClient, Page, RangeQuery } from "../../../src/cluster/etcd/client.ts";
import type { ReadOutcome } from "../../../src/cluster/etcd/outcome.ts";
import { keyPrefix } from "../../../src/cluster/options.ts";
import { tableKey } from "../../../src/cluster/protocol/records.ts";
import type { StoredRecord } from "../../../src/commands/journal/stored-record.ts";
import type { TestEtcd } from "../etcd-harness.ts";
import { CLUSTER } from "./box.ts";

const COMMANDS = keyPrefix(CLUSTER) + tableKey("commands", "");
const LOOK_MS = 500;

/** The records of commands that etcd has, and that do not end within this time. */
export async function openRecords(etcd: TestEtcd, withinMs: number): Promise<readonly string[]> {
  const client = etcd.client();
  const untilMs = performance.now() + withinMs;
  try {
    for (;;) {
      const open = await openNow(client);
      if (open?.length === 0) return open;
      if (performance.now() > untilMs) return open ?? ["etcd, which does not answer"];
      await wait(LOOK_MS);
    }
  } finally {
    client.close();
  }
}

/** Null: etcd does not answer. */
async function openNow(client: EtcdClient): Promise<readonly string[] | null> {
  const open: string[] = [];
  let query: RangeQuery | null = { keys: { prefix: COMMANDS } };
  while (query !== null) {
    const read: ReadOutcome<Page> = await client.range(query);
    if (read.kind !== "done") return null;
    for (const { key, value } of read.value.entries) {
      const record = JSON.parse(Buffer.from(value).toString()) as StoredRecord | null;
      if (record !== null && record.outcome === undefined) open.push(key.slice(COMMANDS.length));
    }
    query = read.value.next;
  }
  return open;
}
