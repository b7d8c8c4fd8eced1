// What a gateway writes to its disk: a disk of flash lasts for so many bytes.
import { join } from "node:path";
import { startGateway } from "../gateway.ts";
import { freePorts, pause, type SectionRun, until } from "../section-run.ts";
import { fleetSection, startService } from "../service.ts";

/**
 * Of a gateway with its defaults: journal, outbox and recorder are on, and mosquitto acknowledges at once.
 */
export interface WrittenFigures {
  readonly robots: number;
  readonly seconds: number;
  readonly eventsASecond: number;
  /** Pages that the kernel has to write for this process (`write_bytes` of /proc/<pid>/io). */
  readonly gigabytesADay: number;
  /** Commits of the outbox's store, each of which is a sync. */
  readonly storeSyncsASecond: number;
}

const ROBOTS = 50;
/** The store takes over from the log every ten minutes: one of those is in it. */
const SECONDS = 660;
const QUICK_SECONDS = 60;
const START_TIMEOUT_MS = 120_000;
/** What a start writes is written. */
const SETTLE_MS = 20_000;
const SECONDS_A_DAY = 86_400;

export async function measureWritten(
  run: SectionRun,
  mqttPort: number,
  { quick }: { readonly quick: boolean },
): Promise<WrittenFigures> {
  const service = await startService(run, {
    folder: join(run.folder, "service"),
    port: await freePorts(),
    args: ["--robots", String(ROBOTS), "--lively"],
  });
  const fleet = { ...fleetSection(service.address), locations: ["plant-1"] };
  const gateway = await startGateway(run, { id: "written", fleet, mqttPort });
  const figures = async () => {
    const { components } = await gateway.health();
    return {
      events: components.mqtt?.figures?.event_messages ?? 0,
      syncs: components.outbox?.figures?.store_syncs ?? 0,
      bytes: gateway.child.writtenBytes(),
    };
  };
  const hasBegun = () =>
    figures().then(
      ({ events }) => events > 0,
      () => false,
    );
  await until("events at the broker", hasBegun, START_TIMEOUT_MS, 200);
  await pause(SETTLE_MS);
  const before = await figures();
  const startedMs = performance.now();
  await pause((quick ? QUICK_SECONDS : SECONDS) * 1_000);
  const after = await figures();
  const seconds = (performance.now() - startedMs) / 1_000;
  await gateway.child.end();
  await service.child.end();
  return {
    robots: ROBOTS,
    seconds,
    eventsASecond: (after.events - before.events) / seconds,
    gigabytesADay: (((after.bytes - before.bytes) / seconds) * SECONDS_A_DAY) / 1e9,
    storeSyncsASecond: (after.syncs - before.syncs) / seconds,
  };
}
