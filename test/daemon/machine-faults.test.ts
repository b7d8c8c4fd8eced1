import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { belt, type DegradedHarness, openDegradedHarness, toStation } from "./degraded-harness.ts";

let harness: DegradedHarness | null = null;
afterEach(() => harness?.close());

/** Runs in the gateway's process before anything of it. */
function before({ folder }: DegradedHarness, script: string): readonly string[] {
  const path = join(folder, "before.mjs");
  writeFileSync(path, script);
  return ["--import", path];
}

test("a wall clock that is set an hour forward, then two back, makes nothing stale and expires nothing", async () => {
  harness = await openDegradedHarness();
  const { ear } = harness;
  const steps = `
    const real = Date.now, hours = [1, -1];
    let ahead = 0;
    Date.now = () => real() + ahead;
    process.on("SIGUSR2", () => { ahead = hours.shift() * 3_600_000; });`;
  const daemon = await harness.start(before(harness, steps));
  const from = ear.received.entries.length;
  for (const [operation, request, said] of [
    ["CreateMission", toStation("Station D"), "was set forward, or the machine slept, by 3600.0 s"],
    ["ControlConveyor", belt("STOP"), "was set back by 7200.0 s"],
  ] as const) {
    process.kill(daemon.pid, "SIGUSR2");
    await daemon.says(said);
    // Of a moment, as expires_at, nothing can be known with such a clock.
    const command = { id: operation, expires_in_ms: 30_000, request };
    await ear.sendText(operation, JSON.stringify(command));
    const { text } = await ear.on(`clients/scada/reply/${operation}`);
    expect(JSON.parse(text), text).toMatchObject({ outcome: "succeeded" });
    await harness.part("clock", ({ detail }) => detail?.includes(said) === true);
    await harness.part("fleet", ({ state, detail }) => state === "degraded" && /clock is/.test(detail ?? ""));
  }
  await harness.valuesGoOn(44);
  const shown = ear.received.entries.slice(from).filter(({ topic }) => topic.endsWith("/availability"));
  expect(shown.filter(({ text }) => text !== "good")).toEqual([]);
  expect(await daemon.stop()).toBe(0);
}, 120_000);

test("without DNS the log names it for the service and the broker, and both come when it is back", async () => {
  harness = await openDegradedHarness();
  const noNames = `
    import dns from "node:dns";
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const { lookup } = dns, { lookup: promised } = dns.promises, { writeSync } = fs;
    const failure = (host) => Object.assign(new Error("getaddrinfo EAI_AGAIN " + host), { code: "EAI_AGAIN" });
    const told = new Set();
    let isDumped = false;
    // Names come back when both parts have told it, however long the start takes.
    fs.writeSync = (fd, text, ...rest) => {
      const [, part] = /cannot be resolved/.test(text) && /"part":"(fleet|mqtt)"/.exec(text) || [];
      if (part !== undefined) told.add(part);
      return writeSync(fd, text, ...rest);
    };
    const isAway = (host) => {
      if (!/[a-z]/.test(host)) return false;
      const away = told.size < 2;
      // The gateway has its log by then, however long its start takes.
      if (away && !isDumped) setImmediate(() => console.error("a dump of a library"));
      isDumped ||= away;
      return away;
    };
    dns.lookup = (host, ...rest) =>
      isAway(host) ? void setImmediate(rest.at(-1), failure(host)) : lookup(host, ...rest);
    dns.promises.lookup = async (host, ...rest) => {
      if (isAway(host)) throw failure(host);
      return promised(host, ...rest);
    };
    syncBuiltinESMExports();`;
  const config = join(harness.folder, "fleetgate.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replaceAll("127.0.0.1", "localhost"));
  const daemon = await harness.start(before(harness, noNames));
  const lines = daemon
    .said()
    .split("\n")
    .filter((line) => /cannot be resolved/.test(line));
  expect(lines.some((line) => line.includes('"part":"fleet"'))).toBe(true);
  expect(lines.some((line) => line.includes('"part":"mqtt"'))).toBe(true);
  await harness.valuesGoOn(55);
  const all = daemon.said().trimEnd().split("\n");
  expect(all.map((line) => JSON.parse(line) as unknown)).toContainEqual(
    expect.objectContaining({ text: "a dump of a library" }),
  );
  expect(await daemon.stop()).toBe(0);
}, 120_000);
