import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { closedPort, createPulse, firstHang } from "../../src/platform/liveness.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("names the first part that hangs, and asks only those that can answer", () => {
  const silent = { name: "fleet" };
  const alive = { name: "web", hang: () => null };
  const hung = (name: string) => ({ name, hang: () => `${name} hangs` });
  expect(firstHang([])).toBeNull();
  expect(firstHang([silent, alive])).toBeNull();
  expect(firstHang([silent, alive, hung("opcua"), hung("queues")])).toEqual({
    part: "opcua",
    reason: "opcua hangs",
  });
});

it("takes periodic work for hanging when a beat is long overdue, until the next one", () => {
  const clock = createManualClock();
  const pulse = createPulse(30_000, clock);
  clock.advance(60_000);
  expect(pulse.hang()).toBeNull();
  pulse.beat();
  clock.advance(30_000);
  expect(pulse.hang()).toBeNull();
  clock.advance(1_000);
  expect(pulse.hang()).toBe("it has done nothing for 31 s");
  pulse.beat();
  expect(pulse.hang()).toBeNull();
  clock.advance(31_000);
  pulse.end();
  expect(pulse.hang()).toBeNull();
});

it("does not count a wall clock that is set", () => {
  const clock = createManualClock();
  const pulse = createPulse(30_000, clock);
  pulse.beat();
  clock.jump(86_400_000);
  expect(pulse.hang()).toBeNull();
});

it("sees that a port is closed", async () => {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  expect(closedPort(null)).toBeNull();
  expect(closedPort(listener)).toBeNull();
  listener.close();
  expect(closedPort(listener)).toBe("it does not listen any more");
});
