import { setTimeout as wait } from "node:timers/promises";
import type { Page, RangeQuery } from "../../../src/cluster/etcd/client.ts";
import { keyPrefix } from "../../../src/cluster/options.ts";
import { tableKey } from "../../../src/cluster/protocol/records.ts";
import type { StoredRecord } from "../../../src/commands/journal/stored-record.ts";
import { done, type TestEtcd } from "../etcd-harness.ts";
import { CLUSTER } from "./box.ts";

const COMMANDS = keyPrefix(CLUSTER) + tableKey("commands", "");
const LOOK_MS = 500;

/** The records of commands that etcd has, and that do not end within this time. */
export async function openRecords(etcd: TestEtcd, withinMs: number): Promise<readonly string[]> {
  const client = etcd.client();
  const untilMs = performance.now() + withinMs;
  try {
    for (;;) {
      const open: string[] = [];
      let query: RangeQuery | null = { keys: { prefix: COMMANDS } };
      while (query !== null) {
        const { entries, next }: Page = done(await client.range(query)).value;
        for (const { key, value } of entries) {
          const record = JSON.parse(Buffer.from(value).toString()) as StoredRecord | null;
          if (record !== null && record.outcome === undefined) open.push(key.slice(COMMANDS.length));
        }
        query = next;
      }
      if (open.length === 0 || performance.now() > untilMs) return open;
      await wait(LOOK_MS);
    }
  } finally {
    client.close();
  }
}
