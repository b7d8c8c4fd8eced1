import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type ControlHarness, createControlHarness, wellFacts } from "../northbound/web/control-harness.ts";
import { standingAlarm } from "../support/test-alarms.ts";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "./program.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

let harness: ControlHarness;
beforeEach(async () => {
  harness = await createControlHarness();
  vi.stubEnv("SUDO_USER", "bob");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await endPrograms();
  await harness[Symbol.asyncDispose]();
});

async function run(...args: readonly string[]) {
  const program = fleetgate(newFolder(), "alarms", ...args, "--socket", harness.socketPath);
  const { code } = await program.ended;
  return { code, out: program.out.entries.join("\n"), err: program.err.entries.join("\n") };
}

it("lists the alarms with what to do, without control characters", async () => {
  expect(await run()).toEqual({ code: 0, out: "no alarm stands", err: "" });
  const alarm = { ...standingAlarm("ROBOT_LOST", "r1"), text: "\x1b[2Jgone" };
  harness.facts.now = { ...wellFacts, alarms: [alarm] };
  const { code, out } = await run("list");
  expect(code).toBe(0);
  expect(out).toMatch(/^medium {2}active {2}\S+ \S+ {2}ROBOT_LOST-1 {2}r1 {2}\\u001b\[2Jgone\n {4}go and/);
});

it("comments on an alarm, and lists the comment", async () => {
  harness.facts.now = { ...wellFacts, alarms: [standingAlarm("ROBOT_LOST", "r1")] };
  expect(await run("comment", "ROBOT_LOST-1", "in the workshop")).toEqual({
    code: 0,
    out: "ROBOT_LOST-1: has the comment",
    err: "",
  });
  expect((await run("list")).out).toMatch(/\n {4}cli:bob: in the workshop$/);
  expect(await run("ack", "ROBOT_LOST-1", "--comment", "back")).toMatchObject({
    code: 0,
    out: "ROBOT_LOST-1: acknowledged by cli:bob",
  });
  const { code, out } = await run("comment", "ROBOT_LOSD-1", "x");
  expect({ code, out }).toMatchObject({
    code: 4,
    out: expect.stringContaining("nearest alarm is ROBOT_LOST-1"),
  });
});

it("acknowledges alarms by id, or all, and names the nearest for an id that is none", async () => {
  harness.facts.now = {
    ...wellFacts,
    alarms: [standingAlarm("ROBOT_LOST", "r1"), standingAlarm("DISK_FULL", "")],
  };
  expect(await run("ack", "ROBOT_LOSD-1", "ROBOT_LOST-1")).toEqual({
    code: 4,
    out: [
      'ROBOT_LOSD-1: refused: MALFORMED\n  alarm_id: there is no alarm with the id "ROBOT_LOSD-1"',
      "  the nearest alarm is ROBOT_LOST-1",
      "ROBOT_LOST-1: acknowledged by cli:bob",
    ].join("\n"),
    err: "",
  });
  expect(await run("ack", "--all")).toEqual({
    code: 0,
    out: "DISK_FULL-1: acknowledged by cli:bob",
    err: "",
  });
  expect(await run("ack", "--all")).toMatchObject({ code: 0, out: "nothing is to be acknowledged" });
  harness.storeProblem.now = "not on the disk";
  expect(await run("ack", "DISK_FULL-1")).toMatchObject({
    out: "DISK_FULL-1: acknowledged by cli:bob\n  not on the disk",
  });
  vi.stubEnv("SUDO_USER", "ann");
  const refused = await run("ack", "DISK_FULL-1", "--json");
  expect(refused.code).toBe(4);
  expect(JSON.parse(refused.out)).toMatchObject({ id: "DISK_FULL-1", code: "NOT_ALLOWED" });
});

it("refuses contradicting options, and says when no gateway answers", async () => {
  for (const args of [["ack"], ["ack", "X-1", "--all"]])
    expect(await run(...args)).toMatchObject({
      code: 64,
      err: "fleetgate: name alarms by their id, or give --all",
    });
  await harness.stop();
  expect(await run("list")).toMatchObject({
    code: 1,
    err: expect.stringContaining("no gateway runs behind"),
  });
});
