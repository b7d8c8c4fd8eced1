import { afterEach, describe, expect, it } from "vitest";
import type { FleetEvent } from "../../../src/domain/event.ts";
import { alarm, createOutboxScene } from "./outbox-harness.ts";

let stop = async () => {};
afterEach(() => stop());

/** Connected, and with all that a start writes on the disk. */
async function begin() {
  const scene = createOutboxScene();
  stop = scene.stop;
  await scene.start();
  await scene.sync();
  scene.open();
  return scene;
}

function mission(missionId: string, to: "STATE_RUNNING" | "STATE_SUCCEEDED"): FleetEvent {
  const what = { robotId: "r1", atMs: 0, missionId, from: null, to, owner: "", command: null };
  return { kind: "mission", eventId: `${missionId} ${to}`, ...what };
}

describe("an event that the broker acknowledges within 100 ms", () => {
  it("is not written to the store", async () => {
    const scene = await begin();
    const before = scene.storeWrites();
    for (let round = 0; round < 50; round += 1) {
      scene.box.push(alarm(`e${round}`));
      await scene.turns();
      expect(scene.take()).toEqual([`e${round}`]);
      await scene.clock.settle(90);
      await scene.sync();
    }
    expect(scene.storeWrites()).toBe(before);
    expect(scene.logSyncs(), "in 4.5 s").toBe(0);
  });

  it("is known to the run after a kill, which says nothing of it again", async () => {
    const scene = await begin();
    scene.box.push(mission("m1", "STATE_RUNNING"));
    await scene.turns();
    expect(scene.take()).toEqual(["m1 STATE_RUNNING"]);
    await scene.tidy();
    await scene.crash();
    expect([...(scene.box.published.missions("r1") ?? [])]).toEqual([["m1", "STATE_RUNNING"]]);
    expect(scene.box.length).toBe(0);
  });

  it("is known after a power cut, if it was acknowledged 10 s before", async () => {
    const scene = await begin();
    scene.box.push(mission("m1", "STATE_RUNNING"));
    await scene.turns();
    scene.take();
    await scene.clock.settle(10_000);
    await scene.turns();
    expect(scene.logSyncs()).toBe(1);
    scene.box.push(mission("m1", "STATE_SUCCEEDED"));
    await scene.turns();
    scene.take();
    await scene.cutPower();
    expect([...(scene.box.published.missions("r1") ?? [])]).toEqual([["m1", "STATE_RUNNING"]]);
    expect(scene.box.length).toBe(0);
  });
});

describe("an event that is not acknowledged within 100 ms", () => {
  it("is in the store by then, in one step with the others, and outlives a power cut", async () => {
    const scene = await begin();
    const before = scene.storeWrites();
    for (let number = 0; number < 200; number += 1) scene.box.push(alarm(`e${number}`));
    await scene.turns();
    scene.box.peek(10);
    await scene.tidy();
    expect(scene.storeWrites()).toBe(before + 1);
    await scene.cutPower();
    scene.open();
    expect(scene.take()).toHaveLength(200);
  });

  it("comes again after a kill within the 100 ms, with its id and in order", async () => {
    const scene = await begin();
    for (const id of ["e1", "e2", "e3"]) scene.box.push(alarm(id));
    await scene.turns();
    expect(scene.box.peek(2)).toHaveLength(2);
    await scene.crash();
    scene.box.push(alarm("e4"));
    await scene.sync();
    scene.open();
    expect(scene.take()).toEqual(["e1 historical", "e2 historical", "e3 historical", "e4 historical"]);
  });
});

describe("the store takes over what the log has", () => {
  it("once in ten minutes, also what has left by then", async () => {
    const scene = await begin();
    const before = scene.storeWrites();
    for (let number = 0; number < 100; number += 1) {
      scene.box.push(mission(`m${number}`, "STATE_RUNNING"));
      await scene.turns();
      scene.take();
    }
    await scene.takeOver();
    expect(scene.storeWrites()).toBe(before + 1);
    await scene.cutPower();
    expect(scene.box.published.missions("r1")?.has("m99")).toBe(true);
    expect(scene.box.length).toBe(0);
  });

  it("and loses no event that is handed over meanwhile", async () => {
    const scene = await begin();
    scene.box.push(mission("m1", "STATE_RUNNING"));
    await scene.turns();
    scene.take();
    await scene.clock.settle(599_999);
    scene.box.push(mission("m2", "STATE_RUNNING"));
    await scene.turns();
    scene.box.peek(1);
    await scene.clock.settle(1);
    await scene.sync();
    scene.box.push(mission("m2", "STATE_SUCCEEDED"));
    await scene.turns();
    await scene.crash();
    scene.open();
    expect(scene.take()).toEqual(["m2 STATE_RUNNING historical", "m2 STATE_SUCCEEDED historical"]);
    expect(scene.box.published.missions("r1")?.get("m2")).toBe("STATE_SUCCEEDED");
  });
});
