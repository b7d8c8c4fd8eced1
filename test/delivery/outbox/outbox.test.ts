import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FleetEvent } from "../../../src/domain/event.ts";
import { alarm, command, createOutboxScene, short } from "./outbox-harness.ts";

type Scene = ReturnType<typeof createOutboxScene>;
let scene: Scene;

async function begin(options: Parameters<typeof createOutboxScene>[0] = {}): Promise<Scene> {
  scene = createOutboxScene(options);
  await scene.start();
  return scene;
}

function mission(missionId: string, to: "STATE_RUNNING" | "STATE_SUCCEEDED"): FleetEvent {
  const eventId = `${missionId} ${to}`;
  return {
    kind: "mission",
    eventId,
    robotId: "r1",
    atMs: 0,
    missionId,
    from: null,
    to,
    owner: "",
    command: null,
  };
}

describe("an event", () => {
  it("is handed over when it is logged, and not before", async () => {
    const { box, turns } = await begin();
    scene.open();
    scene.hang(true);
    box.push(alarm("e1"));
    await turns();
    expect(box.hasReady()).toBe(false);
    expect(scene.take()).toEqual([]);
    scene.hang(false);
    await turns();
    expect(box.hasReady()).toBe(true);
    expect(scene.take()).toEqual(["e1"]);
  });

  it("is the oldest that waits until it has arrived", async () => {
    const { box } = await begin();
    scene.open();
    expect(box.figures()).toMatchObject({ oldestEventSeconds: 0 });
    box.push(alarm("e1"));
    await scene.sync();
    scene.clock.advance(90_000);
    expect(box.figures()).toMatchObject({ oldestEventSeconds: 90 });
    expect(scene.take()).toEqual(["e1"]);
    expect(box.figures()).toMatchObject({ oldestEventSeconds: 0 });
  });

  it("of a robot leaves when another member has published it, and is not counted as dropped", async () => {
    const { box, clock, sync } = await begin();
    box.push(alarm("e1"));
    box.push(command("e2"));
    await sync();
    clock.advance(30_000);
    box.push(alarm("e3"));
    await sync();
    box.leaveBefore(clock.monotonicMs() - 20_000);
    scene.open();
    await scene.turns();
    expect(scene.take()).toEqual(["e2 historical", "e3 historical"]);
    expect(box.dropped).toBe(0);
  });

  it("leaves the disk when it has arrived, and comes again until then", async () => {
    await begin();
    scene.open();
    scene.box.push(alarm("e1"));
    scene.box.push(alarm("e2"));
    await scene.sync();
    scene.box.release(scene.box.peek(1));
    await scene.tidy();
    await scene.crash();
    scene.open();
    expect(scene.take()).toEqual(["e2 historical"]);
    await scene.tidy();
    await scene.crash();
    expect(scene.box.length).toBe(0);
  });

  it("says which run saw it, where it was an earlier one", async () => {
    await begin();
    scene.box.push(alarm("e1"));
    await scene.sync();
    await scene.crash();
    scene.box.push(alarm("e2"));
    await scene.sync();
    scene.open();
    expect(scene.box.peek(9).map(({ event }) => event.sessionId)).toEqual(["run1", undefined]);
  });

  it("of a command keeps no answer of the service", async () => {
    await begin();
    scene.box.push(command("c1"));
    await scene.sync();
    await scene.crash();
    scene.open();
    const [held] = scene.box.peek(9);
    expect(held?.event).toMatchObject({ kind: "command", outcome: { responseJson: null } });
  });
});

describe("what could not be handed over", () => {
  it("follows when all state is told, in order, and is marked", async () => {
    await begin();
    for (const one of ["e1", "e2"]) scene.box.push(alarm(one));
    await scene.sync();
    scene.box.setOpen(true);
    scene.box.push(alarm("other", "r2"));
    await scene.sync();
    expect(scene.take()).toEqual(["other"]);
    scene.box.stateIsPublished();
    expect(scene.take()).toEqual(["e1 historical", "e2 historical"]);
  });

  it("is not passed by what happens to the same robot, but by that of others", async () => {
    await begin();
    for (const one of ["e1", "e2", "e3"]) scene.box.push(alarm(one));
    await scene.sync();
    scene.open();
    scene.box.push(alarm("late"));
    scene.box.push(alarm("other", "r2"));
    await scene.sync();
    expect(scene.take(2)).toEqual(["other", "e1 historical"]);
    expect(scene.take()).toEqual(["e2 historical", "e3 historical", "late historical"]);
    scene.box.push(alarm("now"));
    await scene.sync();
    expect(scene.take()).toEqual(["now"]);
  });

  it("comes again in order when the connection breaks on the way", async () => {
    await begin();
    scene.open();
    for (const one of ["e1", "e2", "e3"]) scene.box.push(alarm(one));
    await scene.sync();
    expect(scene.box.peek(2).map(short)).toEqual(["e1", "e2"]);
    scene.close();
    scene.box.push(alarm("e4"));
    await scene.sync();
    scene.open();
    expect(scene.take()).toEqual(["e1 historical", "e2 historical", "e3 historical", "e4 historical"]);
  });

  it("keeps to its pace", async () => {
    await begin({ replayRate: 100 });
    let wakes = 0;
    scene.box.onReady(() => {
      wakes += 1;
    });
    for (let number = 0; number < 30; number += 1) scene.box.push(alarm(String(number)));
    await scene.sync();
    scene.open();
    expect(scene.take()).toHaveLength(10);
    expect(scene.take()).toHaveLength(0);
    expect(scene.box.hasReady()).toBe(false);
    wakes = 0;
    await scene.clock.settle(50);
    expect(wakes).toBe(1);
    expect(scene.take()).toHaveLength(5);
    scene.box.push(alarm("other", "r2"));
    await scene.sync();
    expect(scene.take()).toEqual(["other"]);
  });
});

describe("a disk that takes nothing", () => {
  beforeEach(async () => {
    await begin();
    await scene.sync();
    scene.open();
    scene.fail(true);
    scene.box.push(alarm("e1"));
    await scene.turns();
  });

  it("stops no event", async () => {
    expect(scene.take()).toEqual(["e1"]);
    scene.box.push(alarm("e2"));
    expect(scene.take()).toEqual(["e2"]);
    expect(scene.box.health()).toMatchObject({ state: "degraded", figures: { unstored: 0 } });
    expect(scene.box.health().detail).toContain("the disk is full");
  });

  it("gets what still waits when it is back", async () => {
    scene.close();
    scene.box.push(alarm("e2"));
    scene.fail(false);
    await scene.clock.settle(1_000);
    await scene.sync();
    expect(scene.box.health()).toMatchObject({ state: "up", figures: { unstored: 0 } });
    await scene.crash();
    scene.open();
    expect(scene.take()).toEqual(["e1 historical", "e2 historical"]);
  });
});

it("does not wait for a disk that does not answer", async () => {
  await begin();
  await scene.sync();
  scene.open();
  scene.hang(true);
  scene.box.push(alarm("e1"));
  await scene.clock.settle(999);
  expect(scene.box.hasReady()).toBe(false);
  await scene.clock.settle(1);
  scene.box.push(alarm("e2"));
  expect(scene.take()).toEqual(["e1", "e2"]);
  expect(scene.box.health().state).toBe("degraded");
  // There is no error to report: the disk has said nothing.
  expect(scene.errors).toEqual([{}]);
  scene.hang(false);
  await scene.clock.settle(1_000);
  await scene.sync();
  expect(scene.box.health().state).toBe("up");
});

describe("what events have told", () => {
  afterEach(() => scene.stop());

  it("is known after a crash as far as they were on the disk", async () => {
    await begin();
    for (const one of [mission("m1", "STATE_RUNNING"), mission("m2", "STATE_RUNNING")]) scene.box.push(one);
    scene.box.push(mission("m1", "STATE_SUCCEEDED"));
    await scene.sync();
    scene.box.push(mission("m2", "STATE_SUCCEEDED"));
    await scene.crash();
    expect([...(scene.box.published.missions("r1") ?? [])].sort()).toEqual([
      ["m1", "STATE_SUCCEEDED"],
      ["m2", "STATE_RUNNING"],
    ]);
    expect(scene.box.published.missions("r2")).toBeNull();
  });

  it("is of few missions of each robot, the newest", async () => {
    await begin();
    for (let number = 0; number < 100; number += 1) scene.box.push(mission(`m${number}`, "STATE_SUCCEEDED"));
    await scene.sync();
    await scene.crash();
    expect(scene.box.published.missions("r1")?.size).toBe(32);
    expect(scene.box.published.missions("r1")?.has("m99")).toBe(true);
  });

  it("is forgotten of the mission that was told of longest ago", async () => {
    await begin();
    for (let number = 0; number < 32; number += 1) scene.box.push(mission(`m${number}`, "STATE_RUNNING"));
    scene.box.push(mission("m0", "STATE_SUCCEEDED"));
    scene.box.push(mission("m32", "STATE_RUNNING"));
    await scene.sync();
    const missions = scene.box.published.missions("r1");
    expect(missions?.size).toBe(32);
    expect(missions?.get("m0")).toBe("STATE_SUCCEEDED");
    expect(missions?.has("m1")).toBe(false);
    expect(missions?.get("m32")).toBe("STATE_RUNNING");
  });
});

describe("a disk that fails while an event is being logged", () => {
  it("lets no later event pass it, nor its state", async () => {
    const { box, turns } = await begin();
    scene.open();
    scene.hang(true);
    box.push(mission("m1", "STATE_RUNNING"));
    await turns();
    box.push(mission("m1", "STATE_SUCCEEDED"));
    scene.fail(true);
    scene.hang(false);
    await turns();
    expect([...scene.take(1), ...scene.take(1)]).toEqual(["m1 STATE_RUNNING", "m1 STATE_SUCCEEDED"]);
    expect(box.published.missions("r1")?.get("m1")).toBe("STATE_SUCCEEDED");
  });

  it("lets none pass it where the store is what fails", async () => {
    const { box, turns, clock } = await begin();
    box.push(alarm("e1"));
    await turns();
    scene.hang(true);
    box.push(alarm("e2"));
    await turns();
    scene.fail(true);
    await clock.settle(200);
    box.push(alarm("e3"));
    scene.hang(false);
    await turns();
    scene.open();
    expect([...scene.take(2), ...scene.take(1)]).toEqual(["e1 historical", "e2 historical", "e3 historical"]);
  });
});

describe("the commands whose events a crash may have lost", () => {
  it("are those since the last one on the disk", async () => {
    await begin();
    await scene.clock.settle(60_000);
    scene.box.push(command("c1"));
    await scene.sync();
    scene.box.push(command("c2"));
    await scene.crash();
    expect(scene.box.commandsLostSinceMs).toBe(60_000 - 5_000);
  });

  it("are none of long ago, if no command has ended since", async () => {
    await begin();
    const endedAtMs = scene.runningMs();
    scene.box.push(command("c1"));
    await scene.sync();
    for (let second = 0; second < 10; second += 1) {
      await scene.clock.settle(1_000);
      await scene.sync();
    }
    const { storeRecords } = scene.box.health().figures ?? {};
    await scene.clock.settle(60_000);
    expect(scene.box.health().figures, "and nothing is written for it later").toMatchObject({ storeRecords });
    await scene.crash();
    expect(scene.box.commandsLostSinceMs).toBeGreaterThan(endedAtMs);
    expect(scene.box.commandsLostSinceMs).toBeLessThanOrEqual(endedAtMs + 10_000);
  });

  it("are all that the disk does not have", async () => {
    await begin();
    const endedAtMs = scene.runningMs();
    scene.box.push(command("c1"));
    await scene.sync();
    scene.fail(true);
    scene.box.push(command("c2"));
    for (let second = 0; second < 10; second += 1) {
      await scene.clock.settle(1_000);
      await scene.sync();
    }
    await scene.crash();
    expect(scene.box.commandsLostSinceMs).toBeLessThanOrEqual(endedAtMs);
  });

  it("are none after a stop in order", async () => {
    await begin();
    expect(scene.box.commandsLostSinceMs).toBeNull();
    scene.box.push(command("c1"));
    await scene.stop();
    await scene.start();
    expect(scene.box.commandsLostSinceMs).toBeNull();
    scene.open();
    expect(scene.take()).toEqual(["c1 historical"]);
  });
});
