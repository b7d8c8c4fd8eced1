import "reflect-metadata";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { X509CertificateGenerator } from "@peculiar/x509";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRobotPool } from "../contract/contract-harness.ts";
import { type Box, CLUSTER } from "./chaos/box.ts";
import { openPlant, type Plant } from "./chaos/plant.ts";
import { request } from "./chaos/request.ts";
import { boxNames, openScene, type Scene } from "./chaos/scene.ts";
import { done, hasEtcd, text } from "./etcd-harness.ts";

const LONG_MS = 300_000;
const SOON = { timeout: 60_000, interval: 250 };

const fresh = createRobotPool();
const [robot, other] = [fresh("base"), fresh("base")];
let plant: Plant;
let scene: Scene;
beforeAll(async () => {
  if (!hasEtcd) return;
  plant = await openPlant(boxNames);
  scene = await openScene({
    robots: [robot, other],
    isWired: false,
    sections: (box) => ({
      ...plant.sections(box),
      stations: { dock: { destinations: [robot.stations[0]], users: ["anonymous"] } },
    }),
  });
  await scene.whole();
}, LONG_MS);
afterAll(async () => {
  await scene?.close();
  await plant?.close();
});

const otherThan = (box: Box): Box => (box === scene.boxes[0] ? scene.boxes[1] : scene.boxes[0]);

interface ShownAlarm {
  readonly id: string;
  readonly code: string;
  readonly acknowledged_by: string | null;
}

async function alarmOf(box: Box): Promise<ShownAlarm | undefined> {
  const answer = await request(box, "GET", "alarms");
  const alarms = (answer?.body.alarms ?? []) as readonly ShownAlarm[];
  return alarms.find(({ code }) => code === "BATTERY_CRITICAL");
}

async function counters(box: Box) {
  const answer = await request(box, "GET", "stations");
  type Shown = { readonly state: { readonly counters: { readonly since: string; readonly cycles: number } } };
  const [dock] = (answer?.body.stations ?? []) as readonly Shown[];
  return dock?.state.counters;
}
const cycles = async (box: Box) => (await counters(box))?.cycles;

let missions = 0;
async function drive(destinationId: string): Promise<void> {
  missions += 1;
  const goal = { destinationId };
  const body = {
    operation: "CreateMission",
    request: { robotId: robot.id, mission: { baseMission: { navigateMission: { goal } } } },
    expires_in_ms: 20_000,
  };
  const headers = { "fleetgate-user": "eva" };
  const path = `commands/drive${missions}`;
  const sent = async () => (await request(scene.leader(), "PUT", path, headers, body))?.status ?? 0;
  await expect.poll(sent, SOON).toSatisfy((status: number) => status === 200 || status === 202);
  const state = async () => {
    const answer = await request(scene.leader(), "GET", `robots/${robot.id}`);
    return JSON.stringify(answer?.body.missions ?? answer?.body);
  };
  await expect.poll(state, SOON).toContain(destinationId);
  await expect.poll(state, SOON).toContain("STATE_SUCCEEDED");
}

const storeOf = (box: Box) => join(dirname(box.socketPath), "data", "opcua", "server");
const isIn = (box: Box, folder: string, thumbprint: string) =>
  readdirSync(join(storeOf(box), folder)).some((name) => name.includes(thumbprint));

/** A client that waits for approval on the box. Resolves with its thumbprint. */
async function newClient(box: Box): Promise<string> {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;
  const keys = await crypto.subtle.generateKey(
    { ...algorithm, publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2_048 },
    true,
    ["sign", "verify"],
  );
  const made = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: ["line 1"] }],
    signingAlgorithm: algorithm,
    keys,
  });
  const thumbprint = createHash("sha1").update(Buffer.from(made.rawData)).digest("hex");
  mkdirSync(join(storeOf(box), "rejected"), { recursive: true });
  writeFileSync(join(storeOf(box), "rejected", `line 1[${thumbprint}].pem`), made.toString("pem"));
  return thumbprint;
}

function certs(box: Box, decision: "approve" | "reject", thumbprint: string): void {
  const data = join(dirname(box.socketPath), "data");
  execFileSync(process.execPath, ["dist/main.js", "certs", decision, thumbprint, "--data", data]);
}

describe.skipIf(!hasEtcd)("what the members of a cluster share", () => {
  test(
    "is seen by the standby, and survives the death of the leader",
    async () => {
      const leader = scene.leader();
      const standby = otherThan(leader);
      scene.simulator.control.happen({ kind: "battery", robotId: other.id, percent: 8 });
      await expect.poll(() => alarmOf(leader), SOON).toBeDefined();
      const alarm = await alarmOf(leader);
      const id = alarm?.id ?? "";
      await expect.poll(async () => (await alarmOf(standby))?.id, SOON).toBe(id);

      const path = `alarms/${id}/acknowledgement`;
      const headers = { "fleetgate-user": "eva" };
      expect((await request(standby, "PUT", path, headers, {}))?.body).toMatchObject({ code: "STANDBY" });
      expect(await request(leader, "PUT", path, headers, {})).toMatchObject({
        status: 200,
        body: { id, message: "" },
      });
      const acknowledged = async (box: Box) => (await alarmOf(box))?.acknowledged_by;
      await expect.poll(() => acknowledged(standby), SOON).toContain("eva");

      await drive(robot.stations[0]);
      await drive(robot.home);
      await expect.poll(() => cycles(leader), SOON).toBe(1);
      await expect.poll(() => counters(standby), SOON).toEqual(await counters(leader));

      // On any box, as there is no leader for it.
      const thumbprint = await newClient(standby);
      certs(standby, "approve", thumbprint);
      await expect.poll(() => isIn(leader, "trusted/certs", thumbprint), SOON).toBe(true);

      const counted = await counters(leader);
      const sessions = async () => {
        const keys = { prefix: `/fleetgate/${CLUSTER}/table/brokers/` };
        const [broker] = done(await scene.etcd.client().range({ keys })).value.entries;
        return (JSON.parse(text(broker?.value ?? new Uint8Array())) as { sessions: unknown[] }).sessions;
      };
      expect(await sessions()).toHaveLength(1);
      await leader.kill();
      await expect.poll(() => standby.isLeading(), SOON).toBe(true);
      expect(await alarmOf(standby)).toMatchObject({ id });
      expect(await acknowledged(standby)).toContain("eva");
      expect(await counters(standby)).toEqual(counted);
      await scene.whole();
      await drive(robot.stations[0]);
      await drive(robot.home);
      await expect.poll(() => cycles(standby), SOON).toBe(2);
      await expect.poll(() => counters(leader), SOON).toEqual(await counters(standby));
      expect(await alarmOf(leader)).toMatchObject({ id });

      // So the successor knows whose retained topics it may clear.
      await expect.poll(async () => (await sessions()).length, SOON).toBe(2);

      certs(leader, "reject", thumbprint);
      await expect.poll(() => isIn(standby, "trusted/certs", thumbprint), SOON).toBe(false);
      expect(isIn(standby, "rejected", thumbprint)).toBe(true);
      expect(existsSync(join(storeOf(leader), "rejected"))).toBe(true);
      expect(scene.boxes.flatMap((box) => box.takeFaults())).toEqual([]);
    },
    LONG_MS,
  );
});
