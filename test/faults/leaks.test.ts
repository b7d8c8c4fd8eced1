import { expect, test } from "vitest";
import type { Count } from "../support/census.ts";
import { eachWithItsHarness, type FaultsHarness } from "./faults-harness.ts";

const { open } = eachWithItsHarness();

const endings = (["limit", "unavailable", "unauthenticated", "goaway", "reset"] as const).map(
  (how) => ({ kind: "end-streams", how }) as const,
);

/** Of the harness's plant: missions, batteries, and the conveyors of three carts. */
const STREAMS = 5;

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

  async function round(): Promise<void> {
    for (const fault of endings) {
      const before = fleet.events.length;
      const accepted = wire.accepted();
      simulator().control.apply(fault);
      await fleet.until("the fault was felt", () => {
        const states = fleet.events
          .slice(before)
          .flatMap((event) => (event.kind === "stream" ? event.state : []));
        // A connection that is announced to go is left, new before old: then nothing is lost.
        const isLeft = fault.how === "goaway" && wire.accepted() > accepted;
        return states.includes("cut") || (isLeft && states.length >= STREAMS);
      });
      // A cut that is forgiven leaves nothing to settle.
      await fleet.until("streams are open again", () => simulator().openCalls() >= STREAMS);
      await settled(fleet);
    }
    const cut = fleet.next("stream", ({ state }) => state === "cut");
    wire.cut();
    await cut;
    await settled(fleet);
  }

  await round();
  const once = await leastHeld(harness);
  for (let more = 0; more < 3; more += 1) await round();
  const often = await leastHeld(harness, once);
  const grown = Object.entries(often).filter(([kind, number]) => number > (once[kind] ?? 0));
  expect(grown, JSON.stringify({ once, often })).toEqual([]);
}, 90_000);
