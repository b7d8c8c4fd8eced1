import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { about } from "../../src/fleet/operations/examples.ts";
import { seededChance } from "../../src/simulator/world/chance.ts";
import { startFleetSession } from "../support/fleet-rig.ts";
import type { Figures } from "../support/measured-daemon.ts";
import { startScriptedService } from "../support/scripted-service.ts";
import type { Worst } from "../support/worst-message.ts";
import { openMisbehavingHarness } from "./misbehaving-service-harness.ts";
import { createGoodRobot, misbehavingScript } from "./misbehaving-service-script.ts";

/** A run by hand goes on for so long; the others for a number of messages, whatever the machine. */
const minutes = Number(process.env.FLEETGATE_MISBEHAVE_MINUTES ?? 0);
const seed = Number(process.env.FLEETGATE_MISBEHAVE_SEED ?? 7);
const MESSAGES = 3_000;
/** Messages between two looks at the good robot. */
const ROUND = 200;
/** In a run by hand rounds begin no faster, so that the figures are those of a gateway that is not flooded. */
const ROUND_MS = 500;
const MINUTE_MS = 60_000;
/** In processor time, on any machine. */
const LONGEST_TURN_MS = 500;
const MOST_GROWTH_BYTES = 60_000_000;

const newWorst = (): Worst => ({
  chance: seededChance(seed),
  names: Array.from({ length: 12 }, (_, place) => `odd-${place}`) as [string, ...string[]],
});

const megabytes = (bytes: number | null) => (bytes === null ? null : Math.round(bytes / 1e6));
const milliseconds = (ms: number) => Number(ms.toFixed(1));

function rowOf(figures: Figures) {
  return {
    "RSS MB": megabytes(figures.rssBytes),
    "RssAnon MB": megabytes(figures.rssAnonBytes),
    "heap MB": megabytes(figures.heapBytes),
    "external MB": megabytes(figures.externalBytes),
    "delay p50 ms": milliseconds(figures.delayP50Ms),
    "p99 ms": milliseconds(figures.delayP99Ms),
    "max ms": milliseconds(figures.delayMaxMs),
    "longest turn ms": milliseconds(figures.longestTurnMs),
    "loop busy": Number(figures.utilization.toFixed(2)),
    CPU: Number(figures.cpu.toFixed(2)),
  };
}

const gateway =
  "the gateway lives through a service of which every field is at its worst, and a good robot stays right";
test(gateway, { timeout: (minutes + 6) * MINUTE_MS }, async () => {
  const harness = await openMisbehavingHarness(newWorst());
  const { daemon } = harness;
  const table: Record<string, ReturnType<typeof rowOf>> = {};
  const measure = async (when: string): Promise<Figures> => {
    const figures = await daemon.figures();
    table[when] = rowOf(figures);
    return figures;
  };
  /** Rounds for so long; the time is that of the figures, not a wait for something. */
  const roundsFor = async (ms: number) => {
    for (const endMs = performance.now() + ms; performance.now() < endMs; )
      await Promise.all([harness.round(ROUND), sleep(ROUND_MS)]);
  };

  await measure("start");
  if (minutes > 0) {
    await sleep(MINUTE_MS);
    await measure("idle before");
  }
  for (let sent = 0; sent < MESSAGES / 3; sent += ROUND) await harness.round(ROUND);
  if (minutes > 0) await roundsFor(MINUTE_MS);
  const before = await measure("warmed up");
  let longestTurnMs = 0;
  for (let minute = 1; minute <= minutes; minute += 1) {
    await roundsFor(MINUTE_MS);
    longestTurnMs = Math.max(longestTurnMs, (await measure(`minute ${minute}`)).longestTurnMs);
  }
  for (let sent = 0; sent < (MESSAGES * 2) / 3; sent += ROUND) await harness.round(ROUND);
  const after = await measure("end");
  longestTurnMs = Math.max(longestTurnMs, after.longestTurnMs);
  if (minutes > 0) {
    await sleep(MINUTE_MS);
    await measure("idle after");
    console.table(table);
    console.log(JSON.stringify({ seed, minutes, ...harness.summary() }));
  }
  const fleet = await harness.health("fleet");

  expect(harness.wrong()).toEqual([]);
  expect(daemon.kept).toEqual([]);
  expect(longestTurnMs).toBeLessThan(LONGEST_TURN_MS);
  expect(after.heapBytes - before.heapBytes).toBeLessThan(MOST_GROWTH_BYTES);
  // Each kind of misbehaviour did reach the gateway.
  console.log(fleet);
  expect(await harness.close()).toBe(0);
});

test("every operation ends, whatever the service answers", { timeout: 120_000 }, async () => {
  const script = misbehavingScript({
    worst: newWorst(),
    good: createGoodRobot(),
    subscriptions: () => null,
  });
  const service = await startScriptedService(script);
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-misbehave-"));
  const rig = await startFleetSession(service, {
    cacheDirectory: folder,
    times: { rosterPollMs: null, taskChainPollMs: null },
  });
  await rig.event("battery");
  const endings = new Set<string>();
  for (let time = 0; time < 40; time += 1) {
    for (const [operation, { examples }] of about) {
      const ending = await rig.port.call(operation, JSON.stringify(examples[0]?.request), 10_000);
      endings.add(ending.kind);
      if (ending.kind !== "ok") continue;
      expect(() => JSON.parse(ending.responseJson), operation).not.toThrow();
      expect((ending.missionIds ?? []).every((id) => id.length <= 256)).toBe(true);
    }
  }
  expect([...endings].sort()).toEqual(["ok", "refused", "unknown"]);
  await rig.stop();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});
