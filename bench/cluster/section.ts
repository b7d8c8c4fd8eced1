// Two boxes that are one gateway: takeovers, commands, stops and records, with three members of etcd.
import { quantile } from "../quantile.ts";
import { atLeast, atMost, type Findings, type Reach, row } from "../report.ts";
import type { SectionRun } from "../section-run.ts";
import { followEpochs } from "./epochs.ts";
import { HALF_HOUR_SECONDS, type JournalRecords, measureJournal, QUOTA_BYTES } from "./journal.ts";
import { type Load, startLoad } from "./load.ts";
import { type LoadedModules, modulesWithoutCluster } from "./modules.ts";
import { openClusterBench } from "./open.ts";
import { measurePairs, type Pairs } from "./pairs.ts";
import { measureRecords, type Records } from "./records.ts";
import type { Sent } from "./start.ts";
import { measureStops, type StopTimes } from "./stops.ts";
import { type Ending, FAULT_MS, type Takeover, takeOver } from "./takeover.ts";

export interface ClusterOptions {
  /** Takeovers of each kind; null: the usual number. */
  readonly rounds: number | null;
  /** Of the journal's records; null: the usual time. */
  readonly seconds: number | null;
  readonly quick: boolean;
}

const endings: ReadonlyArray<readonly [Ending, string]> = [
  ["kill", "kill -9"],
  ["together", "kill -9 with etcd's leader"],
  ["handover", "handover"],
];
const MOST_MS = { kill: 6_000, together: 9_000, handover: 1_000 } as const;
const MOST_AFTER_ACQUISITION_MS = 1_000;
const MOST_BEYOND_MS = 10;
const LEAST_SUCCEEDED = 0.99;
const MOST_STOP_MS = 2_000;
const LEAST_RECORDS = 1_000;
/** Of etcd's quota: the alarm is raised there. */
const ALARM = 0.6;
const STARTS_A_SECOND = 50;
/** Then the takeover that follows has a long journal. */
const RECORD_SECONDS = 60;
const MEGABYTE = 1_000_000;

export async function measureCluster(
  run: SectionRun,
  { rounds, seconds, quick }: ClusterOptions,
): Promise<Findings> {
  const bench = await openClusterBench(run);
  const modules = await modulesWithoutCluster(run, bench.scene.simulator.endpoints);
  const pairs = await measurePairs(bench, quick ? 2 : 10);
  const epochs = await followEpochs(bench.scene);
  const load = startLoad(bench, STARTS_A_SECOND);
  const takeovers: Takeover[] = [];
  for (let round = 0; round < (rounds ?? (quick ? 2 : 20)); round += 1) {
    for (const [ending] of endings) takeovers.push(await takeOver(bench, load, epochs, ending));
  }
  await load.stop();
  const stops = await measureStops(bench);
  const records = await measureRecords(bench, RECORD_SECONDS);
  const journal = await measureJournal(bench, seconds ?? (quick ? 20 : 120));
  const last = startLoad(bench, STARTS_A_SECOND);
  const full = await takeOver(bench, last, epochs, "kill");
  await last.stop();
  return findings({
    modules,
    pairs,
    takeovers,
    full,
    starts: countOf(load, takeovers),
    stops,
    records,
    journal,
  });
}

/** Starts that were asked for further than 10 s from a fault. */
interface StartCount {
  readonly apart: number;
  readonly succeeded: number;
  /** Of those that did not. */
  readonly others: Readonly<Record<string, number>>;
  /** Of those that did not, for robots that had a start under way at a fault. */
  readonly inDoubt: number;
  /** Of all: unknown, though no fault came between question and outcome. */
  readonly unknownNotInFlight: number;
}

function countOf({ told }: Load, takeovers: readonly Takeover[]): StartCount {
  const isApart = ({ askedAtMs }: Sent) =>
    takeovers.every(({ struckAtMs }) => Math.abs(askedAtMs - struckAtMs) > FAULT_MS);
  const wasInFlight = ({ askedAtMs, toldAtMs }: Sent) =>
    takeovers.some(({ struckAtMs }) => askedAtMs <= struckAtMs && struckAtMs <= toldAtMs);
  const apart = told.filter(isApart);
  const failed = apart.filter(({ outcome }) => outcome !== "succeeded");
  const others: Record<string, number> = {};
  for (const { outcome } of failed) others[outcome] = (others[outcome] ?? 0) + 1;
  const doubts = new Set(told.filter(wasInFlight).map(({ robotId }) => robotId));
  return {
    apart: apart.length,
    succeeded: apart.length - failed.length,
    others,
    inDoubt: failed.filter(({ robotId }) => doubts.has(robotId)).length,
    unknownNotInFlight: told.filter((sent) => sent.outcome.startsWith("unknown") && !wasInFlight(sent))
      .length,
  };
}

interface Seen {
  readonly modules: LoadedModules;
  readonly pairs: Pairs;
  readonly takeovers: readonly Takeover[];
  /** With all that the journal has by then. */
  readonly full: Takeover;
  readonly starts: StartCount;
  readonly stops: readonly StopTimes[];
  readonly records: Records;
  readonly journal: JournalRecords;
}

function findings(seen: Seen): Findings {
  const { modules, pairs, takeovers, starts, stops, journal } = seen;
  return {
    figures: seen,
    faults: [],
    reach: [
      ...takeoverReach(takeovers),
      atMost(
        "the same with a long journal, ms",
        seen.full.allMs - (seen.full.acquiredMs ?? Number.NaN),
        MOST_AFTER_ACQUISITION_MS,
      ),
      atMost("a start's p50 beyond lmdb's, ms, median of the pairs", pairs.beyondMs, MOST_BEYOND_MS),
      atLeast(
        "share of starts that succeed, 10 s from a fault",
        starts.succeeded / starts.apart,
        LEAST_SUCCEEDED,
      ),
      atMost("unknown ones that were not in flight", starts.unknownNotInFlight, 0),
      ...stops.map(({ what, tookMs, lost }) =>
        atMost(
          `stop, ${what}, ms, slowest`,
          lost > 0 ? Number.POSITIVE_INFINITY : Math.max(...tookMs),
          MOST_STOP_MS,
        ),
      ),
      atLeast("records a second that the journal takes", journal.recordsASecond, LEAST_RECORDS),
      atMost("records that it did not take", journal.failures, 0),
      atMost(
        "etcd after half an hour of them, MB, of its alarm's",
        bytesAfter(journal) / MEGABYTE,
        (ALARM * QUOTA_BYTES) / MEGABYTE,
      ),
      atMost("files of a cluster that a gateway without one loads", modules.ofCluster.length, 0),
    ],
    table: tableOf(seen),
  };
}

/** As it grows, if it was not measured for so long. */
function bytesAfter({ seconds, bytes, bytesInHalfAnHour }: JournalRecords): number {
  if (seconds >= HALF_HOUR_SECONDS) return bytes.most;
  return bytes.before + Math.max(0, bytesInHalfAnHour);
}

function takeoverReach(takeovers: readonly Takeover[]): readonly Reach[] {
  const figure = (ending: Ending, of: (each: Takeover) => number) =>
    quantile(takeovers.filter((each) => each.ending === ending).map(of), 0.99);
  return [
    atMost("kill -9 to the first start that succeeds, ms, p99", figure("kill", firstOf), MOST_MS.kill),
    atMost("the same with etcd's leader, ms, p99", figure("together", firstOf), MOST_MS.together),
    atMost("handover: no start succeeds for, ms, longest", longest(takeovers), MOST_MS.handover),
    atMost(
      "acquisition to the last robot that is not in doubt, ms, slowest",
      Math.max(...takeovers.map(({ allMs, acquiredMs }) => allMs - (acquiredMs ?? Number.NaN))),
      MOST_AFTER_ACQUISITION_MS,
    ),
  ];
}

const firstOf = ({ firstMs }: Takeover) => firstMs;
const longest = (takeovers: readonly Takeover[]) =>
  Math.max(...takeovers.filter(({ ending }) => ending === "handover").map(({ gapMs }) => gapMs));

function tableOf({ modules, pairs, takeovers, full, starts, stops, records, journal }: Seen): string {
  const lines = [row("takeover, from the fault on, ms", "p50", "p99", "slowest")];
  for (const [ending, name] of endings) {
    const own = takeovers.filter((each) => each.ending === ending);
    const stage = (what: string, of: (each: Takeover) => number | null) => {
      const times = own.map(of).filter((each) => each !== null);
      lines.push(row(`  ${name}: ${what}`, quantile(times, 0.5), quantile(times, 0.99), Math.max(...times)));
    };
    stage("etcd has removed the leader's key", ({ freeMs }) => freeMs);
    stage("the successor has acquired it", ({ acquiredMs }) => acquiredMs);
    stage("it has all that was recorded", ({ leadsMs }) => leadsMs);
    stage("a start has succeeded", firstOf);
    stage("each robot that is not in doubt has taken one", ({ allMs }) => allMs);
    stage("between two starts that succeeded, longest", ({ gapMs }) => gapMs);
  }
  const middle = (blocks: Pairs["lmdbMs"], of: "p50" | "p99") =>
    quantile(
      blocks.map((each) => each[of]),
      0.5,
    );
  const { transactionMs } = pairs;
  return [
    ...lines,
    row(`one start, ${STARTS_A_SECOND} a second, ms`, "p50", "p99"),
    row("  with the cluster", middle(pairs.clusterMs, "p50"), middle(pairs.clusterMs, "p99")),
    row("  with lmdb", middle(pairs.lmdbMs, "p50"), middle(pairs.lmdbMs, "p99")),
    row("  one transaction of etcd, 100 a second: a start has two", transactionMs.p50, transactionMs.p99),
    row("starts further than 10 s from a fault", starts.apart),
    row("  those that did not succeed, for robots that had been in doubt", starts.inDoubt),
    `  others than succeeded: ${JSON.stringify(starts.others)}`,
    row("stop, from a box to the service, ms", "p50", "slowest", "lost"),
    ...stops.map(({ what, tookMs, lost }) =>
      row(`  ${what}`, quantile(tookMs, 0.5), Math.max(...tookMs), lost),
    ),
    row("records a second, of the journal alone", journal.recordsASecond),
    row("  for, s", journal.seconds),
    row(
      "  etcd's database before, at its largest, after, MB",
      journal.bytes.before / MEGABYTE,
      journal.bytes.most / MEGABYTE,
      journal.bytes.after / MEGABYTE,
    ),
    row("  it grows in half an hour by, MB", journal.bytesInHalfAnHour / MEGABYTE),
    row("records a second, of the whole gateway", records.recordsASecond),
    `  outcomes of ${records.starts} starts: ${JSON.stringify(records.outcomes)}`,
    row("kill -9 then, from the fault on, ms: acquired", full.acquiredMs ?? Number.NaN),
    row("  a start has succeeded", full.firstMs),
    row("  each robot that is not in doubt has taken one", full.allMs),
    row("files that a gateway without a cluster loads", modules.files),
    ...modules.ofCluster.map((path) => `  of a cluster: ${path}`),
  ].join("\n");
}
