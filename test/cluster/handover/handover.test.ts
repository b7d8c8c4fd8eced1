import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HandoverReport } from "../../../src/contracts/cluster.ts";
import { createRobotPool } from "../../contract/contract-harness.ts";
import type { Box } from "../chaos/box.ts";
import { type ConveyorLine, openConveyorLine } from "../chaos/conveyor-line.ts";
import { type MqttClient, openMqttClient } from "../chaos/mqtt-client.ts";
import { openPlant, type Plant } from "../chaos/plant.ts";
import { boxNames, openScene, type Scene } from "../chaos/scene.ts";
import { hasEtcd } from "../etcd-harness.ts";

const LONG_MS = 240_000;
/** What a busy machine may need for what is asked to take a second. */
const BUSY_MS = 4_000;
const TURNS_MS = 3_000;
const BEGUN = "this member hands over";
const refusedMs: number[] = [];

let plant: Plant;
let scene: Scene;
let mqtt: MqttClient;
let conveyor: ConveyorLine;
beforeAll(async () => {
  if (!hasEtcd) return;
  const cart = createRobotPool()("cart");
  plant = await openPlant(boxNames);
  scene = await openScene({ cart, sections: (box) => ({ mqtt: plant.sections(box).mqtt }) });
  await scene.whole();
  mqtt = await openMqttClient(plant.brokerUrl);
  conveyor = openConveyorLine(scene.simulator, mqtt, cart);
}, LONG_MS);
afterAll(async () => {
  conveyor?.close();
  await mqtt?.close();
  await scene?.close();
  await plant?.close();
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function handover(box: Box, ...options: readonly string[]): Promise<Ended> {
  const command = ["dist/main.js", "handover", "--socket", box.socketPath, ...options];
  return new Promise((resolve) => {
    execFile(process.execPath, command, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

/** As somebody does it who is told that the other box has only just begun. */
async function handoverWhenReady(box: Box, ...options: readonly string[]): Promise<Ended> {
  for (;;) {
    const ended = await handover(box, ...options);
    if (!/that it stands by|has no session/.test(ended.err)) return ended;
  }
}

const otherThan = (box: Box): Box => (box === scene.boxes[0] ? scene.boxes[1] : scene.boxes[0]);

async function get(box: Box, path: string) {
  const answer = await box.pool.request({ method: "GET", path: `/api/v1/${path}` });
  return (await answer.body.json()) as Record<string, unknown>;
}

const alarmsOf = async (box: Box) => {
  const { alarms } = (await get(box, "alarms")) as {
    readonly alarms: ReadonlyArray<{ readonly code: string }>;
  };
  return alarms.map(({ code }) => code);
};

/** A client that sends starts without a pause, and asks the other box when one refuses. */
function createClient() {
  const over = new AbortController();
  const takenAtMs: number[] = [];
  const paths: string[] = [];
  let number = 0;

  /** Whether a box has taken a start, which does not wait for its end. */
  async function isTaken(box: Box): Promise<boolean> {
    number += 1;
    const robot = scene.robots[number % scene.robots.length];
    const goal = { pose: { xMeters: 3, yMeters: 0, headingRadians: number / 1_024 } };
    const request = { robotId: robot?.id, mission: { baseMission: { navigateMission: { goal } } } };
    const body = JSON.stringify({ operation: "CreateMission", request, expires_in_ms: 10_000 });
    const headers = { "content-type": "application/json", "fleetgate-user": `line${number % 40}` };
    const path = `commands/h${number}`;
    paths.push(path);
    try {
      const answer = await box.pool.request({ method: "PUT", path: `/api/v1/${path}`, headers, body });
      const told = (await answer.body.json()) as { readonly code?: string };
      return answer.statusCode === 202 || told.code === "OK" || told.code === "QUEUE_FULL";
    } catch {
      return false;
    }
  }

  async function send(): Promise<void> {
    let box = scene.leader();
    while (!over.signal.aborted) {
      if (await isTaken(box)) takenAtMs.push(performance.now());
      else box = otherThan(box);
      await wait(10);
    }
  }
  const sending = send();
  return {
    paths,
    /** The longest time in which no start was taken. */
    async end(): Promise<number> {
      over.abort();
      await sending;
      return Math.max(...takenAtMs.slice(1).map((atMs, index) => atMs - (takenAtMs[index] ?? 0)));
    },
  };
}

/** The crash folder and the audit log of a box. */
const dataOf = (box: Box) => join(dirname(box.socketPath), "data");
const audited = (box: Box) =>
  readFileSync(join(dataOf(box), "audit", "audit.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"event":"handover"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe.skipIf(!hasEtcd)("a handover", () => {
  test(
    "lets the other box lead, and refuses starts for a moment only",
    async () => {
      const leader = scene.leader();
      const other = otherThan(leader);
      const client = createClient();
      await wait(1_000);
      const ended = await handoverWhenReady(leader, "--to", other.name, "--json");
      expect(ended).toMatchObject({ code: 0, err: "" });
      const report = JSON.parse(ended.out) as HandoverReport;
      const gapMs = await client.end();
      expect(report.drill).toBe(false);
      const [leg] = report.legs;
      expect(leg).toMatchObject({ from: leader.name, to: other.name, conveyors_stopped: 0 });
      process.stdout.write(`handover: ${JSON.stringify(leg)}, ${Math.round(gapMs)} ms without a start\n`);
      refusedMs.push(leg?.refused_ms ?? Number.POSITIVE_INFINITY);
      expect(gapMs).toBeLessThan(BUSY_MS);
      await scene.whole();
      expect(scene.leader()).toBe(other);
      expect(scene.boxes.flatMap((box) => box.takeFaults())).toEqual([]);
      // A client that hears STANDBY asks the other box with the same id: no record may say so for good.
      const records = await Promise.all(client.paths.map((path) => get(other, path)));
      expect(records.filter(({ code }) => code === "STANDBY")).toEqual([]);

      expect(audited(leader)).toMatchObject([
        { operation: "handover", from: leader.name, to: other.name, outcome: "succeeded", protocol: "cli" },
      ]);
      // It has ended in order, though with 75, and nothing was lost.
      const { links, parts } = await get(leader, "status");
      expect(JSON.stringify([links, parts])).not.toContain("crashed");
      expect(readdirSync(join(dataOf(leader), "crash")).filter((name) => name.startsWith("crash"))).toEqual(
        [],
      );
      expect(await alarmsOf(other)).not.toContain("FAILED_OVER");
    },
    LONG_MS,
  );

  test(
    "is refused where it makes no sense, with the reason",
    async () => {
      await scene.whole();
      const leader = scene.leader();
      const standby = otherThan(leader);
      const refused = async (box: Box, ...options: readonly string[]) => {
        const { code, out, err } = await handover(box, ...options);
        expect(out).toBe("");
        return [code, err];
      };
      expect(await refused(standby)).toEqual([4, `fleetgate: ${leader.name} leads: run it there\n`]);
      expect(await refused(leader, "--to", "box-c")).toEqual([
        4,
        "fleetgate: there is no member box-c: the members are box-a and box-b\n",
      ]);
      expect(await refused(leader, "--to", leader.name)).toEqual([
        4,
        `fleetgate: ${leader.name} leads already\n`,
      ]);
      standby.pause();
      await wait(8_000);
      const alone = await refused(leader);
      standby.resume();
      expect(alone).toEqual([
        4,
        `fleetgate: ${standby.name} has not said for some seconds that it stands by: start its gateway, or try again if it runs\n`,
      ]);
      expect(audited(leader).map(({ outcome }) => outcome)).toEqual(expect.arrayContaining(["refused"]));
    },
    LONG_MS,
  );

  test(
    "waits for a conveyor that a line has leased, until the line stops it",
    async () => {
      await scene.whole();
      const leader = scene.leader();
      await conveyor.roll();
      const begun = leader.said().split(BEGUN).length;
      const handing = handoverWhenReady(leader, "--json");
      await expect.poll(() => leader.said().split(BEGUN).length).toBeGreaterThan(begun);
      // Long enough for a handover that does not wait.
      await wait(TURNS_MS);
      expect([conveyor.isTurning(), leader.isLeading()]).toEqual([true, true]);
      await conveyor.stop();
      const { code, out, err } = await handing;
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const [leg] = (JSON.parse(out) as HandoverReport).legs;
      expect(leg).toMatchObject({ to: otherThan(leader).name, conveyors_stopped: 0 });
      expect(leg?.waited_ms).toBeGreaterThan(TURNS_MS / 2);
    },
    LONG_MS,
  );

  test(
    "there and back is the drill",
    async () => {
      await scene.whole();
      const leader = scene.leader();
      const client = createClient();
      const ended = await handoverWhenReady(leader, "--test", "--json");
      const gapMs = await client.end();
      process.stdout.write(`${ended.out}${Math.round(gapMs)} ms without a start\n`);
      expect(ended).toMatchObject({ code: 0, err: "" });
      const { drill, legs } = JSON.parse(ended.out) as HandoverReport;
      expect([drill, legs.map(({ to }) => to)]).toEqual([true, [otherThan(leader).name, leader.name]]);
      expect(gapMs).toBeLessThan(BUSY_MS);
      refusedMs.push(...legs.map((leg) => leg.refused_ms));
      expect(Math.min(...refusedMs)).toBeLessThan(1_000);
      await scene.whole();
      expect(scene.leader()).toBe(leader);
    },
    LONG_MS,
  );
});

describe.skipIf(!hasEtcd)("alarms", () => {
  test(
    "tell of a leader that was lost, and of a member of etcd that is away",
    async () => {
      await scene.whole();
      const leader = scene.leader();
      const other = otherThan(leader);
      // One that is killed comes back, and may lead again.
      leader.pause();
      await expect.poll(() => alarmsOf(other), { timeout: 30_000 }).toContain("FAILED_OVER");
      leader.resume();
      await scene.etcd.members[2]?.kill();
      await expect.poll(() => alarmsOf(other), { timeout: 40_000 }).toContain("MEMBER_LOST");
      await scene.etcd.members[1]?.kill();
      for (const box of scene.boxes)
        await expect.poll(() => alarmsOf(box).catch(() => []), { timeout: 40_000 }).toContain("QUORUM_LOST");
      await scene.etcd.members[1]?.start();
      await scene.etcd.members[2]?.start();
      await scene.whole();
    },
    LONG_MS,
  );
});
