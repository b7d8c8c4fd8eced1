import { setTimeout as wait } from "node:timers/promises";
import { CLUSTER } from "../../test/cluster/chaos/box.ts";
import type { ClusterBench } from "./open.ts";
import { send } from "./start.ts";

/** What the whole gateway takes: request, permission, call and outcome. */
export interface Records {
  readonly seconds: number;
  readonly starts: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Records of commands that etcd has taken a second, as a client of it has seen. */
  readonly recordsASecond: number;
}

/** More than is asked, for the pace of a busy machine. */
const RECORDS_A_SECOND = 1_050;
/** A start that waits behind another one has three records: accepted, permitted, ended. */
const ROBOTS = 14;
const RECORDS_PER_START = 3;
/** More would wait for answers than the clients of a box may. */
const MOST_OPEN = 70;
/** V8 compiles meanwhile. */
const WARM_UP_MS = 15_000;

/** Starts at the pace that makes so many records, several for each of a few robots. */
export async function measureRecords(bench: ClusterBench, seconds: number): Promise<Records> {
  const { scene } = bench;
  await scene.whole();
  // It would keep half a million commands in memory.
  scene.log.close();
  const leader = scene.leader();
  const robots = bench.busy.slice(0, ROBOTS);
  const outcomes: Record<string, number> = {};
  const open = new Set<Promise<void>>();
  const records = await countRecords(bench);
  let starts = 0;
  /** @returns the records a second */
  async function work(forMs: number): Promise<number> {
    const [before, beganMs] = [records(), performance.now()];
    const soFarMs = () => performance.now() - beganMs;
    while (soFarMs() < forMs) {
      const due = before + (soFarMs() / 1_000) * RECORDS_A_SECOND;
      while (records() + RECORDS_PER_START * open.size < due && open.size < MOST_OPEN) {
        starts += 1;
        const robotId = robots[starts % robots.length]?.id ?? "";
        const one = send(leader, robotId).then(({ outcome }) => {
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
          open.delete(one);
        });
        open.add(one);
      }
      await wait(2);
    }
    return ((records() - before) * 1_000) / soFarMs();
  }
  await work(WARM_UP_MS);
  const recordsASecond = await work(seconds * 1_000);
  await Promise.all(open);
  return { seconds, starts, outcomes, recordsASecond };
}

/** Counts what is put as a record of a command, from now on. */
async function countRecords({ scene: { etcd } }: ClusterBench): Promise<() => number> {
  const client = etcd.client();
  const prefix = `/fleetgate/${CLUSTER}/table/commands/`;
  const now = await client.range({ keys: { prefix }, limit: 1 });
  if (now.kind !== "done") throw new Error(now.fault.message);
  let count = 0;
  client.watch(
    { prefix, fromRevision: now.header.revision + 1n },
    {
      onEvents(events) {
        count += events.filter(({ kind }) => kind === "put").length;
      },
      onEnded: ({ kind }) => {
        throw new Error(`the watch of ${prefix} has ended: ${kind}`);
      },
    },
  );
  return () => count;
}
