import { readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { opcUaOptions, type RunningServer, scada, startServer } from "../northbound/opcua/opcua-harness.ts";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "./program.ts";

const home = process.env.XDG_CONFIG_HOME;
let running: RunningServer;
let folder: string;

beforeAll(async () => {
  running = await startServer({
    users: [scada],
    robots: [{ robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1] }],
  });
  folder = newFolder();
  process.env.XDG_CONFIG_HOME = folder;
});
afterAll(async () => {
  if (home === undefined) delete process.env.XDG_CONFIG_HOME;
  else process.env.XDG_CONFIG_HOME = home;
  endPrograms();
  await running.stop();
});

it(
  "with a user, the connection is encrypted, and the gateway approves the program's certificate once",
  async () => {
    await writeFile(join(folder, "password"), "scada secret\n");
    const options = ["--user", "scada", "--password-file", join(folder, "password")];
    const watch = () => fleetgate(folder, "watch", running.url, "Robots.AMR01", ...options);

    const first = watch();
    expect((await first.ended).code).toBe(1);
    const [, thumbprint = ""] =
      /sudo fleetgate certs approve (\w{40})$/.exec(first.err.entries.join("\n")) ?? [];
    const store = join(opcUaOptions().dataDir, "opcua/server");
    const waiting = (await readdir(join(store, "rejected"))).filter((name) => name.includes(thumbprint));
    expect(waiting).toHaveLength(1);
    for (const name of waiting)
      await rename(join(store, "rejected", name), join(store, "trusted/certs", name));

    // The server looks at its folders every few seconds.
    await expect
      .poll(async () => {
        const next = watch();
        const seen = next.out.first("a tag", (line) => line.includes("Robots.AMR01.RobotId"));
        const isFollowed = await Promise.race([seen.then(() => true), next.ended.then(() => false)]);
        next.send("SIGINT");
        await next.ended;
        seen.catch(() => {});
        return isFollowed;
      })
      .toBe(true);
  },
  TEST_TIMEOUT_MS,
);

it(
  "without a user it connects openly, if the server lets it",
  async () => {
    const watch = fleetgate(folder, "watch", running.url, "Robots.AMR01.RobotId");
    await watch.out.first("the tag", (line) => line.includes('Robots.AMR01.RobotId = "r1"'));
    watch.send("SIGINT");
    expect((await watch.ended).code).toBe(0);
  },
  TEST_TIMEOUT_MS,
);
