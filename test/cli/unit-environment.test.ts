import { chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { unitEnvironment } from "../../src/cli/unit-environment.ts";
import { type ConfigFolder, createConfigFolder, minimal } from "../config/config-folder.ts";

let folder: ConfigFolder;
let etc: string;
let usr: string;

beforeEach(async () => {
  folder = await createConfigFolder();
  etc = join(folder.path, "etc");
  usr = join(folder.path, "usr");
  await mkdir(join(etc, "fleetgate.service.d"), { recursive: true });
  await mkdir(join(usr, "fleetgate.service.d"), { recursive: true });
  const unit = "[Unit]\nLoadCredential=no:/no\n[Service]\nStateDirectory=fleetgate\n#LoadCredential=no:/no\n";
  await writeFile(join(usr, "fleetgate.service"), unit);
});
afterEach(() => folder[Symbol.asyncDispose]());

const dropIn = (where: string, name: string, lines: string) =>
  writeFile(join(where, "fleetgate.service.d", name), `[Service]\n${lines}\n`);

it("takes credentials and data folder from the unit and its drop-ins", async () => {
  await dropIn(usr, "10-keys.conf", "LoadCredential=gone:/gone\nLoadCredential=api-key:/usr/key.json");
  await dropIn(etc, "10-keys.conf", "LoadCredential=api-key:/root/api-key.json");
  await dropIn(etc, "20-more.conf", "LoadCredential=scada:/root/with:colon");
  const { env, source } = unitEnvironment({ HOME: "/root" }, 0, [etc, usr]);
  expect(source).toBe(join(usr, "fleetgate.service"));
  expect(env).toEqual({
    HOME: "/root",
    unit: source,
    STATE_DIRECTORY: "/var/lib/fleetgate",
    "credential:api-key": "/root/api-key.json",
    "credential:scada": "/root/with:colon",
  });
  await dropIn(etc, "30-reset.conf", "LoadCredential=");
  expect(unitEnvironment({}, 0, [etc, usr]).env).toEqual({
    unit: source,
    STATE_DIRECTORY: "/var/lib/fleetgate",
  });
});

it.each([
  ["another user", {}, 1000, true],
  ["what systemd has started", { STATE_DIRECTORY: "/var/lib/x" }, 0, true],
  ["a machine without the unit", {}, 0, false],
])("takes nothing for %s", (_, env, uid, isInstalled) => {
  expect(unitEnvironment(env, uid, isInstalled ? [usr] : [etc])).toEqual({ env, source: null });
});

it.runIf(process.getuid?.() === 0)("does not let root take the folder from the unit's user", async () => {
  const state = join(folder.path, "state");
  await mkdir(state, { mode: 0o700 });
  await chown(state, 65_534, 65_534);
  const warnings = async (env: Record<string, string>) => {
    const loaded = await folder.load(minimal, { ...env, STATE_DIRECTORY: state });
    return loaded.ok ? loaded.warnings.map(({ message }) => message) : null;
  };
  expect(await warnings({})).toEqual([expect.stringContaining("belongs to user 65534")]);
  expect(await warnings({ unit: "/etc/systemd/system/fleetgate.service" })).toEqual([]);
});

it("lets the configuration find the file of a credential", async () => {
  const key = await folder.write("root-only.json", '{"api_key":"k","scope":"s","secret":"x"}');
  const text = minimal.replace("api-key.json", "credential:api-key");
  const config = await folder.config(text, {
    "credential:api-key": key,
    STATE_DIRECTORY: "/var/lib/fleetgate",
  });
  expect(config.fleet.credentials.apiKey).toBe("k");
  expect(config.gateway.dataDir).toBe("/var/lib/fleetgate");
});
