import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Box } from "../chaos/box.ts";
import { openScene, type Scene } from "../chaos/scene.ts";
import { hasEtcd } from "../etcd-harness.ts";

const LONG_MS = 240_000;
const SOON = { timeout: 60_000, interval: 100 };
const STOP_MS = 2_000;
/** What a busy machine may need beside. */
const BUSY_MS = 2_000;

let scene: Scene;
let commands = 0;
beforeAll(async () => {
  if (!hasEtcd) return;
  scene = await openScene({ sections: () => ({ cluster: { standby: "warm" } }) });
}, LONG_MS);
afterAll(async () => {
  await scene?.close();
});

const otherThan = (box: Box): Box => (box === scene.boxes[0] ? scene.boxes[1] : scene.boxes[0]);

/** One box leads, and sees every robot; the other one answers. */
async function led(): Promise<void> {
  await expect
    .poll(async () => {
      const leaders = scene.boxes.filter((box) => box.isLeading());
      const [leader] = leaders;
      if (leaders.length !== 1 || leader === undefined) return false;
      return (await leader.isWhole()) && (await statusOf(otherThan(leader))) !== null;
    }, SOON)
    .toBe(true);
}

async function statusOf(box: Box): Promise<Record<string, unknown> | null> {
  try {
    const answer = await box.pool.request({ method: "GET", path: "/api/v1/status" });
    return (await answer.body.json()) as Record<string, unknown>;
  } catch {
    return null;
  }
}

async function send(box: Box, operation: string, request: object): Promise<unknown> {
  commands += 1;
  const user = `line${commands % 40}`;
  const headers = { "content-type": "application/json", "fleetgate-user": user, prefer: "wait=4" };
  const body = JSON.stringify({ operation, request, expires_in_ms: 3_000 });
  const path = `/api/v1/commands/w${commands}`;
  try {
    const answer = await box.pool.request({ method: "PUT", path, headers, body });
    const { code, stage } = (await answer.body.json()) as Record<string, unknown>;
    return code ?? stage;
  } catch {
    return null;
  }
}

/** A start on any robot, which is taken or not. */
async function isTaken(box: Box): Promise<boolean> {
  const robot = scene.robots[commands % scene.robots.length];
  const goal = { pose: { xMeters: 3, yMeters: 0, headingRadians: commands / 1_024 } };
  const request = { robotId: robot?.id, mission: { baseMission: { navigateMission: { goal } } } };
  return ["OK", "sent", "QUEUE_FULL"].includes(String(await send(box, "CreateMission", request)));
}
/** The service refuses it, as there is no such mission. */
const stop = (box: Box) =>
  send(box, "UpdateMission", {
    robotId: scene.robots[0]?.id,
    missionCommand: { missionId: "none", command: "COMMAND_CANCEL" },
  });

const sessionOf = (status: Record<string, unknown> | null) =>
  (status?.token as { readonly seconds_left: number | null } | undefined)?.seconds_left ?? null;

describe.skipIf(!hasEtcd)("a warm standby", () => {
  test(
    "has no session, and opens one for a stop in time",
    async () => {
      await led();
      const standby = otherThan(scene.leader());
      const before = await statusOf(standby);
      expect(sessionOf(before)).toBeNull();
      expect(before).toMatchObject({ robots: { by_quality: { good: 0 } } });
      expect(JSON.stringify(before?.links)).toContain("stands by without a session");
      expect(before?.state).not.toBe("starting");
      expect(standby.said()).not.toContain("a token has been obtained");

      const askedMs = performance.now();
      expect(await stop(standby)).toBe("FAILED_PRECONDITION");
      const tookMs = performance.now() - askedMs;
      process.stdout.write(`warm standby: a stop was answered after ${Math.round(tookMs)} ms\n`);
      expect(tookMs).toBeLessThan(STOP_MS + BUSY_MS);
      await expect.poll(async () => sessionOf(await statusOf(standby)), SOON).not.toBeNull();
      expect(standby.isLeading()).toBe(false);
    },
    LONG_MS,
  );

  test(
    "opens its session when it takes over",
    async () => {
      // A process of its own, which has sent no stop.
      await otherThan(scene.leader()).kill();
      await led();
      const leader = scene.leader();
      const standby = otherThan(leader);
      expect(sessionOf(await statusOf(standby))).toBeNull();
      const pausedMs = performance.now();
      leader.pause();
      while (!(await isTaken(standby))) await wait(50);
      const tookMs = performance.now() - pausedMs;
      const said = standby.said();
      const atOf = (text: string) => {
        const at = said.lastIndexOf(text);
        const line = said.slice(said.lastIndexOf("\n", at) + 1, said.indexOf("\n", at));
        return Date.parse((JSON.parse(line) as { readonly time: string }).time);
      };
      const openedMs = atOf("connected to the service") - atOf("a token has been obtained");
      process.stdout.write(
        `warm takeover: ${Math.round(tookMs)} ms from the loss to the first start, ${openedMs} ms of them between token and connection\n`,
      );
      expect(standby.isLeading()).toBe(true);
      leader.resume();
      await led();
      expect(scene.boxes.flatMap((box) => box.takeFaults())).toEqual([]);
    },
    LONG_MS,
  );

  test(
    "takes over from a leader that is cut from the service, and both do not take turns",
    async () => {
      await led();
      const leader = scene.leader();
      const standby = otherThan(leader);
      for (const wire of leader.serviceWires) wire.die();
      await expect.poll(() => standby.isLeading(), SOON).toBe(true);
      for (const wire of standby.serviceWires) wire.die();
      await expect.poll(async () => (await statusOf(leader)) !== null, SOON).toBe(true);
      const lives = [leader.life(), standby.life()];
      // Longer than it takes to give way, and to be ready again.
      await wait(15_000);
      expect([leader.life(), standby.life(), standby.isLeading()]).toEqual([...lives, true]);
      for (const wire of [...leader.serviceWires, ...standby.serviceWires]) wire.heal();
      await led();
    },
    LONG_MS,
  );
});
