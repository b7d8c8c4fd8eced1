import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { createFiguresTable } from "../support/figures-table.ts";
import { startFleetSession } from "../support/fleet-harness.ts";
import type { Figures } from "../support/measured-daemon.ts";
import { startScriptedService } from "../support/scripted-service.ts";
import type { Worst } from "../support/worst-message.ts";
import { type MisbehavingHarness, openMisbehavingHarness } from "./misbehaving-service-harness.ts";
import { createGoodRobot, misbehavingScript } from "./misbehaving-service-script.ts";

/** A run by hand goes on for so long; the others for a number of messages, whatever the machine. */
const minutes = Number(process.env.FLEETGATE_MISBEHAVE_MINUTES ?? 0);
const seed = Number(process.env.FLEETGATE_MISBEHAVE_SEED ?? 7);
const MESSAGES = 1_500;
/** Messages between two looks at the good robot. */
const ROUND = 250;
/**
 * In a run by hand rounds begin no faster, so that the figures are those of a gateway that is not flooded.
 */
const ROUND_MS = 500;
const MINUTE_MS = 60_000;
/** How often each operation is called. */
const TIMES = 15;
/** A turn may take so many times what fixed work takes there at the same time: usual are 13. */
const LONGEST_TURN = 30;
/** The fixed work takes 8 ms on a quiet machine: a turn of half a second there must be found. */
const PLANTED_TURN = 60;
const MOST_GROWTH_BYTES = 60_000_000;

const newWorst = (): Worst => ({
  random: seededRandom(seed),
  names: Array.from({ length: 12 }, (_, index) => `odd-${index}`) as [string, ...string[]],
});

const gateway =
  "the gateway lives through a service of which every field is at its worst, and a good robot stays right";
test(gateway, { timeout: (minutes + 6) * MINUTE_MS }, async () => {
  const harness = await openMisbehavingHarness(newWorst());
  const table = createFiguresTable();
  const measure = async (when: string): Promise<Figures> => {
    const figures = await harness.daemon.figures();
    table.add(when, figures);
    return figures;
  };
  const roundsUntil = async (isEnough: () => boolean) => {
    while (!isEnough()) await harness.round(ROUND);
  };
  try {
    await measure("start");
    if (minutes > 0) await runIdle(measure, "idle before");
    await roundsUntil(() => harness.sent() >= MESSAGES / 3);
    if (minutes > 0) await runMinute(harness);
    const before = await measure("warmed up");
    let longestTurn = 0;
    for (let minute = 1; minute <= minutes; minute += 1) {
      await runMinute(harness);
      const figures = await measure(`minute ${minute}`);
      longestTurn = Math.max(longestTurn, turnOf(figures));
    }
    // A token is renewed after seconds, and the first answer to that is a bad one.
    const most = harness.sent() + (MESSAGES * 2) / 3;
    await roundsUntil(() => harness.sent() >= most && harness.badTokens() > 0);
    const after = await measure("end");
    if (minutes > 0) await runIdle(measure, "idle after");

    expect(harness.wrong()).toEqual([]);
    expect(harness.daemon.kept).toEqual([]);
    expect(Math.max(longestTurn, turnOf(after))).toBeLessThan(LONGEST_TURN);
    expect(after.heapBytes - before.heapBytes).toBeLessThan(MOST_GROWTH_BYTES);
    expectMisbehaviour(await harness.health("fleet"));
    // By the work before: a machine does the same work in half the time when nothing else is left to do.
    await harness.daemon.occupy(PLANTED_TURN * after.fixedWorkMs);
    const { longestTurnMs } = await measure("planted");
    expect(turnOf({ longestTurnMs, fixedWorkMs: after.fixedWorkMs })).toBeGreaterThan(LONGEST_TURN);
    expect(await harness.close()).toBe(0);
  } finally {
    if (minutes > 0)
      process.stdout.write(`\n${table.text()}${JSON.stringify({ seed, ...harness.summary() })}\n`);
  }
});

/** The longest turn of the event loop, in pieces of the fixed work. */
const turnOf = ({ longestTurnMs, fixedWorkMs }: Pick<Figures, "longestTurnMs" | "fixedWorkMs">) =>
  longestTurnMs / fixedWorkMs;

/**
 * Rounds for a minute. The time is that of the figures, not a wait for something; no round begins before its
 * turn.
 */
async function runMinute(harness: MisbehavingHarness): Promise<void> {
  const endMs = performance.now() + MINUTE_MS;
  while (performance.now() < endMs) await Promise.all([harness.round(ROUND), sleep(ROUND_MS)]);
}

/** What the gateway does in a minute in which the service sends nothing. */
async function runIdle(measure: (when: string) => Promise<Figures>, when: string): Promise<void> {
  await sleep(MINUTE_MS);
  await measure(when);
}

/** Each kind of misbehaviour has reached the gateway, and was counted. */
function expectMisbehaviour(fleet: Readonly<Record<string, number>>): void {
  const counted = [
    "messages_malformed",
    "identifiers_refused",
    "robots_malformed",
    "poll_failures",
    "token_failures",
    "webhooks_received",
    "webhooks_malformed",
    "webhooks_unfit",
    "webhooks_unauthorized",
  ];
  for (const name of counted) expect(fleet[name], name).toBeGreaterThan(0);
}

test("every operation ends, whatever the service answers", { timeout: 120_000 }, async () => {
  const script = misbehavingScript({
    worst: newWorst(),
    good: createGoodRobot(),
    subscriptions: () => null,
  });
  const service = await startScriptedService(script);
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-misbehave-"));
  const fleet = await startFleetSession(service, {
    cacheDirectory: folder,
    times: { rosterPollMs: null, taskChainPollMs: null },
  });
  await fleet.event("battery");
  const endings = new Set<string>();
  for (let time = 0; time < TIMES; time += 1) {
    for (const [operation, { examples }] of createCatalogue()) {
      const ending = await fleet.port.call(operation, JSON.stringify(examples[0]?.request), 10_000);
      endings.add(ending.kind);
      if (ending.kind !== "ok") continue;
      expect(() => JSON.parse(ending.responseJson), operation).not.toThrow();
      expect((ending.missionIds ?? []).every((id) => id.length <= 256)).toBe(true);
    }
  }
  expect([...endings].sort()).toEqual(["ok", "refused", "unknown"]);
  await fleet.stop();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});
