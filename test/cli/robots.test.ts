import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { batteryEvent, missionEvent } from "../delivery/fleet-updates.ts";
import { type ControlHarness, createControlHarness } from "../northbound/web/control-harness.ts";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "./program.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

let harness: ControlHarness;
beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(async () => {
  await endPrograms();
  await harness[Symbol.asyncDispose]();
});

async function run(...args: readonly string[]) {
  const program = fleetgate(newFolder(), "robots", ...args, "--socket", harness.socketPath);
  const { code } = await program.ended;
  return { code, out: program.out.entries.join("\n"), err: program.err.entries.join("\n") };
}

it("lists each robot with what is known of it, and waits for the first one", async () => {
  const asked = run();
  const { fleet, clock } = harness;
  fleet.receive(
    missionEvent("r1", ["m1:PAUSED"], "missions", clock.nowMs()),
    batteryEvent("r1", 73),
    batteryEvent("cart-\x1b[2J", 4),
  );
  const { code, out } = await asked;
  expect(code).toBe(0);
  expect(out.split("\n")).toEqual([
    expect.stringMatching(/^cart-\\u001b\[2J {2}\w+ {2}4 % +- {2}- {2}\S/),
    expect.stringMatching(/^r1 +\w+ +73 % +- {2}- {2}\S/),
  ]);
  const { out: json } = await run("--json");
  expect(JSON.parse(json)).toMatchObject({ count: 2, robots: [{}, { robot_id: "r1" }] });
});
