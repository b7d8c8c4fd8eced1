import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createScreen } from "../../src/cli/status/command.ts";
import { headline, statusLines } from "../../src/cli/status/status-text.ts";
import { statusReport } from "../../src/northbound/web/status-report.ts";
import type { JsonObject } from "../../src/platform/json.ts";
import { type ControlHarness, createControlHarness, wellFacts } from "../northbound/web/control-harness.ts";
import { standingAlarm } from "../support/test-alarms.ts";
import { createTestCluster } from "../support/test-cluster.ts";
import { endPrograms, fleetgate, newFolder, type Program, TEST_TIMEOUT_MS } from "./program.ts";

const asJson = (facts: typeof wellFacts): JsonObject => JSON.parse(JSON.stringify(statusReport(facts, 1e8)));
const ESCAPE = "\x1b[2J\u009b31m\u202e";

describe("the status for a person", () => {
  it("begins with the verdict, and has a line for each thing", () => {
    const lines = statusLines(asJson(wellFacts));
    expect(lines[0]).toBe("plant1: all is well");
    const text = lines.join("\n");
    expect(text).toMatch(/^ {2}fleet {2}up {2}since 1970-01-0\d \d\d:\d\d:01 {2}3 of 3 streams are open$/m);
    expect(text).toContain("\nrobots: 1, 1 good\n");
    expect(text).toContain("\n  opcua  4 events and 0 values wait  0 events dropped\n");
    expect(text).toContain("\ncommands: 2 in hand, 1 of them waiting\n");
    expect(text).toContain("\nalarms: none\n");
    expect(text).toContain("50 min left, then renewed");
    expect(text).toContain("12.0 GB free at /data");
    expect(text).toMatch(/running {2}started 1970-01-0\d \d\d:\d\d:39, 1 d 1 h ago$/m);
    expect(text).not.toContain("\nparts");
  });

  it("names what is not well first, and the first robots and alarms", () => {
    const ids = Array.from({ length: 22 }, (_, at) => `r${String(at).padStart(2, "0")}`);
    const status = asJson({
      ...wellFacts,
      health: { ...wellFacts.health, journal: { state: "degraded", detail: "slow disk" } },
      robots: ids.map((robotId) => ({ robotId, family: "cart", quality: "offline" })),
      alarms: ids.map((robotId) => ({
        ...standingAlarm("ROBOT_LOST", robotId),
        id: `ROBOT_LOST-${robotId}`,
      })),
      certificates: [{ key: "mqtt.certificate", path: "/c.pem", endMs: 0 }],
    });
    const text = statusLines(status).join("\n");
    expect(text).toMatch(/^plant1: DEGRADED: journal is degraded: slow disk; and 2 more\n {2}and 22 alarms/);
    expect(text).toContain("\n  r09  offline\n  … and 12 more\n");
    expect(text).toMatch(
      /^ {2}medium {2}active {2}1970-\S+ \S+ {2}ROBOT_LOST-r09 {2}r09 {2}found\n {2}… and 12 more$/m,
    );
    expect(text).toContain("mqtt.certificate  ENDED 1 d 3 h ago");
  });

  it("says who holds robots, and since when", () => {
    const owner = { protocol: "opcua", name: "plc1" } as const;
    const holds = [null, "r1"].map((robotId) => ({ robotId, owner, sinceMs: 1_000 }));
    const text = statusLines(asJson({ ...wellFacts, holds })).join("\n");
    expect(text).toMatch(
      /^holds: 2\n {2}all robots {2}opcua:plc1 {2}since 1970-01-0\d \d\d:\d\d:01\n {2}r1 {10}/m,
    );
    const many = Array.from({ length: 22 }, (_, at) => ({ robotId: `r${at}`, owner, sinceMs: at }));
    expect(statusLines(asJson({ ...wellFacts, holds: many })).join("\n")).toContain("\n  … and 12 more\n");
    expect(statusLines(asJson(wellFacts)).join("\n")).not.toContain("holds");
  });

  it("has a line for the cluster, if there is one", () => {
    const cluster = createTestCluster("right");
    cluster.change({ epoch: 7, leader: "left", lagMs: 2_000 });
    const text = statusLines(asJson({ ...wellFacts, cluster })).join("\n");
    expect(text).toContain("\ncluster: right: standby, epoch 7, leader left, 2 s behind (of left, right)\n");
    expect(statusLines(asJson(wellFacts)).join("\n")).not.toContain("cluster");
    cluster.change({ lagMs: Number.POSITIVE_INFINITY });
    const unheard = statusLines(asJson({ ...wellFacts, cluster })).join("\n");
    expect(unheard).toContain("leader left, not heard of etcd yet (of left, right)\n");
  });

  it("lists the OPC UA clients that wait for approval, the latest first", () => {
    const waiting = Array.from({ length: 7 }, (_, at) => ({
      thumbprint: `${at}`.repeat(40),
      isTrusted: false,
      isConfigured: false,
      isCa: false,
      subject: `CN=plc${at}`,
      issuer: "",
      applicationUri: at === 5 ? null : `urn:line1:plc${at}`,
      since: `1970-01-0${at + 1}T00:00:00.000Z`,
      validFrom: "",
      validTo: "",
      warnings: [],
    }));
    const text = statusLines(asJson({ ...wellFacts, waitingClients: waiting })).join("\n");
    expect(text).toContain(
      "\nOPC UA clients that wait for approval, or were rejected: 7 (sudo fleetgate certs approve THUMBPRINT)\n",
    );
    expect(text).toMatch(
      /^ {2}666666666666 {2}urn:line1:plc6 {2}since 1970-01-0.*\n {2}555555555555 {2}CN=plc5 /m,
    );
    expect(text).toContain("\n  … and 2 more\n");
    for (const none of [[], null])
      expect(statusLines(asJson({ ...wellFacts, waitingClients: none })).join("\n")).not.toContain(
        "approval",
      );
  });

  it("passes no control character on to the terminal", () => {
    const status = asJson({
      ...wellFacts,
      health: { fleet: { state: "down", detail: ESCAPE } },
      robots: [{ robotId: ESCAPE, family: "cart", quality: "lost" }],
      alarms: [{ ...standingAlarm("ROBOT_LOST", ESCAPE), text: ESCAPE }],
      holds: [{ robotId: ESCAPE, owner: { protocol: "mqtt", name: ESCAPE }, sinceMs: 0 }],
    });
    const text = statusLines(status).join("");
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain("\\u001b[2J\\u009b31m\\u202e");
  });

  it("survives what another version may answer", () => {
    for (const status of [{}, { robots: 1, links: [1, { name: 2 }], alarms: { listed: {} }, problems: {} }])
      expect(headline(status)).toBe(": : the gateway does not say why");
    expect(statusLines({ robots: 1, links: [1], token: "x", gateway: [] }).length).toBeGreaterThan(5);
  });
});

it("a screen is redrawn in place, and cut to the terminal", () => {
  const written: string[] = [];
  const screen = createScreen({ rows: 4, columns: 5, write: (text) => written.push(text) });
  screen.show(["one", "two and more"]);
  screen.show(["1", "2", "3", "4"]);
  expect(written).toEqual([
    "\x1b[2J\x1b[Hone\x1b[K\ntwo …\x1b[K\n\x1b[J",
    "\x1b[H1\x1b[K\n2\x1b[K\n…\x1b[K\n\x1b[J",
  ]);
});

it("a terminal that does not know its size, as a serial console, counts as one of 80 by 24", () => {
  const written: string[] = [];
  const screen = createScreen({ rows: 0, columns: 0, write: (text) => written.push(text) });
  screen.show(["one line"]);
  expect(written).toEqual(["\x1b[2J\x1b[Hone line\x1b[K\n\x1b[J"]);
});

describe("fleetgate status", { timeout: TEST_TIMEOUT_MS }, () => {
  let harness: ControlHarness;
  let folder: string;
  beforeEach(async () => {
    harness = await createControlHarness();
    folder = newFolder();
  });
  afterEach(async () => {
    await endPrograms();
    await harness[Symbol.asyncDispose]();
  });
  const status = (...args: readonly string[]): Program =>
    fleetgate(folder, "status", "--socket", harness.socketPath, ...args);
  const codeOf = async (program: Program) => (await program.ended).code;

  it("exits with 0, 1 or 2 as the gateway is, and with 3 when none answers", async () => {
    const well = status();
    expect(await codeOf(well)).toBe(0);
    expect(well.out.entries[0]).toBe("plant1: all is well");
    harness.facts.now = { ...wellFacts, alarms: [standingAlarm("ROBOT_LOST", ESCAPE)] };
    const degraded = status("--json");
    expect(await codeOf(degraded)).toBe(1);
    expect(degraded.out.entries).toHaveLength(1);
    expect(degraded.out.entries[0]).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(degraded.out.entries[0] ?? "")).toMatchObject({
      state: "degraded",
      alarms: { listed: [{ robot_id: ESCAPE }] },
    });
    harness.facts.now = { ...wellFacts, health: { fleet: { state: "starting" } } };
    expect(await codeOf(status())).toBe(2);
    await harness.stop();
    const none = status();
    expect(await codeOf(none)).toBe(3);
    expect(none.out.entries).toEqual([`no answer: no gateway runs behind ${harness.socketPath}`]);
  });

  it("--active exits with 0 on a leader alone, whatever else is not well", async () => {
    const cluster = createTestCluster("right");
    harness.facts.now = { ...wellFacts, health: { fleet: { state: "down" } }, cluster };
    const seen: (readonly [code: number | null, line: string])[] = [];
    const look = async () => {
      const program = status("--active");
      seen.push([await codeOf(program), program.out.entries.join()]);
    };
    await look();
    cluster.change({ isActive: true, epoch: 8, leader: "right" });
    await look();
    cluster.change({ isActive: false });
    await look();
    harness.facts.now = wellFacts;
    await look();
    await harness.stop();
    await look();
    expect(seen).toEqual([
      [1, "right: standby, epoch 0, leader none is known, 0 s behind (of left, right)"],
      [0, "right: leader, epoch 8, leader right, 0 s behind (of left, right)"],
      [2, "right: no proof, epoch 8, leader right, 0 s behind (of left, right)"],
      [2, "this gateway is no member of a cluster"],
      [3, `no answer: no gateway runs behind ${harness.socketPath}`],
    ]);
  });

  it("--watch prints a line a look without escapes, also while the gateway is away, until Ctrl-C", async () => {
    const watch = status("--watch");
    await watch.out.first("a look", (line) => line.endsWith("  plant1: all is well"));
    await harness.stop();
    await watch.out.first("the end", (line) => line.endsWith(`no gateway runs behind ${harness.socketPath}`));
    watch.send("SIGINT");
    expect(await watch.ended).toEqual({ code: 0, signal: null });
    expect(watch.out.entries.join("")).not.toMatch(/\p{Cc}/u);
  });

  it("--as-before waits until all is up that was up, and names what is not", async () => {
    const earlier = join(folder, "earlier.json");
    const was = status("--json");
    await was.ended;
    writeFileSync(earlier, was.out.entries.join("\n"));
    const { fleet: _fleet, ...others } = wellFacts.health;
    const starting = {
      fleet: { state: "degraded" },
      process: { state: "degraded" },
      added: { state: "down" },
    } as const;
    harness.facts.now = { ...wellFacts, health: { ...others, ...starting } };
    const patient = status("--as-before", earlier, "--within", "30");
    const hasty = status("--as-before", earlier, "--within", "0.1");
    expect(await codeOf(hasty)).toBe(2);
    expect(hasty.out.entries).toEqual(["fleet is degraded, and was up"]);
    harness.facts.now = wellFacts;
    expect(await codeOf(patient)).toBe(0);
    expect(patient.out.entries).toEqual([]);
    await harness.stop();
    const none = status("--as-before", earlier, "--within", "0.1");
    expect(await codeOf(none)).toBe(2);
    expect(none.out.entries).toEqual(["no gateway answers"]);
    writeFileSync(earlier, "");
    const empty = status("--as-before", earlier);
    expect(await codeOf(empty)).toBe(64);
    expect(empty.err.entries).toEqual([`fleetgate: ${earlier} is not what fleetgate status --json prints`]);
  });

  it("--as-before waits less for a part that stays down", async () => {
    const earlier = join(folder, "earlier.json");
    const was = status("--json");
    await was.ended;
    writeFileSync(earlier, was.out.entries.join("\n"));
    const { nowMs } = harness.clock;
    const fleet = { state: "down", detail: "refused" } as const;
    let looks = 0;
    // Four seconds for some looks, and then a third of the time, which is far from over on a busy machine.
    const stateSinceMs = () => {
      looks += 1;
      return nowMs() - (looks < 30 ? 4_000 : 20_000);
    };
    harness.facts.now = { ...wellFacts, health: { ...wellFacts.health, fleet }, stateSinceMs };
    const lost = status("--as-before", earlier, "--within", "60");
    expect(await codeOf(lost)).toBe(2);
    expect(lost.out.entries).toEqual(["fleet is down, and was up: refused"]);
    expect(looks).toBeGreaterThanOrEqual(30);
    expect(looks).toBeLessThan(40);
  });
});
