// What it costs that no event is lost on its way to the broker.
import { join } from "node:path";
import { ownBuild } from "../build.ts";
import { atMost, type Findings, row } from "../report.ts";
import { benchFolder, type SectionRun, startPlantBroker } from "../section-run.ts";
import { measureWritten } from "./day.ts";
import type { OutboxFigures, OutboxRequest } from "./protocol.ts";

const TIMEOUT_MS = 300_000;
const CPU_US = 25;
const ARRIVED_MS = 100;
const GIGABYTES_A_DAY = 2;
const DRAIN_SECONDS = 2;
/** Around the middle of what was seen. */
const MEMORY_MB = 10;
/** One second, and what a broker may take for the last events. */
const BURST_SECONDS = 1.5;

export async function measureOutbox(
  run: SectionRun,
  { quick }: { readonly quick: boolean },
): Promise<Findings> {
  const broker = await startPlantBroker(run);
  const request: OutboxRequest = { folder: run.folder, mqttPort: broker.port, quick };
  const program = run.start("outbox", join(benchFolder, "outbox", "program.js"), [JSON.stringify(request)], {
    nodeOptions: [
      ...ownBuild.nodeOptions,
      ...(run.profiles === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${run.profiles}`]),
    ],
    env: ownBuild.env,
  });
  const figures = await program.next<OutboxFigures>(TIMEOUT_MS);
  await program.end();
  const written = await measureWritten(run, broker.port, { quick });
  const { burst, drain, outage } = figures;
  const { warm, least, most } = outage.rssAnonMb;
  const { least: usedLeast, most: usedMost } = outage.heapUsedMb;
  const lost = outage.events - outage.arrived - outage.told;
  return {
    figures: { ...figures, written },
    faults: outage.dropped === outage.told ? [] : [`${outage.dropped} dropped, and ${outage.told} told of`],
    reach: [
      atMost(
        "CPU that the disk adds to an event, 20,000 in a second, µs",
        burst.cpuUs - burst.memoryCpuUs,
        CPU_US,
      ),
      atMost("20,000 events of a second with the broker, s", burst.seconds, BURST_SECONDS),
      atMost("an event with the broker, p99 ms", burst.arrivedP99Ms, ARRIVED_MS),
      atMost("10,000 events that have waited with the broker, s", drain.seconds, DRAIN_SECONDS),
      atMost("heap in use in an outage, after the warm-up, ± MB", (usedMost - usedLeast) / 2, MEMORY_MB),
      atMost("RssAnon in an outage, after the warm-up, ± MB", (most - least) / 2, MEMORY_MB),
      atMost("written for 50 lively robots, GB a day", written.gigabytesADay, GIGABYTES_A_DAY),
      atMost("events of the outage that neither came nor are told of as dropped", lost, 0),
    ],
    table: [
      row(`${broker.name}: an event`, "on disk", "in memory"),
      row("  CPU of 20,000 in a second, µs", burst.cpuUs, burst.memoryCpuUs),
      row("  CPU while the broker is away, µs", outage.cpuUs, "–"),
      row(
        `an outage with ${outage.events} events, of which ${outage.bound} may wait`,
        "dropped",
        "told",
        "came",
      ),
      row("", outage.dropped, outage.told, outage.arrived),
      row("  RssAnon, MB", "warm", "least", "most"),
      row("", warm, least, most),
      row("  heap in use after a collection, MB", "", usedLeast, usedMost),
      row(
        `${written.robots} lively robots for ${written.seconds.toFixed(0)} s`,
        "GB a day",
        "events/s",
        "syncs/s",
      ),
      row("", written.gigabytesADay, written.eventsASecond, written.storeSyncsASecond),
      `  the file of the store has ${outage.fileMb.toFixed(0)} MB`,
    ].join("\n"),
  };
}
