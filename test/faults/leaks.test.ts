import { expect, test } from "vitest";
import type { Count } from "../support/census.ts";
import { eachWithItsHarness, type FaultsHarness } from "./faults-harness.ts";

const { open } = eachWithItsHarness();

const endings = (["limit", "unavailable", "unauthenticated", "goaway", "reset"] as const).map(
  (how) => ({ kind: "end-streams", how }) as const,
);

const LOOKS = 40;
const MOST_LOOKS = 400;

/**
 * What is held at the least in a while, looked at until it is no more than `limit` in anything: what is
 * under way for a moment goes by, however slow the machine is, and what leaked stays.
 */
async function leastHeld({ held }: FaultsHarness, limit: Count = {}): Promise<Count> {
  const least: Record<string, number> = {};
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    for (const [kind, number] of Object.entries(await held())) {
      least[kind] = Math.min(least[kind] ?? Number.POSITIVE_INFINITY, number);
    }
    const isMore = Object.entries(least).some(([kind, number]) => number > (limit[kind] ?? number));
    if (look >= LOOKS && !isMore) break;
    // Time, for what leaked differs from what is under way by nothing else.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return least;
}

test("after many losses of every kind no more is held than after the first ones", async () => {
  const harness = await open();
  const { start, settled, simulator, wire } = harness;
  // Collecting garbage again and again stops the world: that is no silence.
  const fleet = await start({ times: { streamSilenceMs: 20_000 } });

  /** Cuts, and waits until each stream was open again since: the next cut meets all of them. */
  async function interrupt(cut: () => void): Promise<void> {
    const before = fleet.events.length;
    cut();
    await fleet.until("every stream has come again", () => {
      const live = fleet.events
        .slice(before)
        .flatMap((event) => (event.kind === "stream" && event.state === "live" ? [event.stream] : []));
      return new Set(live).size === fleet.figure("streams_wanted");
    });
    await settled(fleet);
  }

  async function round(): Promise<void> {
    for (const fault of endings) await interrupt(() => simulator().control.apply(fault));
    await interrupt(wire.cut);
  }

  await round();
  const once = await leastHeld(harness);
  for (let more = 0; more < 3; more += 1) await round();
  const often = await leastHeld(harness, once);
  const grown = Object.entries(often).filter(([kind, number]) => number > (once[kind] ?? 0));
  expect(grown, JSON.stringify({ once, often })).toEqual([]);
}, 90_000);
