import { describe, expect, it } from "vitest";
import { alarm, command, createOutboxScene, short } from "./outbox-harness.ts";

const DAY_MS = 86_400_000;

type Scene = ReturnType<typeof createOutboxScene>;
let scene: Scene;

async function begin(options: Parameters<typeof createOutboxScene>[0] = {}): Promise<Scene> {
  scene = createOutboxScene(options);
  await scene.start();
  return scene;
}

describe("a full outbox", () => {
  it("drops the oldest of the robot with most, and tells each once", async () => {
    await begin({ maxEvents: 3 });
    scene.box.push(alarm("quiet", "r1", 1));
    for (let number = 0; number < 10; number += 1) scene.box.push(alarm(`loud${number}`, "r2", 100 + number));
    await scene.sync();
    expect(scene.box.dropped).toBe(8);
    scene.open();
    const [drop] = scene.box.peek(9);
    expect(drop?.event).toMatchObject({ fromMs: 100, toMs: 107, reason: "too_many" });
    expect(scene.take()).toEqual([
      "8 of r2 dropped",
      "quiet historical",
      "loud8 historical",
      "loud9 historical",
    ]);
    expect(scene.take()).toEqual([]);
  });

  it("tells of events of no robot together", async () => {
    await begin({ maxEvents: 1 });
    for (const one of ["e1", "e2", "e3"]) {
      scene.box.push(alarm(one, ""));
      await scene.sync();
    }
    scene.open();
    expect(scene.take()).toEqual(["2 of  dropped", "e3 historical"]);
  });

  it("still knows after a crash what it has dropped", async () => {
    await begin({ maxEvents: 2 });
    for (let number = 0; number < 5; number += 1) scene.box.push(alarm(`e${number}`));
    await scene.sync();
    await scene.tidy();
    for (let number = 5; number < 7; number += 1) scene.box.push(alarm(`e${number}`));
    await scene.sync();
    await scene.tidy();
    await scene.crash();
    scene.open();
    expect(scene.take()).toEqual(["5 of r1 dropped", "e5 historical", "e6 historical"]);
    await scene.tidy();
    await scene.crash();
    scene.open();
    expect(scene.take()).toEqual([]);
  });

  it("keeps what robots do from a flood of commands", async () => {
    await begin({ maxEvents: 2 });
    scene.box.push(alarm("e1"));
    for (let number = 0; number < 9; number += 1) scene.box.push(command(`c${number}`));
    await scene.sync();
    scene.open();
    const held = scene.box.peek(9);
    expect(held.map(short)).toEqual(["7 of  dropped", "e1 historical", "c7 historical", "c8 historical"]);
    expect(held[0]?.event).toMatchObject({ source: { protocol: "mqtt", name: "scada" } });
  });

  it("does not count as dropped what arrives after all", async () => {
    await begin({ maxEvents: 2 });
    scene.open();
    for (const one of ["e1", "e2"]) scene.box.push(alarm(one));
    await scene.sync();
    const held = scene.box.peek(9);
    for (const one of ["e3", "e4"]) scene.box.push(alarm(one));
    await scene.sync();
    scene.box.release(held);
    expect([scene.box.dropped, ...scene.take()]).toEqual([0, "e3", "e4"]);
  });

  it("keeps what has come since a connection was lost that answers late", async () => {
    await begin();
    scene.open();
    scene.box.push(alarm("e1"));
    await scene.sync();
    const held = scene.box.peek(9);
    scene.close();
    scene.open();
    expect(scene.take()).toEqual(["e1 historical"]);
    scene.box.push(alarm("e2"));
    await scene.sync();
    scene.box.release(held);
    expect(scene.take()).toEqual(["e2"]);
  });

  it("counts as dropped what was under way and may not have arrived", async () => {
    await begin({ maxEvents: 2 });
    scene.open();
    for (const one of ["e1", "e2"]) scene.box.push(alarm(one));
    await scene.sync();
    scene.box.peek(9);
    scene.box.push(alarm("e3"));
    await scene.sync();
    scene.close();
    scene.open();
    expect(scene.take()).toEqual(["1 of r1 dropped", "e2 historical", "e3 historical"]);
  });
});

it("drops what has waited for too long, also in an earlier run", async () => {
  await begin({ maxAgeMs: 60_000 });
  scene.box.push(alarm("e1"));
  await scene.sync();
  await scene.clock.settle(40_000);
  scene.keepTime();
  await scene.crash();
  scene.box.push(alarm("e2"));
  await scene.sync();
  await scene.clock.settle(25_000);
  scene.open();
  const [drop] = scene.box.peek(9);
  expect(drop?.event).toMatchObject({ count: 1, reason: "too_old" });
  expect(scene.take()).toEqual(["1 of r1 dropped", "e2 historical"]);
});

describe("a wrong wall clock", () => {
  it.each([8, -8])("of one start (%i days) drops nothing that waits", async (days) => {
    await begin();
    scene.box.push(alarm("e1"));
    await scene.sync();
    await scene.stop();
    scene.clock.jump(days * DAY_MS);
    await scene.start();
    scene.box.push(alarm("e2"));
    await scene.sync();
    await scene.clock.settle(14_000);
    await scene.stop();
    scene.clock.jump(-days * DAY_MS);
    await scene.start();
    await scene.clock.settle(14_000);
    scene.open();
    expect(scene.take()).toEqual(["e1 historical", "e2 historical"]);
  });

  it("of one start does not hide which events of commands a later crash may have lost", async () => {
    await begin();
    await scene.stop();
    scene.clock.jump(8 * DAY_MS);
    await scene.start();
    scene.box.push(command("ahead", scene.clock.nowMs()));
    await scene.sync();
    await scene.stop();
    scene.clock.jump(-8 * DAY_MS);
    await scene.start();
    await scene.clock.settle(60_000);
    await scene.sync();
    const endedAtMs = scene.runningMs();
    scene.box.push(command("lost", scene.clock.nowMs()));
    await scene.crash();
    expect(scene.box.commandsLostSinceMs).toBeLessThanOrEqual(endedAtMs);
  });

  it("a crash that loses running time keeps what waits for longer, not less long", async () => {
    await begin({ maxAgeMs: 60_000 });
    scene.box.push(alarm("e1"));
    await scene.sync();
    await scene.clock.settle(50_000);
    await scene.crash();
    await scene.clock.settle(50_000);
    scene.open();
    expect(scene.take()).toEqual(["e1 historical"]);
  });
});
