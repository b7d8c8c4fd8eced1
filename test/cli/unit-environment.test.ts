import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readForUnit } from "../../src/cli/check.ts";
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
  const { env, source } = unitEnvironment({ HOME: "/root" }, 0, "some.yaml", [etc, usr]);
  expect(source).toBe(join(usr, "fleetgate.service"));
  expect(env).toEqual({
    HOME: "/root",
    unit: source,
    STATE_DIRECTORY: "/var/lib/fleetgate",
    "credential:api-key": "/root/api-key.json",
    "credential:scada": "/root/with:colon",
  });
  await dropIn(etc, "30-reset.conf", "LoadCredential=");
  expect(unitEnvironment({}, 0, "some.yaml", [etc, usr]).env).toEqual({
    unit: source,
    STATE_DIRECTORY: "/var/lib/fleetgate",
  });
});

it.each([
  ["another user", {}, 1000, true],
  ["what systemd has started", { STATE_DIRECTORY: "/var/lib/x" }, 0, true],
  ["a machine without the unit", {}, 0, false],
])("takes nothing for %s", (_, env, uid, isInstalled) => {
  const found = unitEnvironment(env, uid, "some.yaml", isInstalled ? [usr] : [etc]);
  expect(found).toEqual({ env, source: null, rights: null });
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

const sandboxed = [
  "[Service]",
  "ExecStart=/usr/bin/fleetgate run --config /etc/fleetgate/NAME.yaml",
  "User=fleetgate",
  "Group=plant",
  "StateDirectory=STATE",
  "ProtectSystem=strict",
];
const unitText = (name: string, state: string) =>
  sandboxed.join("\n").replace("NAME", name).replace("STATE", state);

it("knows what the unit may do that starts the file, one of several gateways too", async () => {
  await writeFile(join(usr, "fleetgate.service"), unitText("fleetgate", "fleetgate"));
  await writeFile(join(usr, "fleetgate@.service"), unitText("%i", "fleetgate-instances/%i"));
  const drop = "ReadWritePaths=/srv/%i /mnt\nSupplementaryGroups=ssl-cert\nLoadCredential=key:/root/%i.json";
  await mkdir(join(etc, "fleetgate@hall2.service.d"));
  await writeFile(join(etc, "fleetgate@hall2.service.d/own.conf"), `[Service]\n${drop}\n`);
  const of = (path: string) => unitEnvironment({}, 0, path, [etc, usr]);
  const rights = { user: "fleetgate", group: "plant" };
  expect(of("/etc/fleetgate/fleetgate.yaml").rights).toEqual({
    ...rights,
    groups: [],
    writable: ["/var/lib/fleetgate"],
  });
  expect(of("/etc/fleetgate/hall2.yaml")).toEqual({
    env: {
      unit: join(usr, "fleetgate@.service"),
      STATE_DIRECTORY: "/var/lib/fleetgate-instances/hall2",
      "credential:key": "/root/hall2.json",
    },
    source: join(usr, "fleetgate@.service"),
    rights: {
      ...rights,
      groups: ["ssl-cert"],
      writable: ["/var/lib/fleetgate-instances/hall2", "/srv/hall2", "/mnt"],
    },
  });
  expect(of("/root/hall2.yaml").rights).toBeNull();
});

it.runIf(process.getuid?.() === 0)("finds what the unit's user may not read or write", async () => {
  await chmod(folder.path, 0o755);
  const rights = { user: "nobody", group: "nogroup", groups: [], writable: [join(folder.path, "state")] };
  const problems = async (text: string, env = {}, changed = {}) => {
    const path = await folder.write("fleetgate.yaml", text);
    await chmod(path, 0o644);
    const unit = { env, source: "the.service", rights: { ...rights, ...changed } };
    const { config, problems: found } = await readForUnit(path, unit);
    expect(config === null).toBe(found.some(({ severity }) => severity === "error"));
    return found.map(({ path: key, message }) => `${key}: ${message}`);
  };
  const state = `gateway: { id: plant1, dataDir: ${join(folder.path, "state", "data")} }`;
  const own = minimal.replace("gateway: { id: plant1 }", state);
  const key = join(folder.path, "api-key.json");
  const hidden = `fleet.credentials: ${key} cannot be read by the user that the gateway runs as`;
  expect(await problems(own)).toEqual([hidden]);
  const credential = own.replace("api-key.json", "credential:key");
  expect(await problems(credential, { "credential:key": key })).toEqual([]);
  await chmod(key, 0o640);
  await chown(key, 0, 65_534);
  expect(await problems(own)).toEqual([]);
  expect(await problems(minimal)).toEqual([
    expect.stringMatching(/^gateway\.dataDir: .*data is read-only for the\.service, which may write to /),
  ]);
  expect(await problems(minimal, {}, { writable: null })).toEqual([]);
  expect(await problems(own, {}, { user: "no-such-user" })).toEqual([
    ": there is no user no-such-user or no group nogroup, which the.service needs",
  ]);
  expect([process.geteuid?.(), process.getegid?.()]).toEqual([0, 0]);
});
