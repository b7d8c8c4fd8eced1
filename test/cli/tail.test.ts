import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventLine } from "../../src/cli/tail.ts";
import type { FleetEvent } from "../../src/domain/event.ts";
import { ending } from "../../src/domain/outcome.ts";
import { namedEventJson } from "../../src/models/event.ts";
import type { JsonObject } from "../../src/platform/json.ts";
import { type ControlHarness, createControlHarness, start } from "../northbound/web/control-harness.ts";
import { alarmEvent } from "../support/test-alarms.ts";
import { endPrograms, fleetgate, newFolder, type Program, TEST_TIMEOUT_MS } from "./program.ts";

const source = { protocol: "mqtt", name: "scada" } as const;
/** Of the stream. */
const FLUSH_MS = 250;
const base = { eventId: "e", robotId: "cart-01", atMs: 0 };
const conveyor = {
  index: 1,
  operation: "OPERATION_STATE_ROLLING",
  payload: "PAYLOAD_STATE_LOADED",
  health: "HEALTH_STATE_NORMAL",
  installation: "INSTALLATION_STATE_INSTALLED",
} as never;

describe("an event as one line", () => {
  const line = (event: FleetEvent) => {
    const json: JsonObject = JSON.parse(namedEventJson(event, "s1"));
    return eventLine(json).replace(/^\S+ \S+ {2}/, "");
  };
  const mission = { missionId: "m-1", owner: "", command: null };

  it.each<[FleetEvent, string]>([
    [
      {
        ...base,
        ...mission,
        kind: "mission",
        from: null,
        to: "STATE_RUNNING",
        command: { source, requestId: "4", scope: "" } as never,
      },
      "cart-01     mission m-1 running, by mqtt:scada/4",
    ],
    [
      { ...base, ...mission, kind: "mission", from: "STATE_RUNNING", to: "STATE_FAILED", jump: true },
      "cart-01     mission m-1 failed, was running (jump)",
    ],
    [
      { ...base, kind: "conveyor", from: null, to: conveyor },
      "cart-01     conveyor 1 rolling, loaded, normal",
    ],
    [
      { ...base, kind: "battery", from: "STATE_CHARGING", to: "STATE_FULL", chargePercent: 100 },
      "cart-01     battery full, was charging, at 100 %",
    ],
    [alarmEvent("e", ""), "-           alarm ROBOT_LOST active: found (ROBOT_LOST-1)"],
    [
      {
        ...base,
        kind: "command",
        command: { source, requestId: "4" } as never,
        operation: "SkipGoal",
        from: "sent",
        outcome: ending("probably_succeeded", "DEADLINE_EXCEEDED", "no answer", false),
      },
      "cart-01     command SkipGoal probably succeeded (DEADLINE_EXCEEDED: no answer), mqtt:scada/4",
    ],
    [
      { ...base, kind: "lease", station: "Dock", owner: source, to: "leased", reason: "asked", by: source },
      "cart-01     lease leased: station Dock for mqtt:scada (asked)",
    ],
    [{ ...base, kind: "hold", owner: source, to: "held", by: source }, "cart-01     hold held: mqtt:scada"],
    [
      { ...base, kind: "dropped", source: null, count: 7, fromMs: 0, toMs: 1, reason: "too_many" },
      "cart-01     dropped 7 events: too_many",
    ],
  ])("%#", (event, expected) => {
    expect(line(event)).toBe(expected);
  });

  it("has no control character of the robot, the alarm or the gateway", () => {
    const event = { kind: "\x1b[1m", robot_id: "a\x1b[2Jb\nc", at: "1970-01-01", to: "\u009b\u202e" };
    expect(eventLine(event)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe("fleetgate tail", { timeout: TEST_TIMEOUT_MS }, () => {
  let harness: ControlHarness;
  beforeEach(async () => {
    harness = await createControlHarness();
  });
  afterEach(async () => {
    await endPrograms();
    await harness[Symbol.asyncDispose]();
  });
  const tail = (...args: readonly string[]): Program =>
    fleetgate(newFolder(), "tail", "--socket", harness.socketPath, ...args);
  const feed = async (...events: readonly FleetEvent[]) => {
    harness.fleet.tell({ events });
    await harness.clock.settle(FLUSH_MS);
  };
  const readers = () => harness.fleet.api.stream.peers("control").length;
  const isFollowed = () => vi.waitFor(() => expect(readers()).toBe(1), { timeout: 30_000, interval: 20 });

  it("says when the gateway goes away, comes back by itself, and ends with Ctrl-C", async () => {
    const program = tail("--kind", "alarm");
    await isFollowed();
    await feed(alarmEvent("e1", "r1"), { ...base, kind: "hold", owner: source, to: "held", by: source });
    await program.out.first("e1", (line) =>
      line.endsWith("  r1          alarm ROBOT_LOST active: found (ROBOT_LOST-1)"),
    );
    await harness.stop();
    await program.out.first("away", (line) =>
      line.endsWith("the gateway stops; waiting for it to come back"),
    );
    const stop = await start(harness.another());
    await program.out.first("back", (line) =>
      line.endsWith("the gateway is back; what happened meanwhile is not shown"),
    );
    await isFollowed();
    await feed(alarmEvent("e2", "r2"));
    await program.out.first("e2", (line) => line.includes("  r2  "));
    expect(program.out.entries.join("\n")).not.toContain("held");
    program.send("SIGINT");
    expect(await program.ended).toEqual({ code: 0, signal: null });
    await stop();
  });

  it("ends quietly when nobody reads on, as head -1", async () => {
    const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
    const line = `${process.execPath} ${main} tail --json --socket ${harness.socketPath} | head -1`;
    const shell = spawn("bash", ["-o", "pipefail", "-c", line], { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise((resolve) => shell.once("close", resolve));
    const said = Promise.all([text(shell.stdout), text(shell.stderr)]);
    await isFollowed();
    await feed(alarmEvent("e1", "\x1b[2J\u009b"));
    // The first line that head does not read ends the program.
    const more = setInterval(() => void feed(alarmEvent("e2", "r2")), 20);
    expect(await ended).toBe(0);
    clearInterval(more);
    const [out, err] = await said;
    expect(out.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(out)).toMatchObject({ kind: "alarm", robot_id: "\x1b[2J\u009b" });
    expect(err).toBe("");
  });

  it("ends at once for a kind or a robot that does not exist, and when no gateway runs", async () => {
    const endsWith = async (program: Program, problem: string, code = 1) => {
      expect(await program.ended).toEqual({ code, signal: null });
      expect(program.err.entries).toEqual([`fleetgate: ${problem}`]);
    };
    await endsWith(tail("--kind", "mision"), "--kind: there is no mision; the nearest is mission", 64);
    await endsWith(tail("--robot", "nope"), 'the gateway answered 404: robot "nope" was never heard of');
    await harness.stop();
    await endsWith(tail(), `no gateway runs behind ${harness.socketPath}`);
  });
});
