import { CLUSTER } from "../../test/cluster/chaos/box.ts";
import type { Scene } from "../../test/cluster/chaos/scene.ts";

/** When etcd has said that the leader's key is gone, and that there is one. On the monotonic clock. */
export interface Epochs {
  readonly freeAtMs: readonly number[];
  readonly acquiredAtMs: readonly number[];
}

const KEY = `/fleetgate/${CLUSTER}/leader`;

/** Follows them by a client of its own, from now on. */
export async function followEpochs({ etcd }: Scene): Promise<Epochs> {
  const client = etcd.client();
  const now = await client.range({ keys: { key: KEY } });
  if (now.kind !== "done") throw new Error(now.fault.message);
  const freeAtMs: number[] = [];
  const acquiredAtMs: number[] = [];
  client.watch(
    { prefix: KEY, fromRevision: now.header.revision + 1n },
    {
      onEvents(events) {
        for (const { kind } of events) (kind === "put" ? acquiredAtMs : freeAtMs).push(performance.now());
      },
      onEnded: ({ kind }) => {
        throw new Error(`the watch of ${KEY} has ended: ${kind}`);
      },
    },
  );
  return { freeAtMs, acquiredAtMs };
}
