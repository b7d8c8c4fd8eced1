import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type DegradedHarness, openDegradedHarness } from "./degraded-harness.ts";

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(): Promise<DegradedHarness> {
  const harness = await openDegradedHarness();
  cleanups.push(() => harness.close());
  return harness;
}

/** Lets a signal do something within the gateway. In a file, for a stack names where its code is from. */
function onSignal({ folder }: DegradedHarness, script: string): readonly string[] {
  const path = join(folder, "on-signal.mjs");
  writeFileSync(path, `process.on("SIGUSR2", () => { ${script} });`);
  return ["--import", path];
}

const JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl";
const crashFolder = ({ folder }: DegradedHarness) => join(folder, "data", "crash");
const reportsOf = (harness: DegradedHarness) =>
  readdirSync(crashFolder(harness)).filter((name) => name.startsWith("crash-"));

test("an exception that nobody caught leaves a report without secrets, and the next start says so", async () => {
  const harness = await open();
  const leak = `password=hunter2 of https://me:pass1word@host/ Bearer abcdef123 ${JWT}`;
  const daemon = await harness.start(onSignal(harness, `throw new Error(${JSON.stringify(leak)});`));
  // The first streams make a robot's values good; the last ones may still be opened.
  await harness.part("fleet", ({ state }) => state === "up");
  process.kill(daemon.pid, "SIGUSR2");
  expect(await daemon.ended).toBe(1);
  expect(daemon.said()).toContain("the gateway crashes");

  const [name = ""] = reportsOf(harness);
  const path = join(crashFolder(harness), name);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = readFileSync(path, "utf8");
  for (const secret of ["hunter2", "pass1word", "abcdef123", JWT, "BEGIN PRIVATE"])
    expect(text).not.toContain(secret);
  const report = JSON.parse(text) as Record<string, unknown>;
  expect(report).toMatchObject({
    version: expect.stringMatching(/^\d/),
    cause: expect.stringContaining("Error: password=(hidden) of https://(hidden)@host/"),
    stack: expect.stringContaining("at "),
    health: { fleet: expect.stringContaining("streams are open") },
    memory: { heapUsed: expect.any(Number) },
    log: expect.arrayContaining([expect.stringContaining('"msg":"ready"')]),
  });

  const again = await harness.start();
  await again.says("an earlier run has crashed");
  const { detail } = await harness.part("crashes", ({ state }) => state === "degraded");
  expect(detail).toContain(`look at ${name} in the folder crash`);
  await rm(path);
  await harness.part("crashes", ({ state }) => state === "up");
  expect(await again.stop()).toBe(0);
  expect(readdirSync(crashFolder(harness)), "it has ended in order").toEqual([]);
}, 120_000);

test.each([
  ["out of memory", ["--max-old-space-size=150"], "SIGUSR2"],
  ["a fault", [], "SIGSEGV"],
] as const)(
  "%s ends it with a failure; the next start says so and leaves a report",
  async (_, options, signal) => {
    const harness = await open();
    const flood = "const all = []; for (;;) all.push(new Array(100_000).fill(0).map((_, i) => ({ i })));";
    const daemon = await harness.start([...options, ...onSignal(harness, flood)]);
    await expect.poll(() => readdirSync(crashFolder(harness)), { timeout: 10_000 }).toContain("running.json");
    process.kill(daemon.pid, signal);
    expect(await daemon.ended).not.toBe(0);
    const again = await harness.start();
    await again.says("an earlier run has crashed");
    expect(again.said()).toContain("it ended without a word after");
    const [name = ""] = reportsOf(harness);
    expect(JSON.parse(readFileSync(join(crashFolder(harness), name), "utf8"))).toMatchObject({
      pid: daemon.pid,
      log: expect.arrayContaining([expect.stringContaining('"msg":"ready"')]),
    });
    expect(await again.stop()).toBe(0);
  },
  120_000,
);
