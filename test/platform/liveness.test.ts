import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { closedPort, createWatchdog, firstHang } from "../../src/platform/liveness.ts";
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
  const watchdog = createWatchdog(30_000, clock);
  clock.advance(60_000);
  expect(watchdog.hang()).toBeNull();
  watchdog.touch();
  clock.advance(30_000);
  expect(watchdog.hang()).toBeNull();
  clock.advance(1_000);
  expect(watchdog.hang()).toBe("it has done nothing for 31 s");
  watchdog.touch();
  expect(watchdog.hang()).toBeNull();
  clock.advance(31_000);
  watchdog.end();
  expect(watchdog.hang()).toBeNull();
});

it("does not count a wall clock that is set", () => {
  const clock = createManualClock();
  const watchdog = createWatchdog(30_000, clock);
  watchdog.touch();
  clock.jump(86_400_000);
  expect(watchdog.hang()).toBeNull();
});

it("sees that a port is closed", async () => {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  expect(closedPort(null)).toBeNull();
  expect(closedPort(listener)).toBeNull();
  listener.close();
  expect(closedPort(listener)).toBe("it does not listen any more");
});
