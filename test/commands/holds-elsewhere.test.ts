import { expect, it } from "vitest";
import type { Journal, StoredHold } from "../../src/commands/journal/journal.ts";
import { ChangedMeanwhile, StoreFailed } from "../../src/platform/store.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { plc, sharedCommands } from "./commands-harness.ts";
import { hold, newRig } from "./holds-harness.ts";

interface Write {
  readonly hold: StoredHold;
  readonly isHeld: boolean;
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

/** A member of a cluster, and the writes of holds that wait for an answer. */
async function newMember(isLeading: boolean) {
  const writes: Write[] = [];
  const journal: Journal = {
    ...createMemoryJournal({ keepMs: 3_600_000, keepCount: 1_000 }),
    writeHold: (held, isHeld) =>
      new Promise((done, failed) => writes.push({ hold: held, isHeld, done, failed })),
  };
  const rig = await newRig({ journal, shared: sharedCommands({ isLeading: () => isLeading }) });
  const { dispatcher, clock } = rig;
  const state = () => dispatcher.holds.holdState("AMR01");
  /** The store answers the newest write. */
  const answer = async (error?: Error) => {
    const last = writes.at(-1);
    if (error === undefined) last?.done();
    else last?.failed(error);
    await clock.settle(0);
  };
  return { rig, writes, state, answer, elsewhere: dispatcher.elsewhere.hold };
}

const refused = new ChangedMeanwhile("another member has written it");

it.each([
  ["a standby", false],
  ["what takes itself for the leader", true],
])(
  "%s writes a hold again that its user begins again, for the leader may have lifted it",
  async (_who, isLeading) => {
    const { rig, writes, state, answer, elsewhere } = await newMember(isLeading);
    elsewhere({ robotId: "AMR01", owner: plc, sinceMs: 1 }, true);
    expect(state()).toMatchObject({ isHeld: true, isStored: true });
    await hold(rig, "AMR01");
    expect(writes).toHaveLength(1);
    expect(writes[0]).toMatchObject({ isHeld: true, hold: { sinceMs: 1 } });
    expect(state()).toMatchObject({ isHeld: true, isStored: false });
    // The leader has lifted it: the standby knows that, when the store refuses.
    elsewhere({ robotId: "AMR01", owner: plc, sinceMs: 0 }, false);
    await answer(refused);
    expect(writes).toHaveLength(2);
    await answer();
    expect(state()).toMatchObject({ isHeld: true, isStored: true });
  },
);

it("a standby writes a hold once a second, however often its user begins it", async () => {
  const { rig, writes, answer, elsewhere } = await newMember(false);
  elsewhere({ robotId: "AMR01", owner: plc, sinceMs: 1 }, true);
  for (let n = 0; n < 100; n += 1) {
    await hold(rig, "AMR01");
    await answer();
    await rig.clock.settle(50);
  }
  expect(writes.length).toBeGreaterThan(3);
  expect(writes.length).toBeLessThan(8);
});

it("a standby that will write a hold again does so at once when the leader has lifted it", async () => {
  const { rig, writes, state, answer, elsewhere } = await newMember(false);
  elsewhere({ robotId: "AMR01", owner: plc, sinceMs: 1 }, true);
  await hold(rig, "AMR01");
  await answer();
  await hold(rig, "AMR01");
  expect(writes).toHaveLength(1);
  elsewhere({ robotId: "AMR01", owner: plc, sinceMs: 0 }, false);
  expect(writes).toHaveLength(2);
  expect(state()).toMatchObject({ isHeld: true, isStored: false });
  await answer();
  expect(state()).toMatchObject({ isHeld: true, isStored: true });
});

it.each([
  ["because the hold was begun again on the standby", refused],
  ["for etcd has no majority", new StoreFailed("the store of the cluster did not take it")],
])("a hold lasts that the store does not lift %s", async (_why, error) => {
  const { rig, writes, state, answer } = await newMember(true);
  await hold(rig, "AMR01");
  await answer();
  await hold(rig, "AMR01", false);
  expect(state().isHeld).toBe(false);
  await answer(error);
  expect(state()).toMatchObject({ isHeld: true, isStored: false });
  expect(rig.events.filter(({ kind }) => kind === "hold")).toMatchObject([
    { to: "held" },
    { to: "free" },
    { to: "held" },
  ]);
  await rig.clock.settle(6_000);
  expect(writes.map(({ isHeld }) => isHeld)).toEqual([true, false, true]);
  await answer();
  expect(state()).toMatchObject({ isHeld: true, isStored: true });
});

it("a hold lasts that is begun on the standby before the leader has written that it is lifted", async () => {
  const { rig, writes, state, answer, elsewhere } = await newMember(true);
  await hold(rig, "AMR01");
  await hold(rig, "AMR01", false);
  // Its own record comes back, and after that another one.
  const [first] = writes;
  elsewhere(first?.hold ?? { robotId: null, owner: plc, sinceMs: 0 }, true);
  expect(state().isHeld).toBe(false);
  elsewhere({ robotId: "AMR01", owner: plc, sinceMs: 5 }, true);
  expect(state()).toMatchObject({ isHeld: true, isStored: false });
  await answer();
  expect(writes.map(({ isHeld }) => isHeld)).toEqual([true, true]);
});

it("a hold lasts that is begun on the standby before the leader lifts it late, while its own write waits", async () => {
  const { rig, writes, state, answer, elsewhere } = await newMember(true);
  await hold(rig, "AMR01");
  await answer();
  await hold(rig, "AMR01", false);
  elsewhere({ robotId: "AMR01", owner: plc, sinceMs: 5 }, true);
  await answer(refused);
  // A second lift within a second is late.
  await hold(rig, "AMR01", false);
  elsewhere({ robotId: "AMR01", owner: plc, sinceMs: 5, againMs: 6 }, true);
  await answer();
  await rig.clock.settle(2_000);
  expect(writes.map(({ isHeld }) => isHeld)).toEqual([true, false, true]);
  expect(state()).toMatchObject({ isHeld: true, isStored: true });
});

it("a late lift is undone by its user, also after the record of the hold has come back", async () => {
  const { rig, writes, state, answer, elsewhere } = await newMember(true);
  for (const isHeld of [true, false, true]) {
    await hold(rig, "AMR01", isHeld);
    await answer();
  }
  await hold(rig, "AMR01", false);
  const own = writes.at(-1)?.hold ?? expect.fail("nothing was written");
  elsewhere({ ...own }, true);
  await hold(rig, "AMR01");
  await answer();
  await rig.clock.settle(2_000);
  expect(writes.map(({ isHeld }) => isHeld)).toEqual([true, false, true, true]);
  expect(state()).toMatchObject({ isHeld: true, isStored: true });
});
