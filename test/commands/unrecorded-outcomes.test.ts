import { describe, expect, it } from "vitest";
import { createRunningTime } from "../../src/platform/running-time.ts";
import { type Store, StoreFailed } from "../../src/platform/store.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { type CommandsHarness, createHarness, OK } from "./commands-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";

const NOT_YET = "this outcome is not on the disk yet: a crash before it is makes the gateway forget it";

/** A gateway on a disk that is full on demand, and that is killed and started again. */
async function onDisk() {
  const clock = createManualClock();
  const disk = createLossyDisk();
  let isFull = false;

  async function start(eventsLostSinceMs?: number): Promise<CommandsHarness> {
    const store: Store = syncing(disk);
    const write: Store["write"] = (changes) =>
      isFull ? Promise.reject(new StoreFailed("the disk is full")) : store.write(changes);
    const limits = { keepMs: 3_600_000, keepCount: 1_000 };
    const journal = openJournalOn({ ...store, write }, limits, createRunningTime(0, clock));
    const lost = eventsLostSinceMs === undefined ? {} : { eventsLostSinceMs };
    return createHarness({ clock, journal, ...lost });
  }

  return {
    clock,
    start,
    fill(is: boolean) {
      isFull = is;
    },
    kill(eventsLostSinceMs?: number) {
      disk.crash();
      return start(eventsLostSinceMs);
    },
  };
}

const go = { robot: "AMR01", to: "A" };
const again = { requestId: "again" };

describe("an outcome that a full disk did not take", () => {
  it("says so, and is the same after a crash once the disk has room", async () => {
    const { clock, start, fill, kill } = await onDisk();
    const first = await start();
    const sent = await first.send("Go", go, again);
    fill(true);
    await first.call(0).answer(OK);
    expect(sent.outcome).toMatchObject({ outcome: "succeeded", message: NOT_YET });
    fill(false);
    await clock.settle(15_000);
    const [told] = first.events;
    const second = await kill(0);
    const asked = await second.send("Go", go, { ...again, startByMs: clock.nowMs() + 10_000 });
    expect(asked.outcome).toMatchObject({ outcome: "succeeded", duplicate: true, message: "" });
    expect(second.calls).toEqual([]);
    // It is told again, since it may have been lost, under the id that it had.
    expect(second.events.map(({ eventId }) => eventId)).toEqual([told?.eventId]);
  });

  it("says so to a sender that asks again, for as long as it is true", async () => {
    const { clock, start, fill } = await onDisk();
    const first = await start();
    await first.send("Go", go, again);
    fill(true);
    await first.call(0).answer(OK);
    const asked = () => first.send("Go", go, { ...again, startByMs: clock.nowMs() + 10_000 });
    expect((await asked()).outcome).toMatchObject({
      outcome: "succeeded",
      duplicate: true,
      message: NOT_YET,
    });
    fill(false);
    await clock.settle(15_000);
    expect((await asked()).outcome).toMatchObject({ outcome: "succeeded", duplicate: true, message: "" });
  });

  it("is written although another command has found out first that the disk has room", async () => {
    const { clock, start, fill, kill } = await onDisk();
    const first = await start();
    await first.send("Go", go, again);
    fill(true);
    await first.call(0).answer(OK);
    fill(false);
    await first.send("Go", { robot: "AMR02", to: "B" });
    expect(first.dispatcher.health().state).toBe("up");
    await clock.settle(15_000);
    const second = await kill();
    const asked = await second.send("Go", go, { ...again, startByMs: clock.nowMs() + 10_000 });
    expect(asked.outcome).toMatchObject({ outcome: "succeeded", duplicate: true });
  });

  it("keeps a stop from being taken as new", async () => {
    const { clock, start, fill, kill } = await onDisk();
    const first = await start();
    fill(true);
    const stop = await first.send("Halt", { robot: "AMR01" }, again);
    await first.call(0).answer(OK);
    expect(stop.outcome).toMatchObject({ outcome: "succeeded", message: NOT_YET });
    fill(false);
    await clock.settle(15_000);
    const second = await kill();
    const asked = await second.send("Halt", { robot: "AMR01" }, again);
    expect(asked.outcome).toMatchObject({ outcome: "succeeded", duplicate: true });
    expect(second.calls).toEqual([]);
  });
});

it("more outcomes than one step of the disk takes are all written", async () => {
  const { clock, start, fill, kill } = await onDisk();
  const first = await start();
  fill(true);
  for (let number = 0; number < 450; number += 1) {
    await first.send("Halt", { robot: "AMR01" }, { requestId: `s${number}` });
    await first.call(number).answer(OK);
  }
  fill(false);
  await clock.settle(15_000);
  const second = await kill();
  for (const number of [0, 200, 449]) {
    const asked = await second.send("Halt", { robot: "AMR01" }, { requestId: `s${number}` });
    expect(asked.outcome).toMatchObject({ outcome: "succeeded", duplicate: true });
  }
});
