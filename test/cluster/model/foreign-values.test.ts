import { describe, expect, it } from "vitest";
import { soundParts, World } from "./world.ts";

/** Keys of the gateway, into which a person or another program has written. */
const keys = ["leader", "led", "left", "beat", "stop/r1", "member/m0", "member/m1", "client/x"];
const records = ["table/order/1", "table/holds/garbage", 'table/holds/["r1","opcua","plc"]'];
const values = ["not json", "7", "[]"];
const never = () => false;

/**
 * Two members that work, and what becomes of a start after somebody has written into the store, and perhaps
 * removed it when both members have ended.
 */
async function startAfter(key: string, value: string, isRemoved = false) {
  const world = new World(soundParts, 1);
  const { sim, store, truth } = world;
  world.faults = { lossy: 0, latestMs: 1_000, watchLagMs: 5, faulty: 0 };
  await sim.play(5_000, never);
  const put = (text: string | null) =>
    store.apply("somebody", { guard: [], parts: [{ when: [], puts: [{ key, value: text }] }] });
  put(value);
  // The successor of a leader reads it, too.
  await sim.play(15_000, never);
  world.kill(0, 1_000);
  await sim.play(30_000, never);
  world.kill(1, 1_000);
  await sim.play(60_000, never);
  if (isRemoved) {
    put(null);
    await sim.play(70_000, never);
  }
  const order = { id: "c1", operation: "Skip", robotId: "r2" };
  world.submit(0, order, 10_000);
  world.submit(1, order, 10_000);
  await sim.play(100_000, never);
  return truth.told.get("c1")?.map(({ outcome }) => outcome);
}

describe("a value in etcd that no gateway has written", () => {
  it.each([
    ...keys.flatMap((key) => [...values, "{}"].map((value) => [key, value] as const)),
    ...records.flatMap((key) => values.map((value) => [key, value] as const)),
  ])("stops no gateway: %s is %s", async (key, value) =>
    expect(await startAfter(key, value)).toContain("succeeded"),
  );

  it("stops no gateway as the record of a command", async () =>
    expect(await startAfter("table/commands/opcua:plc/zz", "not json")).toContain("succeeded"));

  it.each(["commands/opcua:plc/zz", "order/1", "holds/x", "leases/r1", "runs/r1"])(
    "that may be a newer version's record lets nobody lead over it, and ends no gateway: %s",
    async (name) => {
      expect(await startAfter(`table/${name}`, "{}")).not.toContain("succeeded");
      expect(await startAfter(`table/${name}`, "{}", true)).toContain("succeeded");
    },
  );
});
