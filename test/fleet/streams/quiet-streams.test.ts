import { afterEach, expect, test } from "vitest";
import type { Batch } from "../../../src/contracts/link.ts";
import { detectionLimits, QUALITY_TICK_MS } from "../../../src/domain/detection.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { every } from "../../../src/platform/clock.ts";
import { createLog } from "../../../src/platform/log.ts";
import { type FleetHarness, startFleetSession } from "../../support/fleet-harness.ts";
import { newFleetState } from "../../support/fleet-state.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { pass } from "../../support/paced-time.ts";
import { type QuietProxy, startQuietProxy } from "../../support/quiet-proxy.ts";
import { startSimulator } from "../../support/simulator.ts";

const ROBOTS = 50;
const QUIET_MS = 30_000;
const STEP_MS = 100;
const limits = detectionLimits({ ...defaultFleetTimes, holdMs: 300_000 }, "streams");

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Drop {
  readonly what: string;
  readonly robotId: string;
  readonly atMs: number;
}

interface Plant {
  readonly clock: ManualClock;
  readonly fleet: FleetHarness;
  readonly proxy: QuietProxy;
  /** Values and robots that were told to be anything but good. */
  readonly drops: readonly Drop[];
  readonly lines: ReadonlyArray<Record<string, unknown>>;
  /** Lets time pass, in steps. */
  pass(durationMs: number, isOver?: () => boolean): Promise<number>;
}

/** Robots that stand, by a proxy that ends quiet streams, with the product's own times: all are good. */
async function openPlant(): Promise<Plant> {
  const clock = createManualClock(Date.now());
  const simulator = await startSimulator({
    clock,
    timeFactor: 1,
    scenario: { kind: "generated", robots: ROBOTS },
    lively: "none",
  });
  closers.push(() => simulator.stop());
  const proxy = await startQuietProxy(simulator.endpoints, QUIET_MS, clock);
  closers.push(() => proxy.close());
  const state = newFleetState(clock, { maxRobots: ROBOTS });
  const drops: Drop[] = [];
  let isWatched = false;
  const note = ({ changes }: Batch) => {
    for (const change of changes) {
      const quality = "observed" in change ? change.observed.quality : "quality" in change && change.quality;
      if (isWatched && "robotId" in change && quality !== "good")
        drops.push({
          what: `${change.kind}: ${quality}`,
          robotId: change.robotId,
          atMs: clock.monotonicMs(),
        });
    }
  };
  const lines: Array<Record<string, unknown>> = [];
  let drawn = 0;
  const fleet = await startFleetSession(simulator.endpoints, {
    grpcAddress: proxy.address,
    clock,
    random: () => {
      drawn += 1;
      return (drawn * 0.618_033_988_75) % 1;
    },
    log: createLog("info", { write: (line) => void lines.push(JSON.parse(line)) }),
    onEvent: (update) => note(state.apply(update)),
  });
  closers.push(() => fleet.stop());
  const ticking = new AbortController();
  closers.push(async () => ticking.abort());
  every(clock, QUALITY_TICK_MS, ticking.signal, () => note(state.tick()));
  const roundTrip = () => fleet.port.call("ListWebhooks", "{}", 5_000);
  const goOn = (durationMs: number, isOver?: () => boolean) =>
    pass(clock, durationMs, { stepMs: STEP_MS, roundTrip }, isOver);
  const allGood = () => {
    const robots = state.robots();
    return robots.length === ROBOTS && robots.every(({ quality }) => quality === "good");
  };
  await goOn(20_000, () => allGood() && fleet.health().state === "up");
  expect(allGood()).toBe(true);
  isWatched = true;
  return { clock, fleet, proxy, drops, lines, pass: goOn };
}

const linkDowns = ({ events }: FleetHarness) =>
  events.filter((event) => event.kind === "link" && event.state === "down").length;

test("a proxy that ends quiet streams takes no value of a robot that stands, until its limit is known", async () => {
  const { fleet, proxy, drops, lines, pass: letPass } = await openPlant();
  const downsBefore = linkDowns(fleet);
  const warnings = () => lines.filter(({ level }) => level === 40);
  await letPass(300_000, () => warnings().length > 0);
  expect(warnings()).toEqual([expect.objectContaining({ quietMs: expect.any(Number), resyncMs: 34_000 })]);
  expect(fleet.health().detail).toContain("quiet for 30 s");
  // Streams that were older then are cut once more.
  await letPass(QUIET_MS);
  const ended = proxy.ended();
  await letPass(100_000);
  expect(proxy.ended()).toBe(ended);
  expect(fleet.figure("streams_cut")).toBeGreaterThan(2);
  // The proxy may end a call whose successor serves already: that cuts no stream.
  expect(fleet.figure("streams_cut")).toBeLessThanOrEqual(ended);
  expect(drops).toEqual([]);
  expect(warnings()).toHaveLength(1);
  expect(linkDowns(fleet)).toBe(downsBefore);
}, 120_000);

test("a stream that is cut and does not come back is forgiven no longer than check and the documentation say", async () => {
  const { clock, fleet, proxy, drops, pass: letPass } = await openPlant();
  const eventsBefore = fleet.events.length;
  const cutAtMs = new Map<string, number>();
  proxy.shut();
  await letPass(60_000, () => {
    for (const event of fleet.events.slice(eventsBefore)) {
      if (event.kind !== "stream" || event.state !== "cut" || cutAtMs.has(event.stream)) continue;
      cutAtMs.set(event.stream, clock.monotonicMs());
    }
    return fleet.figure("streams_open") === 0;
  });
  await letPass(limits.streamCutMs);
  const firstCutMs = Math.min(...cutAtMs.values());
  const told = (what: string) => drops.filter((drop) => drop.what === what);
  expect(new Set(told("robot: stale").map(({ robotId }) => robotId)).size).toBe(ROBOTS);
  expect(new Set(told("robot: offline").map(({ robotId }) => robotId)).size).toBe(ROBOTS);
  const lateMs = Math.min(...told("mission: stale").map(({ atMs }) => atMs)) - firstCutMs;
  expect(lateMs).toBeLessThanOrEqual(limits.streamCutMs + STEP_MS);
  expect(lateMs).toBeGreaterThan(limits.streamCutMs - 2 * QUALITY_TICK_MS - STEP_MS);
}, 120_000);
