import { afterEach, expect, test } from "vitest";
import { detectionLimits } from "../../../src/domain/detection.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { createPatientClock } from "../../support/patient-clock.ts";
import { startSimulator } from "../../support/simulator.ts";
import { type Hang, openHungWire } from "../hung-wire.ts";

const times = { ...defaultFleetTimes, rosterPollMs: 300, taskChainPollMs: null, pollTimeoutMs: 700 };
const quality = { streamSilenceMs: times.streamSilenceMs, resyncMs: times.resyncMs, holdMs: 0 };
const { roster } = detectionLimits({ ...times, ...quality }, "streams");
if (roster === null) throw new Error("the list is polled here");

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open() {
  const simulator = await startSimulator();
  closers.push(() => simulator.stop());
  const https = await openHungWire(new URL(simulator.endpoints.https).host);
  closers.push(() => https.close());
  const clock = createPatientClock();
  closers.push(async () => clock.close());
  const reportedAtMs: number[] = [];
  const harness = await startFleetSession(simulator.endpoints, {
    httpsUrl: `https://${https.address}`,
    times,
    clock,
    onEvent: ({ kind }) => kind === "roster" && reportedAtMs.push(performance.now()),
  });
  closers.push(() => harness.stop());
  await harness.event("roster", ({ robots }) => robots.length === 6);
  return { clock, simulator, https, harness, reportedAtMs };
}

test.each<Hang>(["kept", "lost"])(
  "polls that hang (%s) make nobody absent; each is given up in its time, and the next one tells who has left",
  async (how) => {
    const { clock, simulator, https, harness, reportedAtMs } = await open();
    https.hang(how);
    const from = harness.events.length;
    // A poll has its time by the machine's clock, and the wait between two by the session's.
    const sinceMs = performance.now();
    const hungAtMs = clock.monotonicMs();
    // What was under way when the wire hung may still come in.
    const told = reportedAtMs.length;
    const failures = harness.figure("poll_failures");
    simulator.control.happen({ kind: "offline", robotId: "cart-02" });
    await harness.until("two polls were given up", () => harness.figure("poll_failures") >= failures + 2);
    expect(performance.now() - sinceMs).toBeGreaterThan(times.pollTimeoutMs);
    expect(clock.monotonicMs() - hungAtMs).toBeLessThan(roster.absentMs + 2 * roster.unansweredMs + 500);
    expect(harness.health().detail).toMatch(
      /a poll fails: (DEADLINE_EXCEEDED: no answer|UNAVAILABLE: no connection(: not done)?) within 700 ms/,
    );
    expect(reportedAtMs.length - told).toBeLessThanOrEqual(1);
    https.goOn();
    const wentOnAtMs = clock.monotonicMs();
    const listed = await harness.next("roster", ({ robots }) => robots.length === 5);
    expect(listed.robots.map(({ robotId }) => robotId)).not.toContain("cart-02");
    // One poll may still hang; the next is answered.
    expect(clock.monotonicMs() - wentOnAtMs).toBeLessThan(roster.unansweredMs + roster.absentMs + 500);
    const short = harness.events
      .slice(from)
      .filter((event) => event.kind === "roster" && event.robots.length < 5);
    expect(short).toEqual([]);
    await harness.until("the polls succeed again", () => harness.health().state === "up");
  },
);
