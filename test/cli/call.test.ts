import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CallRequest, needsNumber, numberOf, readRequest } from "../../src/cli/call.ts";
import { exitCodeOf, outcomeText } from "../../src/cli/control-client.ts";
import { readSocketPath } from "../../src/config/control-socket.ts";
import type { DescribedOperation } from "../../src/contracts/operation-manual.ts";
import { ending, type OutcomeName, refusal } from "../../src/domain/outcome.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import type { JsonObject } from "../../src/platform/json.ts";
import { createConfigFolder, minimal } from "../config/config-folder.ts";
import { succeeded } from "../northbound/opcua/fake-commands.ts";
import { type ControlHarness, createControlHarness } from "../northbound/web/control-harness.ts";

const manual = createCatalogue();

function operation(name: string): DescribedOperation {
  const found = manual.get(name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}

function read(name: string, text: string, robot: string | number | null = null): JsonObject | string {
  const result: CallRequest = readRequest(operation(name), text, robot);
  return result.ok ? result.request : `${result.problem.path}: ${result.problem.message}`;
}

describe("the request of a call", () => {
  it.each<[string, string, string, string | number, JsonObject]>([
    ["at the top", "SkipGoal", "{}", "r1", { robotId: "r1" }],
    ["in the spelling that is there", "SkipGoal", '{"robot_id":"r1"}', "r1", { robot_id: "r1" }],
    ["as a number", "PauseRobot", '{"stopNow":true}', "7", { stopNow: true, amrId: 7 }],
    [
      "in a message of it",
      "AddTaskChain",
      '{"task_chain":{"areaId":1},"tasks":[]}',
      7,
      { task_chain: { areaId: 1, amrId: 7 }, tasks: [] },
    ],
  ])("gets the robot %s", (_where, name, text, robot, request) => {
    expect(read(name, text, robot)).toEqual(request);
  });

  it.each<[string, string, string, string | null, RegExp]>([
    ["no JSON", "SkipGoal", "{robotId}", null, /^: is not JSON: /],
    ["a key twice", "SkipGoal", '{"robotId":"r1","robotId":"r2"}', null, /^: has the key "robotId" twice$/],
    ["a list", "SkipGoal", "[]", null, /^: must be an object$/],
    ["a field that is missing", "SkipGoal", "{}", null, /^robot_id: is required$/],
    [
      "a deep mistake",
      "CreateMission",
      '{"mission":{"cart":1}}',
      "r1",
      /^mission\.cart: is no field of Mission/,
    ],
    ["two robots", "SkipGoal", '{"robotId":"r2"}', "r1", /^robotId: is "r2", and --robot says "r1"$/],
    ["a robot for what concerns none", "GetMap", '{"mapId":1}', "r1", /^: --robot: GetMap names no robot$/],
  ])("is refused with its path: %s", (_what, name, text, robot, problem) => {
    expect(read(name, text, robot)).toMatch(problem);
  });

  it("finds the number of a robot in the online list, if the operation needs one", () => {
    expect(needsNumber(operation("PauseRobot"), "cart-01")).toBe(true);
    expect(needsNumber(operation("PauseRobot"), "101")).toBe(false);
    expect(needsNumber(operation("SkipGoal"), "cart-01")).toBe(false);
    const answer = { robots: [{ id: "101", name: "cart-01" }] };
    expect(numberOf(answer, "cart-01")).toBe(101);
    expect(numberOf(answer, "cart-02")).toBeNull();
    expect(numberOf(null, "cart-01")).toBeNull();
  });
});

it("the exit code is 0, or the outcome's number in an OPC UA slot", () => {
  const names: readonly OutcomeName[] = ["succeeded", "probably_succeeded", "refused", "expired", "unknown"];
  expect(names.map(exitCodeOf)).toEqual([0, 0, 4, 5, 6]);
});

it("an outcome is printed with what to do, and the evidence", () => {
  const message = { message: "", retry_safe: false, response: null, duplicate: false };
  expect(outcomeText({ ...message, outcome: "probably_succeeded", code: "OK", evidence: "mission m1" })).toBe(
    "probably succeeded\n  evidence: mission m1",
  );
  expect(outcomeText({ ...message, outcome: "unknown", code: "DEADLINE_EXCEEDED", duplicate: true })).toBe(
    "unknown: DEADLINE_EXCEEDED\n  the robot may have acted, or may act later: look at it first\n  this is the recorded outcome of the same command, sent before",
  );
  const lost = "no answer in time; the robot may have acted, or may act later";
  expect(outcomeText({ ...message, outcome: "unknown", code: "DEADLINE_EXCEEDED", message: lost })).toBe(
    `unknown: DEADLINE_EXCEEDED\n  ${lost}\n  look at the robot first`,
  );
});

describe("the socket of a configuration", () => {
  it("is found without the secrets, and despite other mistakes", async () => {
    await using folder = await createConfigFolder();
    const path = await folder.write(
      "f.yaml",
      `${minimal.replace("api-key.json", "no-such-file")}nonsense: 1\n`,
    );
    expect(await readSocketPath(path, {})).toEqual({ ok: true, path: `${folder.path}/data/control.sock` });
    const named = await folder.write("g.yaml", `${minimal}control: { socket: here.sock }\n`);
    expect(await readSocketPath(named, {})).toEqual({ ok: true, path: `${folder.path}/here.sock` });
  });

  it("is not guessed", async () => {
    await using folder = await createConfigFolder();
    const off = await folder.write("off.yaml", `${minimal}control: { enabled: false }\n`);
    expect(await readSocketPath(off, {})).toMatchObject({ ok: false });
    const wrong = await folder.write("wrong.yaml", "control: {}\n");
    expect(await readSocketPath(wrong, {})).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/names them$/),
    });
    expect(await readSocketPath(`${folder.path}/none`, {})).toMatchObject({ ok: false });
  });
});

describe("fleetgate call", () => {
  let harness: ControlHarness;
  beforeEach(async () => {
    harness = await createControlHarness();
  });
  afterEach(async () => {
    await harness[Symbol.asyncDispose]();
  });

  const mission = '{"mission":{"baseMission":{"navigateMission":{"goal":{"destinationId":"A"}}}}}';
  const call = (...args: readonly string[]) => run("call", ...args, "--socket", harness.socketPath);

  it("prints the stages and the outcome, and exits with 0 when it is done", async () => {
    const ended = call("CreateMission", mission, "--robot", "r1", "--id", "c1", "--expires-in", "60");
    const submitted = await harness.commander.next();
    expect(submitted.command).toMatchObject({ requestId: "c1", robotId: "r1", operation: "CreateMission" });
    // From its receipt, by the gateway's clock.
    expect(submitted.command.startByMs - harness.clock.nowMs()).toBe(60_000);
    submitted.stage("sent");
    // Not final within the wait: the call says how far it is, and asks again.
    await harness.clock.settle(2_000);
    submitted.end({ ...succeeded("m1"), responseJson: '{"mission_id":"m1"}' });
    expect(await ended).toEqual({
      code: 0,
      out: 'id c1\nsent\nsucceeded\n{\n  "mission_id": "m1"\n}\n',
      err: "",
    });
  });

  it("prints a JSON object a line with --json, and exits with the outcome's number", async () => {
    const ended = call("CreateMission", mission, "--robot", "r1", "--id", "c1", "--json");
    const submitted = await harness.commander.next();
    submitted.stage("accepted");
    await harness.clock.settle(2_000);
    submitted.end(ending("unknown", "UNAVAILABLE", "cut off", false));
    const { code, out } = await ended;
    expect(code).toBe(6);
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { id: "c1", stage: "accepted" },
      {
        id: "c1",
        outcome: "unknown",
        code: "UNAVAILABLE",
        message: "cut off",
        retry_safe: false,
        response: null,
        duplicate: false,
      },
    ]);
  });

  it("refuses a malformed request before anything leaves", async () => {
    const { code, out } = await call("CreateMission", '{"mission":{"cart":1}}', "--robot", "r1", "--json");
    expect(code).toBe(4);
    expect(JSON.parse(out)).toMatchObject({
      outcome: "refused",
      code: "MALFORMED",
      message: expect.stringMatching(/^request\.mission\.cart: is no field of Mission/),
    });
    expect(harness.server.health().figures).toMatchObject({ connections: 0 });
    expect(harness.told).toEqual([]);
  });

  it("sends a malformed request with the user's own id: it may be an earlier command's", async () => {
    const ended = call("CreateMission", '{"mission":{"cart":1}}', "--robot", "r1", "--id", "c1");
    const asked = await harness.commander.next();
    expect(asked.command.requestId).toBe("c1");
    asked.end(refusal("IDENTITY_REUSED", "used before", false));
    expect(await ended).toMatchObject({
      code: 4,
      out: expect.stringContaining("sending it again may move something twice"),
    });
  });

  it("does not call a repetition safe if the gateway could not be asked about the id", async () => {
    const { code, out } = await call("CreateMission", "{", "--id", "c1");
    expect(code).toBe(4);
    expect(out).toMatch(/; nothing was sent, and no earlier command of its id was looked for\n/);
    expect(out).toContain("sending it again may move something twice");
  });

  it("names the nearest operation for one that does not exist", async () => {
    expect(await call("CreateMision", mission)).toMatchObject({
      code: 4,
      out: expect.stringContaining('refused: UNKNOWN_OPERATION\n  there is no operation "CreateMision"\n'),
      err: "fleetgate: the nearest operation is CreateMission\n",
    });
  });

  it("passes the gateway's refusal on", async () => {
    const ended = call("CreateMission", mission, "--robot", "r1");
    (await harness.commander.next()).end(refusal("NOT_ALLOWED", "cli may not"));
    expect(await ended).toMatchObject({
      code: 4,
      out: expect.stringContaining("refused: NOT_ALLOWED\n  cli may not\n"),
    });
  });

  it("passes no control character of an outcome on to the terminal", async () => {
    for (const [json, text] of [
      [[], "\\u001b[2J\n  and \\u009b"],
      [["--json"], '"message":"\\u001b[2J\\n  and \\u009b"'],
    ] as const) {
      const ended = call("CreateMission", mission, "--robot", "r1", ...json);
      (await harness.commander.next()).end(refusal("NOT_ALLOWED", "\x1b[2J\n  and \u009b"));
      expect(await ended).toMatchObject({ code: 4, out: expect.stringContaining(text) });
    }
  });

  it("exits with 6 when the gateway ends before the outcome, and says how to ask again", async () => {
    const ended = call("CreateMission", mission, "--robot", "r1", "--id", "c1");
    await harness.commander.next();
    await harness.stop();
    expect(await ended).toMatchObject({
      code: 6,
      err: expect.stringMatching(/before it told the outcome; ask again with --id c1/),
    });
  });

  it("exits with 1 when no gateway runs: nothing was sent", async () => {
    await harness.stop();
    expect(await call("CreateMission", mission, "--robot", "r1")).toMatchObject({
      code: 1,
      err: `fleetgate: no gateway runs behind ${harness.socketPath}\n`,
    });
  });

  it("--override ends any station's lease of a robot, for engineers only", async () => {
    vi.stubEnv("SUDO_USER", "ann");
    expect(await call("--override", "r1")).toMatchObject({
      code: 4,
      out: expect.stringContaining('refused: NOT_ALLOWED\n  cli "ann" may not send an override'),
    });
    vi.stubEnv("SUDO_USER", "chief");
    expect(await call("--override", "r1")).toEqual({
      code: 0,
      out: "succeeded\n  station Dock leased it for opcua:plc\n",
      err: "",
    });
    expect(await call("SkipGoal", "--override", "r1")).toMatchObject({
      code: 64,
      err: "fleetgate: --override takes no operation\n",
    });
    vi.unstubAllEnvs();
  });

  it("hold holds a robot, or all, and lifts the hold again", { timeout: 90_000 }, async () => {
    vi.stubEnv("SUDO_USER", "bob");
    const hold = (...args: readonly string[]) => run("hold", ...args, "--socket", harness.socketPath);
    expect(await hold("r1")).toEqual({ code: 0, out: "succeeded\n  held by cli:bob\n", err: "" });
    expect(await hold("--all", "--json")).toMatchObject({
      code: 0,
      out: expect.stringContaining('"held":true'),
    });
    expect(harness.holds.holdState("r1").by).toEqual(["cli:bob", "cli:bob (all)"]);
    expect((await hold("--all", "--release")).out).toBe("succeeded\n  held by nobody\n");
    vi.stubEnv("SUDO_USER", "chief");
    expect(await hold("r1", "--release", "--user", "cli:bob")).toMatchObject({ code: 0 });
    expect(harness.holds.holdState("r1").isHeld).toBe(false);
    vi.unstubAllEnvs();
  });

  it("hold refuses contradicting options, and prints the gateway's refusal", {
    timeout: 90_000,
  }, async () => {
    const hold = (...args: readonly string[]) => run("hold", ...args, "--socket", harness.socketPath);
    vi.stubEnv("SUDO_USER", "ann");
    expect(await hold("r1")).toMatchObject({ code: 4, out: expect.stringContaining("refused: NOT_ALLOWED") });
    for (const args of [[], ["r1", "--all"]]) {
      expect(await hold(...args)).toMatchObject({
        code: 64,
        err: "fleetgate: name a robot, or give --all\n",
      });
    }
    expect(await hold("r1", "--user", "cli:bob")).toMatchObject({
      code: 64,
      err: "fleetgate: --user needs --release\n",
    });
    vi.unstubAllEnvs();
  });

  it("lists every operation", async () => {
    const { code, out } = await run("call", "--list");
    expect(code).toBe(0);
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ")[0]),
    ).toEqual([...manual.keys()]);
  });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** `fleetgate` as a process of its own, as built into dist/. */
function run(...args: readonly string[]): Promise<Ended> {
  const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, out, err })));
}
