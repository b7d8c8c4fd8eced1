import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { createLog } from "../../src/platform/log.ts";
import { startFleetSession } from "../support/fleet-harness.ts";
import { freePorts } from "../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";

let simulator: RunningSimulator;
let lines: Array<{ readonly msg: string }>;
beforeEach(async () => {
  lines = [];
  simulator = await startSimulator();
});
afterEach(() => simulator.stop());

const polls = { rosterPollMs: null, taskChainPollMs: null };

async function withSession(
  overrides: Parameters<typeof startFleetSession>[1],
  look: (harness: Awaited<ReturnType<typeof startFleetSession>>) => Promise<void>,
): Promise<void> {
  const harness = await startFleetSession(simulator.endpoints, {
    times: { ...polls, backoffBaseMs: 50, backoffCapMs: 200 },
    log: createLog("warn", { write: (line) => void lines.push(JSON.parse(line)) }),
    ...overrides,
  });
  try {
    await look(harness);
  } finally {
    await harness.stop();
  }
}

test("a service that has no such name is down, and one line a method asks for the name", async () => {
  const waitsMs: number[] = [];
  const clock: Clock = {
    ...systemClock,
    after(delayMs, task) {
      waitsMs.push(delayMs);
      return systemClock.after(delayMs, task);
    },
  };
  const CHANCE = 0.013;
  // A stream that is not served waits for a second at most, then for two.
  const refusedTwice = () => waitsMs.filter((delayMs) => delayMs === 2_000 * CHANCE).length;
  const random = () => CHANCE;
  await withSession({ serviceName: "another.v1.Service", clock, random }, async (harness) => {
    await harness.until("it is down", () => harness.health().state === "down");
    await harness.until("both methods are named", () => unserved().length >= 2);
    await harness.until("both were asked for again, in vain", () => refusedTwice() >= 2);
    expect(harness.health().detail).toContain("UNIMPLEMENTED");
    expect(unserved()).toHaveLength(2);
  });
});

const unserved = () => lines.filter(({ msg }) => msg.includes("fleet.grpc.serviceName"));

test("a key that is refused is down at the first answer, and said once", async () => {
  const credentials = { apiKey: "nobody", scope: "s", secret: "x" };
  await withSession({ credentials }, async (harness) => {
    await harness.until("it is down", () => harness.health().state === "down");
    expect(harness.figure("token_requests")).toBe(1);
    expect(harness.health().detail).toContain("refuses the API key");
    expect(lines.map(({ msg }) => msg)).toEqual(["no new token"]);
  });
});

test("a port that nobody listens on is down", async () => {
  const grpcAddress = `localhost:${await freePorts(1)}`;
  await withSession({ grpcAddress }, async (harness) => {
    await harness.until("it is down", () => harness.health().state === "down");
    expect(harness.health().detail).toContain("no connection for streams");
    expect(lines.filter(({ msg }) => msg === "no connection to the service")).toHaveLength(1);
  });
});
