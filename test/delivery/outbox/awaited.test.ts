import { afterEach, describe, expect, it } from "vitest";
import { alarm, createOutboxScene } from "./outbox-harness.ts";

let stop = async () => {};
afterEach(() => stop());

async function begin() {
  const scene = createOutboxScene();
  stop = scene.stop;
  await scene.start();
  return scene;
}

describe("while nobody subscribes to events", () => {
  it("shows an event, and keeps none before somebody has come once", async () => {
    const scene = await begin();
    const { box } = scene;
    const shown: string[] = [];
    box.setOpen(false, ({ eventId }) => shown.push(eventId));
    box.push(alarm("e1"));
    await scene.sync();
    expect([shown, box.length, box.dropped]).toEqual([["e1"], 0, 0]);
    scene.open();
    box.setOpen(false, ({ eventId }) => shown.push(eventId));
    box.push(alarm("e2"));
    await scene.sync();
    expect([shown, box.length]).toEqual([["e1", "e2"], 1]);
    scene.open();
    expect(scene.take()).toEqual(["e2 historical"]);
  });

  it("keeps events from the start on, when somebody has come to a run before", async () => {
    const scene = await begin();
    scene.open();
    await scene.tidy();
    await scene.crash();
    scene.box.setOpen(false, () => {});
    scene.box.push(alarm("e1"));
    await scene.sync();
    scene.open();
    expect(scene.take()).toEqual(["e1 historical"]);
  });

  it("hands over again, without a mark, what has not arrived", async () => {
    const scene = await begin();
    scene.open();
    for (const id of ["e1", "e2", "e3"]) scene.box.push(alarm(id));
    await scene.sync();
    const held = scene.box.peek(10);
    scene.box.release(held.slice(0, 1));
    scene.box.recall();
    expect(scene.take()).toEqual(["e2", "e3"]);
  });
});
