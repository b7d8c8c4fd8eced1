import { afterEach, beforeEach, expect, it, vi } from "vitest";
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
  const program = fleetgate(newFolder(), "log-level", ...args, "--socket", harness.socketPath);
  const { code } = await program.ended;
  return { code, said: [...program.out.entries, ...program.err.entries].join("\n") };
}

it("shows and sets levels, and says how long they last", async () => {
  expect(await run()).toEqual({ code: 0, said: "gateway  info\nfleet    info" });
  expect(await run("fleet", "debug")).toEqual({
    code: 0,
    said: "fleet logs at debug until the gateway restarts (was info)",
  });
  expect(await run("fleet", "--json")).toEqual({ code: 0, said: '{"levels":{"fleet":"debug"}}' });
  expect(await run("all", "warn")).toEqual({
    code: 0,
    said: "all components log at warn until the gateway restarts",
  });
});

it("refuses what does not exist, with the nearest that does", async () => {
  expect(await run("flet", "debug")).toEqual({
    code: 64,
    said: "fleetgate: there is no component flet; the nearest is fleet",
  });
  expect(await run("fleet", "verbose")).toEqual({
    code: 64,
    said: "fleetgate: there is no level verbose; it is one of debug, info, warn, error, silent",
  });
  expect(await run("debug")).toEqual({
    code: 64,
    said: "fleetgate: name a component before the level, as: fleetgate log-level all debug",
  });
  expect(harness.logged).toEqual([]);
});
