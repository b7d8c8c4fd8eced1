import type { Box } from "../../test/cluster/chaos/box.ts";
import { type Percentiles, percentiles, quantile } from "../quantile.ts";
import { pause, until } from "../section-run.ts";
import { alone, type ClusterBench } from "./open.ts";
import { send } from "./start.ts";

/** What a start takes, from its request to its outcome, with the cluster and without. */
export interface Pairs {
  /** Of each block. */
  readonly clusterMs: readonly Percentiles[];
  readonly lmdbMs: readonly Percentiles[];
  /** p50 of the one less p50 of the other, of the blocks of a pair: the median. */
  readonly beyondMs: number;
  /** A transaction with a guard and one put, twice as often, by a client of its own. */
  readonly transactionMs: Percentiles;
}

const PACE_MS = 20;
const PER_BLOCK = 250;
/** In series: the permission, and the outcome. */
const TRANSACTIONS_PER_START = 2;
/** V8 compiles for them. */
const WARM_UPS = 6;
const WARM_UP_PACE_MS = 7;
const READY_MS = 60_000;
/** Where no gateway looks. */
const KEY = "/bench/transaction/";

export async function measurePairs(bench: ClusterBench, pairs: number): Promise<Pairs> {
  const { scene } = bench;
  await scene.whole();
  const other = await scene.another("alone", () => alone);
  other.start();
  await until("the gateway without a cluster", () => other.isWhole(), READY_MS, 100);
  const leader = scene.leader();
  for (const box of [leader, other])
    for (let warm = 0; warm < WARM_UPS; warm += 1) await block(bench, box, WARM_UP_PACE_MS);
  const clusterMs: Percentiles[] = [];
  const lmdbMs: Percentiles[] = [];
  const one = async (box: Box) => void (box === other ? lmdbMs : clusterMs).push(await block(bench, box));
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const box of pair % 2 === 0 ? [leader, other] : [other, leader]) await one(box);
  }
  const transactionMs = await transactions(bench);
  await other.close();
  const beyond = clusterMs.map(({ p50 }, at) => p50 - (lmdbMs[at]?.p50 ?? Number.NaN));
  return { clusterMs, lmdbMs, beyondMs: quantile(beyond, 0.5), transactionMs };
}

/** Starts at a steady pace. */
async function block({ busy }: ClusterBench, box: Box, paceMs = PACE_MS): Promise<Percentiles> {
  const sending: Promise<number>[] = [];
  for (let count = 0; count < PER_BLOCK; count += 1) {
    const robotId = busy[count % busy.length]?.id ?? "";
    sending.push(
      send(box, robotId).then(({ outcome, askedAtMs, toldAtMs }) => {
        if (outcome !== "succeeded") throw new Error(`a start of a block by ${box.name}: ${outcome}`);
        return toldAtMs - askedAtMs;
      }),
    );
    await pause(paceMs);
  }
  return percentiles(await Promise.all(sending));
}

/** As many as the starts of a block need, as often. */
async function transactions({ scene }: ClusterBench): Promise<Percentiles> {
  const client = scene.etcd.client();
  const one = async (count: number) => {
    const askedAtMs = performance.now();
    const put = { kind: "put", key: `${KEY}${count}`, value: Buffer.from(`${count}`) } as const;
    const done = await client.txn({
      compare: [{ key: "/bench/none", target: "create_revision", is: "equal", to: 0n }],
      success: [put],
    });
    if (done.kind !== "done") throw new Error(done.fault.message);
    return performance.now() - askedAtMs;
  };
  const asking: Promise<number>[] = [];
  for (let count = 0; count < PER_BLOCK * TRANSACTIONS_PER_START; count += 1) {
    asking.push(one(count));
    await pause(PACE_MS / TRANSACTIONS_PER_START);
  }
  return percentiles(await Promise.all(asking));
}
