import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultScenario } from "../../../src/simulator/scenario/scenario.ts";
import { createAgenda } from "../../../src/simulator/world/context.ts";
import { seededRandom } from "../../../src/simulator/world/random.ts";
import { createRecord } from "../../../src/simulator/world/record.ts";
import { createWorld } from "../../../src/simulator/world/world.ts";
import { createWorldHarness, START_MS } from "./world-harness.ts";

/** Everything that a lively plant tells in ten minutes, looked at in steps of a given length. */
function transcript(seed: number, stepMs: number): string[] {
  const world = createWorld({ ...defaultScenario().world, seed, lively: "missions" }, START_MS, 1_000);
  const lines: string[] = [];
  world.onChange((change) => {
    if (change.kind === "chain") return;
    const { id, missions, battery, missionStamp } = change.robot;
    const states = missions.map(
      (mission) => `${mission.id} ${mission.status} ${mission.goalIndex} ${mission.owner}`,
    );
    lines.push(
      `${world.nowMs()} ${id} ${change.kind} ${battery.shownPercent} ${missionStamp.sequence} ${states}`,
    );
  });
  for (let passedMs = 0; passedMs < 600_000; passedMs += stepMs) world.advance(START_MS + passedMs);
  world.advance(START_MS + 600_000);
  return lines;
}

describe("a world", () => {
  it("gives the same transcript for the same seed, however often it is looked at", () => {
    const once = transcript(7, 600_000);
    expect(once.length).toBeGreaterThan(200);
    expect(transcript(7, 37)).toEqual(once);
    expect(transcript(8, 600_000)).not.toEqual(once);
  });

  it("has others at work when it is lively, and nobody when it is not", () => {
    const owners = new Set(
      transcript(7, 600_000).flatMap((line) => line.match(/touchscreen|fleet-manager/) ?? []),
    );
    expect(owners).toEqual(new Set(["touchscreen", "fleet-manager"]));
    const harness = createWorldHarness();
    harness.pass(3_600_000);
    expect(harness.told.filter((line) => line.includes("mission"))).toEqual([]);
  });

  it("has loads moved on and off its carts when it is lively", () => {
    const lines = transcript(7, 600_000).filter((line) => line.includes(" conveyors "));
    expect(lines.length).toBeGreaterThan(50);
  });

  it("has staff who swap a low battery when it is lively, and leave an empty one alone", () => {
    const world = createWorld({ ...defaultScenario().world, seed: 7, lively: "missions" }, START_MS, 1_000);
    world.happen({ robotId: "cart-01", kind: "battery", percent: 5 });
    world.happen({ robotId: "cart-02", kind: "battery", percent: 0 });
    world.advance(START_MS + 60_000);
    expect(world.robots.get("cart-01")?.battery.percent).toBeGreaterThan(90);
    expect(world.robots.get("cart-02")?.battery.percent).toBe(0);
  });

  it("keeps a robot in one place whatever is asked of it: no step is longer than its speed allows", () => {
    const words = fc.constantFrom(
      "mission",
      "append",
      "chain",
      "pause",
      "resume",
      "cancel",
      "skip",
      "charge",
      "flat",
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(words, fc.integer({ min: 1, max: 8_000 })), { maxLength: 40 }),
        (steps) => {
          const harness = createWorldHarness();
          const cart = harness.robot("cart");
          const { missions, chains } = harness.world;
          const target = harness.order("cart.navigate", "B").targets[0];
          const acts: Record<string, () => unknown> = {
            mission: () => missions.begin(cart, [harness.order("cart.traverse", "A", "C")], "api", "t"),
            append: () => missions.append(cart, harness.order("cart.navigate-auto", "B", "D"), "api", "t"),
            chain: () =>
              chains.add(
                {
                  distributor: "acme",
                  candidates: [cart],
                  amrId: 1,
                  mapId: 1,
                  labels: {
                    areaId: 0,
                    groupId: 0,
                    priority: 0,
                    isReturn: 0,
                    taskSeq: "",
                    name: "",
                    fromDetail: "",
                  },
                  tasks: [{ kind: "load", mapId: 1, endPointCode: "S-B", target }],
                },
                "t",
              ),
            pause: () => {
              if (cart.chainId === 0)
                missions.control(cart, cart.missions[cart.currentIndex]?.id ?? "", "pause", "t");
              else chains.pause(cart, true, "t");
            },
            resume: () => {
              if (cart.chainId === 0)
                missions.control(cart, cart.missions[cart.currentIndex]?.id ?? "", "resume", "t");
              else chains.resume(cart, "t");
            },
            cancel: () => {
              if (cart.chainId === 0)
                missions.control(cart, cart.missions[cart.currentIndex]?.id ?? "", "cancel", "t");
              else chains.cancel(chains.chainOf(cart), true, "t");
            },
            skip: () => missions.skip(cart, "t"),
            charge: () => missions.charge(cart, "api", "t"),
            flat: () =>
              harness.world.happen({
                robotId: "cart",
                kind: "battery",
                percent: cart.battery.percent > 0 ? 0 : 90,
              }),
          };
          let before = { ...cart.body.place };
          for (const [word, passMs] of steps) {
            try {
              acts[word]?.();
            } catch (error) {
              expect(error).toHaveProperty("name", "Refusal");
            }
            harness.pass(passMs);
            harness.world.happen({ robotId: "cart", kind: "blocked" });
            const place = { ...cart.body.place };
            expect(Math.hypot(place.x - before.x, place.y - before.y)).toBeLessThanOrEqual(
              passMs / 1_000 + 1e-6,
            );
            before = place;
            harness.world.happen({ robotId: "cart", kind: "unblocked" });
            const running = cart.missions.filter(({ status }) => status === "running" || status === "paused");
            expect(running.length + (cart.chainId === 0 ? 0 : 1)).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it("refuses to let something happen to a robot that it does not have", () => {
    expect(() => createWorldHarness().world.happen({ robotId: "nobody", kind: "offline" })).toThrow("nobody");
  });

  it("lets the incidents of its scenario happen in time", () => {
    const harness = createWorldHarness({
      incidents: [{ afterMs: 5_000, incident: { robotId: "cart", kind: "offline" } }],
    });
    harness.pass(4_999);
    expect(harness.robot("cart").online).toBe(true);
    harness.pass(1);
    expect(harness.robot("cart").online).toBe(false);
  });
});

describe("the agenda", () => {
  it("runs everything once, in order of time and then of entry, and nothing that was cancelled", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.boolean()), { maxLength: 3_000 }),
        (entries) => {
          const agenda = createAgenda(0);
          const ran: number[] = [];
          const cancels = entries.map(([delayMs], at) => agenda.after(delayMs, () => ran.push(at)));
          entries.forEach(([, cancelled], at) => {
            if (cancelled) cancels[at]?.();
          });
          agenda.advance(25);
          agenda.advance(100);
          const expected = entries
            .map(([delayMs, cancelled], at) => ({ delayMs, cancelled, at }))
            .filter(({ cancelled }) => !cancelled)
            .sort((a, b) => a.delayMs - b.delayMs || a.at - b.at)
            .map(({ at }) => at);
          expect(ran).toEqual(expected);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("runs at its own time what is entered on the way", () => {
    const agenda = createAgenda(1_000);
    const at: number[] = [];
    agenda.after(10, () => agenda.after(5, () => at.push(agenda.nowMs())));
    agenda.advance(2_000);
    expect(at).toEqual([1_015]);
    expect(agenda.nowMs()).toBe(2_000);
  });
});

describe("the record", () => {
  it("keeps at least its capacity, in order, and forgets before twice that", () => {
    const record = createRecord(() => 5, 10);
    for (let count = 0; count < 100; count += 1) record.add("cart", { what: "weight", carriedKg: count });
    const all = record.since(0);
    expect(all.length).toBeGreaterThanOrEqual(10);
    expect(all.length).toBeLessThanOrEqual(20);
    expect(all.at(-1)).toMatchObject({ seq: 100, atMs: 5, fact: { carriedKg: 99 } });
    expect(record.since(97).map(({ seq }) => seq)).toEqual([98, 99, 100]);
    expect(record.since(100)).toEqual([]);
  });

  it("tells each transition of a mission with its cause", () => {
    const harness = createWorldHarness();
    const id = harness.begin("cart", "cart.navigate", "A");
    harness.world.missions.control(harness.robot("cart"), id, "cancel", "call:9");
    const facts = harness.world.record.since(0).map(({ fact }) => fact);
    expect(facts).toEqual([
      { what: "mission", missionId: id, from: "none", to: "default", owner: "api", by: "test" },
      { what: "mission", missionId: id, from: "default", to: "running", owner: "api", by: "test" },
      { what: "mission", missionId: id, from: "running", to: "canceled", owner: "api", by: "call:9" },
    ]);
  });
});

describe("chance", () => {
  it("repeats itself for a seed and stays in its bounds", () => {
    const draw = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 1_000 }, random);
    };
    expect(draw(5)).toEqual(draw(5));
    expect(draw(5)).not.toEqual(draw(6));
    expect(draw(5).every((value) => value >= 0 && value < 1)).toBe(true);
    const mean = draw(5).reduce((sum, value) => sum + value, 0) / 1_000;
    expect(mean).toBeGreaterThan(0.45);
    expect(mean).toBeLessThan(0.55);
  });
});
