import { expect, it } from "vitest";
import { createTimeSlices } from "../../../src/northbound/opcua/node-opcua/time-slices.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { countByTurn } from "../../support/turn-counts.ts";

it("ends a slice after its steps, however quick they are, and after its time, however few they are", async () => {
  const clock = createManualClock();
  const slices = createTimeSlices(clock);
  async function countsOf(steps: number, msAStep: number, mostSteps?: number): Promise<readonly number[]> {
    using turns = countByTurn();
    const pause = slices.begin(mostSteps);
    for (let step = 0; step < steps; step += 1) {
      await pause();
      turns.note();
      clock.advance(msAStep);
    }
    return turns.counts;
  }
  expect(await countsOf(10, 0, 3)).toEqual([3, 3, 3, 1]);
  expect(await countsOf(6, 4, 3)).toEqual([2, 2, 2]);
  expect(await countsOf(10, 0)).toEqual([10]);
});
