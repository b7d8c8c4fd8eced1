import { expect, test } from "vitest";
import { createLinkWatch } from "../../src/composition/alarm-watch.ts";
import type { Component } from "../../src/platform/component.ts";
import { createAlarmRegistry } from "../../src/state/alarm-registry.ts";
import { createManualClock } from "../support/manual-clock.ts";

test("the alarm of the link counts from when a session is sought, not from the start of the gateway", () => {
  const clock = createManualClock();
  const alarmRegistry = createAlarmRegistry(clock, { alarms: [], outOfService: [], lastId: 0 }, () => "e1");
  const link = createLinkWatch(alarmRegistry.state, clock);
  const codes = () => {
    alarmRegistry.take();
    return alarmRegistry.all().map(({ code }) => code);
  };
  clock.advance(30_000);
  expect(codes()).toEqual([]);
  const session: Component = { name: "fleet", health: () => ({ state: "up" }), run: async () => {} };
  void link.watch(session).run(new AbortController().signal, () => {});
  clock.advance(9_999);
  expect(codes()).toEqual([]);
  clock.advance(1);
  expect(codes()).toEqual(["FLEET_LINK_DOWN"]);
});
