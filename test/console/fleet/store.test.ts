import { describe, expect, it } from "vitest";
import { seenOf } from "../../../src/console/fleet/fleet.ts";
import { floorState } from "../../../src/console/fleet/floor-state.ts";
import { createStore } from "../../../src/console/store.ts";
import { StreamEnded } from "../../../src/console/stream/stream.ts";
import { createLiveness, type Marked } from "../../../src/console/trust/liveness.ts";
import { ageMs, type Moment } from "../../../src/console/trust/time-text.ts";
import type { Command } from "../../../src/northbound/web/api/command.ts";
import type { StreamMessages } from "../../../src/northbound/web/api/stream.ts";
import { standingRobot } from "../standing-robot.ts";

const at = "2026-01-02T03:04:05.000Z";
const startMs = Date.parse(at);

const snapshot: StreamMessages["snapshot"] = {
  at,
  session_id: "s1",
  gateway_id: "plant1",
  version: "1.0.0",
  configuration: 3,
  open: false,
  has_simulator: false,
  poll_ms: 1_000,
  robot_count: 1,
  maps: [],
  stations: [],
  alarms: { count: 0, alarms: [] },
  hold: { held: false, by: [], stored: true },
};

function open() {
  let now: Moment = { monotonicMs: 1_000, wallMs: 1_700_000_000_000 };
  let [sentMs, ticks] = [startMs, 0];
  const root: Marked = { dataset: {} };
  const liveness = createLiveness(root, () => now);
  const store = createStore({ liveness, now: () => now, isMotionReduced: () => false });
  const harness = {
    store,
    configuration: 3,
    now: () => now,
    say<Name extends keyof StreamMessages>(name: Name, message: StreamMessages[Name]) {
      store.take({ id: "", name, data: JSON.stringify(message) });
    },
    /** Both sides go on: a tick that is sent later is heard later. */
    pass(ms: number) {
      sentMs += ms;
      harness.hang(ms);
    },
    /** Only the page's time passes. */
    hang(ms: number) {
      now = { monotonicMs: now.monotonicMs + ms, wallMs: now.wallMs + ms };
    },
    sent(ms: number) {
      sentMs += ms;
    },
    tick(pollAgeMs: number | null = 0) {
      ticks += 1;
      const message = { at: new Date(sentMs).toISOString(), id: `s1.${ticks}`, poll_age_ms: pollAgeMs };
      harness.say("tick", { ...message, configuration: harness.configuration, fleet_link_up: true });
    },
    begin() {
      harness.say("snapshot", snapshot);
      harness.say("robots", { robots: [standingRobot("cart-01")], more: false });
    },
    known() {
      const fleet = store.fleet.value;
      const known = fleet?.robots.get("cart-01");
      if (fleet == null || known === undefined) throw new Error("cart-01 is not known");
      return { fleet, known };
    },
  };
  return harness;
}

describe("the configuration of the gateway", () => {
  it("is another one when a tick says so, and only then", () => {
    const page = open();
    page.begin();
    const of = () => page.known().fleet.configuration;
    const first = of();
    page.tick();
    expect(of()).toBe(first);
    page.configuration = 4;
    page.tick();
    const second = of();
    expect(second).not.toBe(first);
    page.say("snapshot", { ...snapshot, session_id: "s2", configuration: 4 });
    page.say("robots", { robots: [standingRobot("cart-01")], more: false });
    expect(of()).not.toBe(second);
  });
});

describe("a snapshot", () => {
  it("is shown when it is whole, and live with the next tick", () => {
    const page = open();
    page.say("snapshot", snapshot);
    page.say("robots", { robots: [standingRobot("cart-01")], more: true });
    page.tick();
    expect([page.store.fleet.value, page.store.isLive.value]).toEqual([null, false]);
    page.say("robots", { robots: [standingRobot("cart-02")], more: false });
    expect([...(page.store.fleet.value?.robots.keys() ?? [])]).toEqual(["cart-01", "cart-02"]);
    expect(page.store.isLive.value).toBe(false);
    page.tick();
    expect([page.store.isLive.value, page.store.tickId.value]).toEqual([true, "s1.2"]);
  });

  it("replaces what was known, and does not look live before it is whole", () => {
    const page = open();
    page.begin();
    page.tick();
    page.say("snapshot", { ...snapshot, session_id: "s2" });
    page.pass(3_000);
    page.tick();
    page.store.look();
    expect(page.store.isLive.value).toBe(false);
    page.say("robots", { robots: [standingRobot("cart-02")], more: false });
    page.tick();
    expect([...(page.store.fleet.value?.robots.keys() ?? [])]).toEqual(["cart-02"]);
    expect([page.store.fleet.value?.sessionId, page.store.isLive.value]).toEqual(["s2", true]);
  });
});

describe("changes", () => {
  it("replace what they name, and keep the ages of the rest", () => {
    const page = open();
    page.begin();
    page.pass(5_000);
    page.say("change", { at, robots: [{ robot_id: "cart-01", quality: "stale" }] });
    const { known } = page.known();
    expect(known.robot).toMatchObject({ quality: "stale", family: "cart", idle: { reason: "IDLE" } });
    expect(ageMs(known.placed, page.now())).toBe(5_100);
  });

  it("of a robot that is not known yet wait for the snapshot, which is newer", () => {
    const page = open();
    page.say("snapshot", snapshot);
    page.say("change", { at, robots: [{ robot_id: "cart-01", quality: "stale" }] });
    page.say("robots", { robots: [standingRobot("cart-01")], more: false });
    expect(page.known().known.robot.quality).toBe("good");
  });

  it("move a mark from where it was", () => {
    const page = open();
    page.begin();
    page.tick();
    page.pass(1_000);
    page.tick();
    const { place } = standingRobot("cart-01");
    if (place === null) throw new Error("it has a place");
    const moved = { ...place, x: 2, received_at: "2026-01-02T03:04:06.000Z" };
    page.say("change", { at, robots: [{ robot_id: "cart-01", place: moved }] });
    expect(page.known().known.track).toMatchObject({ from: { x: 0 }, durationMs: 1_000 });
    const trail = page.known().known.trail.placesOn(1);
    expect(trail.map(({ x }) => x)).toEqual([0, 2]);
  });

  it("keep the newest commands by their names", () => {
    const page = open();
    page.begin();
    page.say("change", { at, commands: [command(1, "a"), command(2, "b")] });
    page.say("change", { at, commands: [{ ...command(3, "a"), outcome: "succeeded" }] });
    const shown = [...(page.store.fleet.value?.commands ?? [])].map(([key, { outcome }]) => [key, outcome]);
    expect(shown).toEqual([
      ["mqtt:scada/b", null],
      ["mqtt:scada/a", "succeeded"],
    ]);
    const many = Array.from({ length: 600 }, (_, index) => command(index, `c${index}`));
    page.say("change", { at, commands: many });
    expect(page.store.fleet.value?.commands.size).toBe(500);
    expect(page.store.fleet.value?.commands.has("mqtt:scada/c599")).toBe(true);
  });
});

describe("events", () => {
  const later = "2026-01-02T03:09:05.000Z";
  const held: StreamMessages["event"] = {
    kind: "hold",
    event_id: "h1",
    robot_id: "cart-01",
    at: later,
    protocol: "web",
    user: "anna",
    from: "free",
    to: "held",
  };
  const shown = (page: ReturnType<typeof open>) => {
    const log = page.store.events.value;
    return [log?.since, log?.events.map(({ kind }) => kind)];
  };

  it("are kept over a connection that can say what it has missed", () => {
    const page = open();
    page.begin();
    page.say("event", held);
    page.say("snapshot", { ...snapshot, at: later });
    page.say("gap", { at: later, missing: 3 });
    expect(shown(page)).toEqual([at, ["hold", "missing"]]);
  });

  it("are forgotten with a connection that cannot", () => {
    const page = open();
    page.begin();
    page.say("snapshot", { ...snapshot, at: later });
    expect(shown(page)).toEqual([later, []]);
    page.say("event", held);
    page.store.beginAnew();
    page.begin();
    expect(shown(page)).toEqual([at, []]);
    page.store.forget();
    expect(page.store.events.value).toBe(null);
  });
});

describe("the age of a place", () => {
  it("is that of the newest list while the list has the robot", () => {
    const page = open();
    page.begin();
    page.pass(30_000);
    page.tick(300);
    const { fleet, known } = page.known();
    expect(ageMs(seenOf(known, fleet.list), page.now())).toBe(300);
  });

  it("goes on when the list has the robot no more", () => {
    const page = open();
    page.begin();
    page.pass(1_000);
    const { place } = standingRobot("cart-01");
    const gone = place === null ? null : { ...place, listed: false, age_ms: 1_100 };
    page.say("change", { at, robots: [{ robot_id: "cart-01", place: gone }] });
    page.pass(30_000);
    page.tick(300);
    const { fleet, known } = page.known();
    expect(ageMs(seenOf(known, fleet.list), page.now())).toBe(31_100);
    const [robot] = floorState(fleet, page.store.listing.value?.robots ?? [], null, 1, true, null).robots;
    expect(ageMs(robot?.seen ?? { ageWhenSentMs: 0, receivedAt: page.now() }, page.now())).toBe(31_100);
  });
});

describe("a page that hung", () => {
  it("does not look live by ticks from before, and ages what it heard by that", () => {
    const page = open();
    page.begin();
    for (let second = 0; second < 5; second += 1) {
      page.tick();
      page.pass(1_000);
    }
    page.hang(10_000);
    page.store.look();
    expect(page.store.isLive.value).toBe(false);
    // The gateway has sent ten ticks meanwhile. They are read one after the other, within a moment.
    for (let second = 0; second < 8; second += 1) {
      page.tick();
      expect(page.store.isLive.value, `tick ${second}`).toBe(false);
      page.sent(1_000);
    }
    page.say("change", { at, robots: [{ robot_id: "cart-01", place: standingRobot("cart-01").place }] });
    expect(ageMs(page.known().known.placed, page.now())).toBeGreaterThan(2_000);
    for (let second = 8; second < 11; second += 1) {
      page.tick();
      page.sent(1_000);
    }
    expect(page.store.isLive.value).toBe(true);
  });

  it.each<[string, (page: ReturnType<typeof open>) => void]>([
    ["the gateway's clock is set back", (page) => page.sent(-3_600_000)],
    ["the gateway's clock is set forward", (page) => page.sent(3_600_000)],
    ["the gateway hangs, and goes on", (page) => page.pass(20_000)],
  ])("is not mistaken for %s", (_what, happen) => {
    const page = open();
    page.begin();
    for (let second = 0; second < 5; second += 1) {
      page.tick();
      page.pass(1_000);
    }
    happen(page);
    page.tick();
    expect(page.store.isLive.value).toBe(true);
  });
});

it("ends the stream when the gateway says that another connection is of no use", () => {
  const page = open();
  const closed = { at, code: "replaced", reason: "a fifth tab was opened" } as const;
  expect(() => page.say("closed", { ...closed, reconnect: false })).toThrow(StreamEnded);
  expect(() => page.say("closed", { ...closed, reconnect: true })).not.toThrow();
});

function command(number: number, requestId: string): Command {
  return {
    number,
    protocol: "mqtt",
    user: "scada",
    request_id: requestId,
    operation: "ChargeRobot",
    robot_id: "cart-01",
    request: "{}",
    on_behalf_of: null,
    stage: "sent",
    accepted_at: at,
    sent_at: at,
    final_at: null,
    age_ms: 0,
    outcome: null,
    code: null,
    message: null,
    meaning: null,
    mission_id: null,
    evidence: null,
    found_later: null,
  };
}
