import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type EventLog,
  eventsOf,
  eventText,
  listening,
  withEvent,
  withGap,
} from "../../../src/console/fleet/events.ts";
import { german } from "../../../src/console/texts/de.ts";
import { english } from "../../../src/console/texts/en.ts";
import { speak } from "../../../src/console/texts/texts.ts";
import type { StreamEvent } from "../../../src/northbound/web/api/stream.ts";

const at = "2026-01-02T03:04:05.000Z";
const later = "2026-01-02T03:09:05.000Z";

function event(kind: StreamEvent["kind"], fields: Record<string, unknown> = {}): StreamEvent {
  return { kind, event_id: "e1", robot_id: "cart-01", at, ...fields };
}

const running = { mission_id: "m1", from: null, to: "STATE_RUNNING", command_id: null };

describe("the text of an event", () => {
  it.each<[string, StreamEvent]>([
    ["m1 running", event("mission", running)],
    [
      "m1 paused, was running, by mqtt:scada/a",
      event("mission", { ...running, from: "STATE_RUNNING", to: "STATE_PAUSED", command_id: "mqtt:scada/a" }),
    ],
    ["m1 code 99 (jump, historical)", event("mission", { ...running, to: 99, jump: true, historical: true })],
    [
      "0 rolling, loaded, ok",
      event("conveyor", {
        to: {
          index: 0,
          operation_state: "OPERATION_STATE_ROLLING",
          payload_state: "PAYLOAD_STATE_LOADED",
          health_state: "HEALTH_STATE_OK",
        },
      }),
    ],
    [
      "battery low active: the charge is 9 %",
      event("alarm", { code: "BATTERY_LOW", from: "inactive", to: "active", text: "the charge is 9 %" }),
    ],
    [
      "PauseRobot succeeded, mqtt:scada/a",
      event("command", { operation: "PauseRobot", to: "succeeded", code: "OK", command_id: "mqtt:scada/a" }),
    ],
    [
      "PauseRobot unknown (UNAVAILABLE: it is away); found later: it stands, mqtt:scada/a",
      event("command", {
        operation: "PauseRobot",
        to: "unknown",
        code: "UNAVAILABLE",
        message: "it is away",
        command_id: "mqtt:scada/a",
        found_later: "it stands",
      }),
    ],
    [
      "free: station dock for opcua:plc1 (out of sight)",
      event("lease", {
        station: "dock",
        protocol: "opcua",
        user: "plc1",
        to: "free",
        reason: "out_of_sight",
      }),
    ],
    ["held: web:anna", event("hold", { protocol: "web", user: "anna", from: "free", to: "held" })],
    ["12 events were dropped: too many", event("dropped", { count: 12, reason: "too_many" })],
  ])("is %s", (text, received) => {
    expect(eventText(received)).toBe(text);
  });
});

describe("the text of an event in German", () => {
  beforeAll(() => speak(german, []));
  afterAll(() => speak(english, []));

  it.each<[string, StreamEvent]>([
    ["m1: läuft → gescheitert", event("mission", { ...running, from: "STATE_RUNNING", to: "STATE_FAILED" })],
    [
      "lädt die Batterie → Batterie entlädt sich, bei 81 %",
      event("battery", { from: "STATE_CHARGING", to: "STATE_DISCHARGING", charge_percent: 81 }),
    ],
    [
      "Batterie schwach nicht aktiv: 30 %",
      event("alarm", { code: "BATTERY_LOW", from: "active", to: "inactive", text: "30 %" }),
    ],
    ["gesperrt: web:olga", event("hold", { protocol: "web", user: "olga", from: "free", to: "held" })],
    ["frei: web:olga", event("hold", { protocol: "web", user: "olga", from: "held", to: "free" })],
  ])("is %s", (text, received) => {
    expect(eventText(received)).toBe(text);
  });
});

describe("the events that the page keeps", () => {
  const begun: EventLog = listening(null, at, false);
  const mission = (id: string, robotId = "cart-01", when = at) =>
    event("mission", { ...running, event_id: id, robot_id: robotId, at: when });

  it("are those of a robot, the newest first", () => {
    const log = ["a", "b", "c"].reduce((known, id) => withEvent(known, mission(id)), begun);
    const all = withEvent(withEvent(log, mission("d", "cart-02")), mission("e", ""));
    expect(eventsOf(all, "cart-01", 20).map(({ id }) => id)).toEqual(["c", "b", "a"]);
    expect(eventsOf(all, "cart-01", 2).map(({ id }) => id)).toEqual(["c", "b"]);
    expect(all.since).toBe(at);
  });

  it("are no more when one is sent again", () => {
    const log = withEvent(begun, mission("a"));
    expect(withEvent(log, mission("a"))).toBe(log);
  });

  it("say of every robot where some are missing, and how many", () => {
    const log = withGap(withEvent(begun, mission("a")), { at: later, missing: 7 });
    expect(eventsOf(log, "cart-02", 20).map(({ text }) => text)).toEqual([
      "7 events are missing here, of this robot or of others.",
    ]);
    const restarted = withGap(log, { at: later, missing: null });
    expect(eventsOf(restarted, "cart-01", 1)[0]?.text).toMatch(/not known how many/);
  });

  it("are 500 at most, and then say since when they are whole", () => {
    let log = withEvent(begun, mission("first"));
    for (let number = 0; number < 500; number += 1)
      log = withEvent(log, mission(`e${number}`, "cart-02", later));
    expect([log.events.length, log.since]).toEqual([500, later]);
    expect(eventsOf(log, "cart-01", 20)).toEqual([]);
  });

  it("go on with a stream that is told what it has missed, and begin anew with another", () => {
    const log = withEvent(begun, mission("a"));
    expect(listening(log, later, true)).toBe(log);
    expect(listening(log, later, false)).toEqual({ since: later, events: [] });
  });
});
