// The way of a command: MQTT → journal → service → reply, against the bare unary call.
import { join } from "node:path";
import { ownBuild } from "../build.ts";
import { dataFolder, type Gateway } from "../gateway.ts";
import { quantile } from "../quantile.ts";
import { atLeast, atMost, type Findings, row } from "../report.ts";
import type { SectionRun } from "../section-run.ts";
import { ask, openCommands } from "./open.ts";
import type { SendResult, Way } from "./protocol.ts";
import { measureSync, type SyncCost } from "./sync.ts";

export interface CommandOptions {
  readonly robots: number;
  readonly quick: boolean;
}

const CALM_RATE = 50;
const FULL_RATE = 2_000;
/** How much later than a bare call and a sync a reply may come. */
const ALLOWED_MS = { p50: 1.5, p99: 8 } as const;
const WARM_UP_SECONDS = 3;
/** What a rate that is sustained must not be measured by: V8 compiles for it in the first seconds. */
const FULL_WARM_UP_SECONDS = { quick: 3, full: 10 } as const;
/** A rate is sustained when what was asked for came back in this share of its time. */
const SUSTAINED = 0.98;

type CalmWay = Exclude<Way, "other">;

export async function measureCommands(run: SectionRun, options: CommandOptions): Promise<Findings> {
  const { gateways, sender, broker } = await openCommands(run, options.robots, [ownBuild]);
  const [gateway] = gateways;
  const rounds = options.quick ? 1 : 4;
  const seconds = options.quick ? 4 : 15;
  const send = (way: CalmWay, rate: number, forSeconds: number) =>
    ask(sender, { kind: "send", way, rate, seconds: forSeconds });
  for (const way of ["bare", "mqtt", "echo"] as const) await send(way, FULL_RATE / 4, WARM_UP_SECONDS);

  const data = dataFolder(run, gateway.id);
  const paceMs = 1000 / CALM_RATE;
  const syncBusy = await measureSync(join(data, "sync-busy"), 0);
  const syncBefore = await measureSync(join(data, "sync-before"), paceMs);
  const calm: Record<CalmWay, SendResult[]> = { bare: [], mqtt: [], echo: [] };
  for (let round = 0; round < rounds; round += 1) {
    const order: CalmWay[] = round % 2 === 0 ? ["bare", "mqtt", "echo"] : ["echo", "mqtt", "bare"];
    for (const way of order) calm[way].push(await send(way, CALM_RATE, seconds));
  }
  const syncAfter = await measureSync(join(data, "sync-after"), paceMs);

  await send("mqtt", FULL_RATE, FULL_WARM_UP_SECONDS[options.quick ? "quick" : "full"]);
  const before = await costs(gateway);
  const full = await send("mqtt", FULL_RATE, options.quick ? 5 : 30);
  const after = await costs(gateway);
  return findings({
    calm,
    broker,
    sync: mean(syncBefore, syncAfter),
    syncBusy,
    full,
    cpuMicrosPerCommand: (after.cpuMicros - before.cpuMicros) / full.sent,
    commandsASync: full.sent / (after.syncs - before.syncs),
    recordsASync: (after.records - before.records) / (after.syncs - before.syncs),
    repliesDropped: after.repliesDropped - before.repliesDropped,
    rssAnonMb: gateway.child.rssAnonMb(),
  });
}

async function costs(gateway: Gateway) {
  const { components } = await gateway.health();
  const journal = components.commands?.figures ?? {};
  const mqtt = components.mqtt?.figures ?? {};
  return {
    cpuMicros: gateway.child.cpuMicros(),
    records: journal.journal_records ?? Number.NaN,
    syncs: journal.journal_syncs ?? Number.NaN,
    repliesDropped: mqtt.replies_dropped ?? Number.NaN,
  };
}

function mean(a: SyncCost, b: SyncCost): SyncCost {
  const of = (kind: keyof SyncCost) => ({
    p50: (a[kind].p50 + b[kind].p50) / 2,
    p99: (a[kind].p99 + b[kind].p99) / 2,
  });
  return { disk: of("disk"), store: of("store") };
}

interface Seen {
  readonly calm: Readonly<Record<CalmWay, readonly SendResult[]>>;
  readonly broker: string;
  /** At the pace of the commands. */
  readonly sync: SyncCost;
  /** One after the other. */
  readonly syncBusy: SyncCost;
  readonly full: SendResult;
  readonly cpuMicrosPerCommand: number;
  readonly commandsASync: number;
  readonly recordsASync: number;
  /** Replies that the gateway did not publish, as the broker did not acknowledge. */
  readonly repliesDropped: number;
  readonly rssAnonMb: number;
}

function findings(seen: Seen): Findings {
  const { calm, broker, sync, syncBusy, full } = seen;
  const median = (way: CalmWay, of: "p50" | "p99") =>
    quantile(
      calm[way].map(({ latencyMs }) => latencyMs[of]),
      0.5,
    );
  const bare = { p50: median("bare", "p50"), p99: median("bare", "p99") };
  const mqtt = { p50: median("mqtt", "p50"), p99: median("mqtt", "p99") };
  const echo = { p50: median("echo", "p50"), p99: median("echo", "p99") };
  const perSecond = (full.outcomes.succeeded ?? 0) / full.seconds;
  return {
    figures: { bareMs: bare, mqttMs: mqtt, echoMs: echo, syncMs: sync, ...seen, commandsASecond: perSecond },
    faults: [...calm.bare, ...calm.mqtt, ...calm.echo].flatMap(faultsOf),
    reach: [
      atMost(
        "p50 beyond a bare call and a sync of the disk, ms",
        mqtt.p50 - bare.p50 - sync.disk.p50,
        ALLOWED_MS.p50,
      ),
      atMost(
        "p99 beyond a bare call's p99 and a sync, ms",
        mqtt.p99 - bare.p99 - sync.disk.p50,
        ALLOWED_MS.p99,
      ),
      atLeast(`commands done a second, asked for ${FULL_RATE}`, perSecond, SUSTAINED * FULL_RATE),
      atMost("commands without an outcome", full.withoutOutcome, 0),
    ],
    table: [
      row(`one conveyor command, ${CALM_RATE} a second`, "p50 ms", "p99 ms"),
      row("  bare unary call", bare.p50, bare.p99),
      row(`  MQTT → journal → service → reply, through ${broker}`, mqtt.p50, mqtt.p99),
      row("  MQTT alone, there and back", echo.p50, echo.p99),
      row("  sync of the journal's disk (4 kB, fdatasync), as often", sync.disk.p50, sync.disk.p99),
      row("  one record in the journal's store, as often", sync.store.p50, sync.store.p99),
      row("  sync of the disk, one after the other", syncBusy.disk.p50, syncBusy.disk.p99),
      row("  one record in the store, one after the other", syncBusy.store.p50, syncBusy.store.p99),
      row(`${FULL_RATE} commands a second asked for: done a second`, perSecond),
      row("  p50 and p99 ms", full.latencyMs.p50, full.latencyMs.p99),
      row("  commands a sync", seen.commandsASync),
      row("  journal records a sync", seen.recordsASync),
      row("  CPU µs a command", seen.cpuMicrosPerCommand),
      row("  RssAnon MB", seen.rssAnonMb),
      row("  replies that the gateway dropped", seen.repliesDropped),
      `  outcomes: ${JSON.stringify(full.outcomes)}, without: ${full.withoutOutcome}`,
    ].join("\n"),
  };
}

/** At a calm rate, figures of commands that were refused would be figures of refusals. */
export function faultsOf({ sent, outcomes, withoutOutcome }: SendResult): string[] {
  const others = Object.entries(outcomes).filter(([outcome]) => outcome !== "succeeded");
  if (withoutOutcome === 0 && others.length === 0) return [];
  return [`of ${sent} commands ${withoutOutcome} had no outcome, and others ${JSON.stringify(others)}`];
}
