import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { createControlHarness } from "../northbound/web/control-harness.ts";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "./program.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });
afterEach(endPrograms);

const recording = join(import.meta.dirname, "../e2e/replay/cart.fgrec");

async function run(...args: readonly string[]) {
  const program = fleetgate(newFolder(), ...args);
  const { code } = await program.ended;
  return { code, said: [...program.out.entries, ...program.err.entries].join("\n") };
}

it("record save names the file, and says why there is none", async () => {
  await using harness = await createControlHarness();
  const save = () => run("record", "save", "--socket", harness.socketPath);
  expect(await save()).toEqual({
    code: 0,
    said: "saved /data/records/saved/user-1.fgrec: 12 bytes, from 1970-01-01T00:00:00.000Z on",
  });
  expect(harness.logged[0]).toMatch(/^asked by cli:/);
  harness.facts.now = { ...harness.facts.now, disk: { path: "/data", freeBytes: 0 } };
  expect(await save()).toMatchObject({
    said: "fleetgate: the gateway answered 503: the recording was not saved: the disk is full",
  });
});

it("simulate --replay plays a recording", async () => {
  const ports = ["--base-port", "27443", "--json"];
  const program = fleetgate(newFolder(), "simulate", ...ports, "--replay", recording, "--speed", "20");
  const ready = await program.out.first("ready", (line) => line.startsWith("{"));
  expect(JSON.parse(ready)).toMatchObject({ event: "ready", fleet: { locations: ["plant-1"] } });
  program.send("SIGTERM");
  expect(await program.ended).toMatchObject({ code: 0 });
});

it("simulate refuses what is no recording, and what does not fit one", async () => {
  expect(await run("simulate", "--replay", "none")).toEqual({
    code: 1,
    said: "fleetgate: --replay none: there is no such file",
  });
  expect(await run("simulate", "--replay", import.meta.filename)).toEqual({
    code: 1,
    said: `fleetgate: --replay ${import.meta.filename}: it is no recording`,
  });
  expect(await run("simulate", "--speed", "2")).toEqual({
    code: 64,
    said: "fleetgate: --speed needs --replay",
  });
  expect(await run("simulate", "--replay", recording, "--robots", "5")).toMatchObject({ code: 64 });
});
