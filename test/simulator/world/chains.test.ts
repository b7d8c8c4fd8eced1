import { describe, expect, it } from "vitest";
import type { Chain, ChainLabels, TaskKind, TaskOrder } from "../../../src/simulator/world/chain.ts";
import { targetOf } from "../../../src/simulator/world/map.ts";
import { createWorldHarness, refusalOf, type WorldHarness } from "./world-harness.ts";

const noLabels: ChainLabels = {
  areaId: 0,
  groupId: 0,
  priority: 0,
  isReturn: 0,
  taskSeq: "",
  name: "",
  fromDetail: "",
};

/** `load A`, `unload B`, `confirm` (where it stands), `confirm C`. */
function tasks(harness: WorldHarness, ...words: string[]): TaskOrder[] {
  return words.map((word) => {
    const [kind, letter] = word.split(" ");
    const vertex = letter === undefined ? undefined : harness.world.maps.get(1)?.byCode(`S-${letter}`);
    return {
      kind: kind as TaskKind,
      mapId: 1,
      endPointCode: vertex?.code ?? "",
      target: vertex && targetOf(vertex),
    };
  });
}

function add(harness: WorldHarness, robotIds: string[], words: string[], priority = 0): Chain {
  const id = harness.world.chains.add(
    {
      distributor: "acme",
      candidates: robotIds.map((robotId) => harness.robot(robotId)),
      amrId: 0,
      mapId: 1,
      labels: { ...noLabels, priority },
      tasks: tasks(harness, ...words),
    },
    "test",
  );
  const chain = harness.world.chains.get(id);
  if (chain === undefined) throw new Error("the chain is gone");
  return chain;
}

const statuses = (chain: Chain) => [chain.status, ...chain.tasks.map((task) => task.status)];

describe("a task chain", () => {
  it("is executed task by task by the robot that missions use", () => {
    const harness = createWorldHarness({ rules: { taskMs: 2_000 } });
    const chain = add(harness, ["cart"], ["load A", "unload B"]);
    expect(statuses(chain)).toEqual(["in-progress", "executing", "waiting"]);
    expect(refusalOf(() => harness.begin("cart", "cart.navigate", "C"))).toBe("FAILED_PRECONDITION");
    harness.pass(12_000);
    expect(statuses(chain)).toEqual(["in-progress", "completed", "executing"]);
    expect(harness.robot("cart").conveyors[0]?.loaded).toBe(true);
    harness.pass(12_000);
    expect(statuses(chain)).toEqual(["completed", "completed", "completed"]);
    expect(harness.robot("cart").conveyors[0]?.loaded).toBe(false);
    expect(harness.robot("cart").body.place).toEqual({ x: 10, y: 0 });
    expect(refusalOf(() => harness.begin("cart", "cart.navigate", "C"))).toBe("OK");
  });

  it("waits for a robot that is busy, and starts when its missions are over", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    const chain = add(harness, ["cart"], ["load B"]);
    expect(chain.status).toBe("waiting");
    harness.pass(9_999);
    expect(chain.status).toBe("waiting");
    harness.pass(1);
    expect(chain.status).toBe("in-progress");
  });

  it("goes to an idle robot when several could do it", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    expect(add(harness, ["cart", "serve"], ["load B"]).robot?.id).toBe("serve");
  });

  it("of those that wait the highest priority goes first, then the oldest", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    const [plain, urgent, alsoUrgent] = [
      add(harness, ["cart"], ["load B"]),
      add(harness, ["cart"], ["load B"], 5),
      add(harness, ["cart"], ["load B"], 5),
    ];
    harness.pass(10_000);
    expect([plain, urgent, alsoUrgent].map(({ status }) => status)).toEqual([
      "waiting",
      "in-progress",
      "waiting",
    ]);
    harness.pass(14_000);
    expect([plain, urgent, alsoUrgent].map(({ status }) => status)).toEqual([
      "waiting",
      "completed",
      "in-progress",
    ]);
  });

  it("waits for a robot that is offline or flat, and starts when it is back", () => {
    const harness = createWorldHarness();
    harness.world.happen({ robotId: "cart", kind: "offline" });
    harness.world.happen({ robotId: "base", kind: "battery", percent: 0 });
    const first = add(harness, ["cart"], ["load B"]);
    const second = add(harness, ["base"], ["load C"]);
    expect([first.status, second.status]).toEqual(["waiting", "waiting"]);
    harness.world.happen({ robotId: "cart", kind: "online" });
    harness.world.happen({ robotId: "base", kind: "battery", percent: 50 });
    expect([first.status, second.status]).toEqual(["in-progress", "in-progress"]);
  });

  it("fails when its robot runs flat", () => {
    const harness = createWorldHarness();
    const chain = add(harness, ["cart"], ["load A", "load B"]);
    harness.world.happen({ robotId: "cart", kind: "battery", percent: 0 });
    expect(statuses(chain)).toEqual(["failed", "failed", "failed"]);
  });
});

describe("a dispatch confirmation", () => {
  it("drives to its point, then waits until it is finished", () => {
    const harness = createWorldHarness();
    const chain = add(harness, ["cart"], ["confirm A", "load B"]);
    const finish = () => refusalOf(() => harness.world.chains.finish(chain, "test"));
    expect(finish()).toBe("FAILED_PRECONDITION");
    harness.pass(600_000);
    expect(statuses(chain)).toEqual(["in-progress", "executing", "waiting"]);
    expect(finish()).toBe("OK");
    expect(statuses(chain)).toEqual(["in-progress", "completed", "executing"]);
    expect(finish()).toBe("FAILED_PRECONDITION");
  });

  it("waits where it is when it names no point", () => {
    const harness = createWorldHarness();
    const chain = add(harness, ["cart"], ["confirm"]);
    harness.world.chains.finish(chain, "test");
    expect(statuses(chain)).toEqual(["completed", "completed"]);
  });

  it("that is finished while the robot is paused lets it go on only when it is resumed", () => {
    const harness = createWorldHarness();
    const chain = add(harness, ["cart"], ["confirm", "load A"]);
    harness.world.chains.pause(harness.robot("cart"), true, "test");
    harness.world.chains.finish(chain, "test");
    harness.pass(60_000);
    expect(statuses(chain)).toEqual(["in-progress", "completed", "waiting"]);
    harness.world.chains.resume(harness.robot("cart"), "test");
    harness.pass(1);
    expect(statuses(chain)).toEqual(["in-progress", "completed", "executing"]);
  });
});

describe("reassigning", () => {
  const reassigned = (harness: WorldHarness, chain: Chain, sequence: number, isRetained: boolean) =>
    refusalOf(() =>
      harness.world.chains.reassign(chain, sequence, isRetained, tasks(harness, "unload C"), "test"),
    );
  const points = (chain: Chain) => chain.tasks.map(({ kind, endPointCode }) => `${kind} ${endPointCode}`);

  it("keeps the old tasks behind the new ones, or drops them", () => {
    for (const [isRetained, expected] of [
      [true, ["load S-A", "unload S-C", "load S-B", "load S-D"]],
      [false, ["load S-A", "unload S-C"]],
    ] as const) {
      const harness = createWorldHarness();
      const chain = add(harness, ["cart"], ["load A", "load B", "load D"]);
      expect(reassigned(harness, chain, 2, isRetained)).toBe("OK");
      expect(points(chain)).toEqual(expected);
      harness.pass(600_000);
      expect(new Set(statuses(chain))).toEqual(new Set(["completed"]));
    }
  });

  it("adds at the end, and refuses what lies beyond it", () => {
    const harness = createWorldHarness();
    const chain = add(harness, ["cart"], ["load A"]);
    expect(reassigned(harness, chain, 3, false)).toBe("INVALID_ARGUMENT");
    expect(reassigned(harness, chain, 2, false)).toBe("OK");
    expect(points(chain)).toEqual(["load S-A", "unload S-C"]);
  });

  it("keeps a chain from growing without end", () => {
    const harness = createWorldHarness();
    const chain = add(harness, ["cart"], ["load A"]);
    for (let count = 0; count < 199; count += 1) expect(reassigned(harness, chain, 2, true)).toBe("OK");
    expect(reassigned(harness, chain, 2, true)).toBe("INVALID_ARGUMENT");
    expect(chain.tasks).toHaveLength(200);
  });

  it("refuses a task that is executing or done, and a chain that is over", () => {
    const harness = createWorldHarness();
    const chain = add(harness, ["cart"], ["load A", "load B", "load D"]);
    expect(reassigned(harness, chain, 1, true)).toBe("FAILED_PRECONDITION");
    harness.pass(15_000);
    expect(reassigned(harness, chain, 2, true)).toBe("FAILED_PRECONDITION");
    expect(reassigned(harness, chain, 3, true)).toBe("OK");
    harness.world.chains.cancel(chain, true, "test");
    expect(reassigned(harness, chain, 4, true)).toBe("FAILED_PRECONDITION");
  });

  it("changes the first task of a chain that waits", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    const chain = add(harness, ["cart"], ["load A"]);
    expect(reassigned(harness, chain, 1, false)).toBe("OK");
    expect(points(chain)).toEqual(["unload S-C"]);
  });
});

describe("cancelling", () => {
  it("needs force while a task is executing, and the chain goes on without", () => {
    const harness = createWorldHarness();
    const chain = add(harness, ["cart"], ["load A", "load B"]);
    expect(refusalOf(() => harness.world.chains.cancel(chain, false, "test"))).toBe("FAILED_PRECONDITION");
    harness.pass(15_000);
    expect(statuses(chain)).toEqual(["in-progress", "completed", "executing"]);
    harness.world.chains.cancel(chain, true, "test");
    expect(statuses(chain)).toEqual(["canceled", "completed", "canceled"]);
    expect(refusalOf(() => harness.begin("cart", "cart.navigate", "A"))).toBe("OK");
  });

  it("of a chain that waits needs no force; of one that is over it is refused", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    const chain = add(harness, ["cart"], ["load A"]);
    harness.world.chains.cancel(chain, false, "test");
    expect(statuses(chain)).toEqual(["canceled", "canceled"]);
    expect(refusalOf(() => harness.world.chains.cancel(chain, true, "test"))).toBe("FAILED_PRECONDITION");
    harness.pass(60_000);
    expect(chain.status).toBe("canceled");
  });

  it("of a paused robot's chain leaves the robot free to move", () => {
    const harness = createWorldHarness();
    const chain = add(harness, ["cart"], ["load A"]);
    harness.world.chains.pause(harness.robot("cart"), true, "test");
    harness.world.chains.cancel(chain, true, "test");
    harness.begin("cart", "cart.navigate", "A");
    harness.pass(60_000);
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
  });
});

describe("pausing a robot in its chain", () => {
  it("at once: it stands, and continues from where it stopped", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const chain = add(harness, ["cart"], ["load A"]);
    harness.pass(4_000);
    harness.world.chains.pause(cart, true, "test");
    harness.pass(60_000);
    expect(cart.body.place).toEqual({ x: 0, y: 6 });
    expect(refusalOf(() => harness.world.chains.pause(cart, true, "test"))).toBe("FAILED_PRECONDITION");
    harness.world.chains.resume(cart, "test");
    harness.pass(10_000);
    expect(chain.status).toBe("completed");
  });

  it("at the next waypoint: it drives on to it", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const chain = add(harness, ["cart"], ["load A"]);
    harness.pass(4_000);
    harness.world.chains.pause(cart, false, "test");
    harness.pass(60_000);
    expect(cart.body.place).toEqual({ x: 0, y: 0 });
    expect(chain.status).toBe("in-progress");
    harness.world.chains.resume(cart, "test");
    harness.pass(10_000);
    expect(chain.status).toBe("completed");
  });

  it("that is asked for at a waypoint can be taken back before", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const chain = add(harness, ["cart"], ["load A"]);
    harness.world.chains.pause(cart, false, "test");
    harness.world.chains.resume(cart, "test");
    harness.pass(60_000);
    expect(chain.status).toBe("completed");
  });

  it("needs a chain under way, and resuming a robot that is paused", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    harness.begin("cart", "cart.navigate", "A");
    expect(refusalOf(() => harness.world.chains.pause(cart, true, "test"))).toBe("FAILED_PRECONDITION");
    expect(refusalOf(() => harness.world.chains.resume(cart, "test"))).toBe("FAILED_PRECONDITION");
    harness.pass(10_000);
    add(harness, ["cart"], ["load A"]);
    expect(refusalOf(() => harness.world.chains.resume(cart, "test"))).toBe("FAILED_PRECONDITION");
  });
});
