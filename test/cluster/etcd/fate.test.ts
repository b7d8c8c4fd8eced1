import { status } from "@grpc/grpc-js";
import { afterEach, expect, it } from "vitest";
import { createEtcdClient, type EtcdClient } from "../../../src/cluster/etcd/client.ts";
import type { WatchEnd, WatchEvent } from "../../../src/cluster/etcd/watch.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { startScriptedEtcd } from "./scripted-etcd.ts";

const closers: Array<() => void> = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

async function start(...script: Parameters<typeof startScriptedEtcd>) {
  const etcd = await startScriptedEtcd(...script);
  closers.push(etcd.close);
  return etcd;
}

function connect(...endpoints: string[]): EtcdClient {
  const client = createEtcdClient({
    endpoints,
    tls: null,
    deadlineMs: 2_000,
    clock: systemClock,
    random: () => 0,
    log: silentLog,
  });
  closers.push(client.close);
  return client;
}

const put = (client: EtcdClient) => client.put("a", new Uint8Array(1));

it.each([
  [status.INVALID_ARGUMENT, "etcdserver: duplicate key given in txn request", "failed"],
  [status.PERMISSION_DENIED, "etcdserver: permission denied", "failed"],
  [status.NOT_FOUND, "etcdserver: requested lease not found", "failed"],
  [status.UNAVAILABLE, "etcdserver: no leader", "failed"],
  // What etcd says when it has proposed the write.
  [status.UNAVAILABLE, "etcdserver: request timed out, possibly due to previous leader failure", "unsure"],
  [status.UNAVAILABLE, "etcdserver: server stopped", "unsure"],
  [status.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded", "unsure"],
  [status.UNKNOWN, "raft proposal dropped", "unsure"],
  // What a balancer between says, or a library.
  [status.PERMISSION_DENIED, "Received HTTP status code 403", "unsure"],
  [status.INVALID_ARGUMENT, "", "unsure"],
] as const)("a write that ends with %s, %s: %s %s, and is sent once", async (code, details, kind) => {
  const etcd = await start();
  etcd.refuse(code, details);
  expect(await put(connect(etcd.endpoint))).toMatchObject({ kind, fault: { endpoint: etcd.endpoint } });
  expect(etcd.transactions()).toBe(1);
});

it("a write that a member surely did not take goes to the next one; one that it may have taken does not", async () => {
  const first = await start();
  const second = await start();
  first.refuse(status.UNAVAILABLE, "etcdserver: no leader");
  expect(await put(connect(first.endpoint, second.endpoint))).toMatchObject({ endpoint: second.endpoint });
  expect([first.transactions(), second.transactions()]).toEqual([1, 1]);

  first.refuse(status.UNAVAILABLE, "etcdserver: request timed out");
  const client = connect(first.endpoint, second.endpoint);
  expect(await put(client)).toMatchObject({ kind: "unsure" });
  expect([first.transactions(), second.transactions()]).toEqual([2, 1]);
  // The next call begins with the member that did not fail.
  expect(await put(client)).toMatchObject({ kind: "done", endpoint: second.endpoint });
});

it("a watch believes no etcd that repeats events, or answers ahead of them", async () => {
  const header = (revision: bigint, clusterId = 1n) => ({ clusterId, revision });
  const event = (...revisions: bigint[]) => ({
    header: header(20n),
    events: revisions.map((modRevision) => ({ kv: { key: Buffer.from("k"), modRevision } })),
  });
  const etcd = await start([
    [
      { header: header(9n), created: true },
      // 3.4.23 answers a progress request at once, although events are still on their way.
      { header: header(30n), watchId: -1n },
      event(5n, 5n, 6n),
      // 3.4.23 may send what a slow watcher has had.
      event(6n, 7n),
      // The first part of a message whose second part never comes.
      { ...event(8n), fragment: true },
    ],
    [
      { header: header(9n), created: true },
      event(8n, 9n),
      // That one comes in order.
      { header: header(12n) },
    ],
    [{ header: header(2n, 2n), created: true }],
  ]);
  const events: WatchEvent[] = [];
  const end = await new Promise<WatchEnd>((resolve) => {
    const handlers = {
      onEvents: (batch: readonly WatchEvent[]) => void events.push(...batch),
      onEnded: resolve,
    };
    connect(etcd.endpoint).watch({ prefix: "k", fromRevision: 4n }, handlers);
  });
  expect(events.map(({ revision }) => revision)).toEqual([5n, 5n, 6n, 7n, 8n, 9n]);
  expect(etcd.watches).toEqual([4n, 8n, 13n]);
  expect(end).toMatchObject({ kind: "refused", fault: { code: "OTHER_CLUSTER", endpoint: etcd.endpoint } });
});
