import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Box } from "../chaos/box.ts";
import { openScene, type Scene } from "../chaos/scene.ts";
import { hasEtcd } from "../etcd-harness.ts";

const LONG_MS = 240_000;
const FENCED = { timeout: 40_000, interval: 200 };

let scene: Scene;
let folder: string;
/** Exits with what the file `code` has, and writes a line of its environment before. */
let fence: string;
beforeAll(async () => {
  if (!hasEtcd) return;
  folder = mkdtempSync(join(tmpdir(), "fleetgate-fence-"));
  fence = join(folder, "fence");
  const said = '"$FLEETGATE_CLUSTER $FLEETGATE_FENCE_MEMBER $FLEETGATE_FENCE_EPOCH $*"';
  writeFileSync(
    fence,
    `#!/bin/sh\ncd ${folder}\necho ${said} >>calls\necho no controller >&2\nexit $(cat code)\n`,
    { mode: 0o755 },
  );
  writeFileSync(join(folder, "code"), "1");
  writeFileSync(join(folder, "calls"), "");
  scene = await openScene({ sections: () => ({ cluster: { fence: { command: [fence, "password=abc"] } } }) });
  await scene.whole();
}, LONG_MS);
afterAll(async () => {
  await scene?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

const calls = () => readFileSync(join(folder, "calls"), "utf8").split("\n").slice(0, -1);
const otherThan = (box: Box): Box => (box === scene.boxes[0] ? scene.boxes[1] : scene.boxes[0]);

function run(box: Box, ...command: readonly string[]): Promise<readonly [code: number, said: string]> {
  const args = ["dist/main.js", ...command, "--socket", box.socketPath];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, out, err) =>
      resolve([error === null ? 0 : Number(error.code), out + err]),
    );
  });
}

async function get(box: Box, path: string) {
  const answer = await box.pool.request({ method: "GET", path: `/api/v1/${path}` });
  return (await answer.body.json()) as Record<string, unknown>;
}
const codesOf = async (box: Box) => {
  const { alarms } = (await get(box, "alarms")) as { alarms: { code: string; active: boolean }[] };
  return alarms.filter(({ active }) => active).map(({ code }) => code);
};
const clusterOf = async (box: Box) => (await get(box, "status")).cluster as Record<string, unknown>;

/** What the service says to a stop of a mission that there is not. */
async function stop(box: Box): Promise<unknown> {
  const missionCommand = { missionId: "none", command: "COMMAND_CANCEL" };
  const body = JSON.stringify({
    operation: "UpdateMission",
    request: { robotId: scene.robots[0]?.id, missionCommand },
  });
  const headers = { "content-type": "application/json", "fleetgate-user": "line", prefer: "wait=4" };
  const answer = await box.pool.request({ method: "PUT", path: "/api/v1/commands/s1", headers, body });
  return ((await answer.body.json()) as Record<string, unknown>).code;
}

describe.skipIf(!hasEtcd)("cluster.fence", () => {
  test(
    "keeps a box from leading until its command succeeds, or an engineer confirms",
    async () => {
      const leader = scene.leader();
      const other = otherThan(leader);
      expect(calls()).toEqual([]);
      const { epoch } = await clusterOf(leader);
      leader.pause();
      await expect.poll(() => calls().length, FENCED).toBeGreaterThan(0);
      expect(calls()[0]).toBe(`chaos ${leader.name} ${epoch} password=abc`);
      await expect.poll(() => codesOf(other), FENCED).toContain("FENCE_FAILED");
      const because = `${other.name} could not fence ${leader.name}: the program ended with exit code 1`;
      expect(await clusterOf(other)).toMatchObject({ role: "standby", leader: null, unled_because: because });
      expect(await run(other, "status", "--active")).toEqual([
        1,
        expect.stringContaining(`leader none: ${because}`),
      ]);
      expect(other.said()).toContain("no controller");
      expect(other.said()).not.toContain("password=abc");

      // Stops pass meanwhile.
      expect(await stop(other)).toBe("FAILED_PRECONDITION");
      expect((await run(other, "fence-confirm", other.name))[0]).toBe(4);
      expect(await run(other, "fence-confirm", leader.name)).toEqual([
        0,
        expect.stringContaining(`${leader.name} counts as off`),
      ]);
      await expect.poll(() => other.isLeading(), FENCED).toBe(true);
      await expect.poll(() => codesOf(other), FENCED).not.toContain("FENCE_FAILED");
      leader.resume();
      await scene.whole();
      const audited = readFileSync(join(dirname(other.socketPath), "data", "audit", "audit.jsonl"), "utf8")
        .split("\n")
        .filter((line) => line.includes('"event":"fence"'))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(audited).toMatchObject([
        { operation: "confirm", member: other.name, outcome: "refused", protocol: "cli" },
        { operation: "confirm", member: leader.name, outcome: "succeeded" },
      ]);
    },
    LONG_MS,
  );

  test(
    "lets it lead when the command succeeds, and does not run at a handover",
    async () => {
      await scene.whole();
      writeFileSync(join(folder, "code"), "0");
      const before = calls().length;
      const first = scene.leader();
      await expect.poll(() => run(first, "handover"), FENCED).toEqual([0, expect.anything()]);
      await scene.whole();
      expect(calls()).toHaveLength(before);
      const leader = scene.leader();
      const other = otherThan(leader);
      leader.pause();
      await expect.poll(() => other.isLeading(), FENCED).toBe(true);
      expect(calls()).toHaveLength(before + 1);
      leader.resume();
      await scene.whole();
      // One that is only killed comes back, and leads if it is back before it is fenced.
      const last = scene.leader();
      await last.kill();
      await scene.whole();
      const [isBack, fences] = [scene.leader() === last, calls().length - before - 1];
      process.stdout.write(`killed: ${isBack ? "leads again" : "came too late"}\n`);
      expect(fences).toBe(isBack ? 0 : 1);
      expect(scene.boxes.flatMap((box) => box.takeFaults())).toEqual([]);
    },
    LONG_MS,
  );
});
