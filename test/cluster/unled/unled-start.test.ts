import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPlc } from "../../e2e/plc.ts";
import type { Box } from "../chaos/box.ts";
import { openPlant, type Plant } from "../chaos/plant.ts";
import { request } from "../chaos/request.ts";
import { boxNames, openScene, type Scene } from "../chaos/scene.ts";
import { hasEtcd } from "../etcd-harness.ts";

const LONG_MS = 240_000;
const SOON = { timeout: 60_000, interval: 100 };
const UNPROVEN = "etcd has not confirmed what this box knows since its gateway has started";

let plant: Plant;
let scene: Scene;
beforeAll(async () => {
  if (!hasEtcd) return;
  plant = await openPlant(boxNames);
  scene = await openScene({ sections: (box) => ({ opcua: plant.sections(box).opcua }) });
  await scene.whole();
}, LONG_MS);
afterAll(async () => {
  await scene?.close();
  await plant?.close();
});

let commands = 0;
const newId = () => {
  commands += 1;
  return `u${commands}`;
};

async function send(box: Box, operation: string, body: object, id = newId()): Promise<unknown> {
  const headers = { "fleetgate-user": "line", prefer: "wait=4" };
  const command = { operation, request: body, expires_in_ms: 3_000 };
  const answer = await request(box, "PUT", `commands/${id}`, headers, command);
  return answer?.body.code ?? answer?.body.stage ?? null;
}

describe.skipIf(!hasEtcd)("a box that starts while etcd has no majority", () => {
  test(
    "knows the holds of before, sends stops alone, and leads when etcd is back",
    async () => {
      const { etcd, boxes } = scene;
      const [box, other] = boxes;
      const [held, free] = scene.robots.map(({ id }) => id);
      const shown = async () => (await request(box, "GET", `robots/${held}`))?.body.hold;
      const place = async () => (await request(box, "GET", "status"))?.body.cluster as object;
      const goal = { pose: { xMeters: 3, yMeters: 0, headingRadians: 0 } };
      const start = (robotId = held, to = box, id = newId()) =>
        send(to, "CreateMission", { robotId, mission: { baseMission: { navigateMission: { goal } } } }, id);
      // There is no such mission.
      const stop = () =>
        send(box, "UpdateMission", {
          robotId: free,
          missionCommand: { missionId: "none", command: "COMMAND_CANCEL" },
        });

      expect(await start(free, scene.leader(), "before")).toBe("OK");
      const user = { "fleetgate-user": "line" };
      await request(scene.leader(), "PUT", `robots/${held}/hold`, user, { hold: true });
      const stored = { held: true, by: ["cli:line"], stored: true };
      await expect.poll(shown, SOON).toEqual(stored);
      // Both boxes have written what they know.
      await wait(2_000);
      other.pause();
      await Promise.all(etcd.members.map((member) => member.kill()));
      await box.kill();
      await expect.poll(() => box.isWhole(), SOON).toBe(true);
      expect(await shown()).toEqual(stored);
      expect(await place()).toMatchObject({ role: "standby", leader: null, unled_because: UNPROVEN });
      // The service has been asked.
      expect(await stop()).toBe("INVALID_ARGUMENT");
      expect(await start(free)).toBe("STANDBY");
      expect(await start(free, box, "before")).toBe("OK");
      const plc = await openPlc(`opc.tcp://localhost:${plant.opcuaPort(box.name)}`, undefined, 0);
      expect(await plc.serviceLevel()).toBe(2);
      await plc.close();

      await Promise.all(etcd.members.map((member) => member.start()));
      await expect.poll(() => box.isLeading(), SOON).toBe(true);
      expect(await shown()).toEqual(stored);
      expect(await start()).toBe("HELD");
      other.resume();
      await scene.whole();
      expect(boxes.flatMap((each) => each.takeFaults())).toEqual([]);
    },
    LONG_MS,
  );
});
