import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Refused } from "../../../src/cli/exit.ts";
import { planOf, refuseFaults } from "../../../src/cli/init/command.ts";
import { interview, type Obstacle, type PasswordFiles } from "../../../src/cli/init/interview.ts";
import type { Given } from "../../../src/cli/init/questions.ts";
import { placeProblem, refusePlace, writePlan } from "../../../src/cli/init/written-files.ts";
import { openTerminal } from "../../../src/cli/terminal.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { isPassword } from "../../../src/platform/password.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "../program.ts";
import { piped, typed } from "../typed.ts";
import { hasInvented } from "./init-harness.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const SECRET = "s3cr3t-of-the-key";
let folder: string;
beforeEach(() => {
  folder = newFolder();
  writeFileSync(
    join(folder, "key.json"),
    JSON.stringify({ api_key: "key-1", scope: "acme", secret: SECRET }),
  );
});
afterEach(endPrograms);

/** Answers to all that is needed. */
function needed(given: Given): Given {
  const apiKey = join(folder, "key.json");
  return { id: "plant1", fleet: "fleet.example.com:443", apiKey, robots: "cart-1", ...given };
}

/** What is said of answers without a terminal. */
async function problems(given: Given, passwords: PasswordFiles = {}): Promise<readonly string[]> {
  const refused = await interview(needed(given), passwords, null).catch((error: unknown) => error);
  return refused instanceof Refused ? refused.problems : [];
}

/** Writes what the answers come to. */
async function write(
  given: Given,
  check = refuseFaults,
  passwords: PasswordFiles = {},
): Promise<readonly string[]> {
  const answers = await interview(needed(given), passwords, null);
  const path = join(folder, "etc", "fleetgate.yaml");
  return writePlan(await planOf(path, "data", answers, {}), check);
}

/** Every file of the folder, with its text. */
function files(): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

it("gives a further gateway of a folder files and data of its own", async () => {
  const args = (id: string) => [
    ...["init", "--config", `etc/${id}.yaml`, "--id", id, "--fleet", "fleet.example.com:443"],
    ...["--api-key", "key.json", "--robots", "cart-1"],
  ];
  expect(piped(folder, args("fleetgate"))).toMatchObject({ code: 0 });
  expect(piped(folder, args("hall4"))).toMatchObject({ code: 0 });
  const loaded = await loadConfig(join(folder, "etc/hall4.yaml"), {}, createCatalogue(), Date.now());
  expect(loaded).toMatchObject({ ok: true, warnings: [] });
  expect(loaded.ok && loaded.config.gateway.dataDir).toBe(join(folder, "etc/hall4/data"));
  expect(readdirSync(join(folder, "etc/hall4/secrets")).sort()).toEqual([
    "api-key.json",
    "invented-passwords",
    "opcua-line1",
  ]);
});

it("says at the answer, and not at the end, that a file is in the way", async () => {
  const path = join(folder, "etc", "fleetgate.yaml");
  const authority = join(folder, "ca.pem");
  writeFileSync(authority, (await createCa(Date.now())).certificate);
  mkdirSync(join(folder, "etc/secrets"), { recursive: true });
  writeFileSync(join(folder, "etc/fleet-ca.pem"), "another");
  writeFileSync(join(folder, "etc/secrets/api-key.json"), "another");
  const isInTheWay: Obstacle = (name, answer) => placeProblem(path, name, answer);
  const asked = interview(needed({ fleetCa: authority }), {}, null, isInTheWay);
  await expect(asked).rejects.toMatchObject({
    problems: [
      expect.stringMatching(/^--fleet-ca: .*etc\/fleet-ca.pem is in the way/),
      expect.stringMatching(/^--api-key: .*etc\/secrets\/api-key.json is in the way/),
    ],
  });
  const key = join(folder, "key.json");
  copyFileSync(key, join(folder, "etc/secrets/api-key.json"));
  expect(await placeProblem(path, "apiKey", key)).toBeNull();
});

it("refuses a server's own certificate as the authority, and names what issued it", async () => {
  const authority = await createCa(Date.now());
  const { certificate } = await createServerCertificate(authority, ["fleet.example.com"], Date.now());
  const fleetCa = join(folder, "server.pem");
  writeFileSync(fleetCa, certificate);
  expect(await problems({ fleetCa })).toEqual([
    expect.stringMatching(/^--fleet-ca: .* holds a server's own certificate: .*\(Fleetgate simulator CA/),
  ]);
  // The authority beside it is enough.
  writeFileSync(fleetCa, `${certificate}\n${authority.certificate}`);
  expect(await problems({ fleetCa })).toEqual([]);
});

it.each(["300.1.2.3", "10.0.0", "gw1..plant", "-gw1", "gw_1", `${"a".repeat(64)}.plant`])(
  "refuses a host that can be none: %s",
  async (host) => {
    expect(await problems({ host })).toEqual([`--host: ${host} is neither a host name nor an address`]);
  },
);

it("wants robots or locations, and says so once", async () => {
  expect(await problems({ locations: "hall-1" })).toEqual(["--robots and --locations: give one of the two"]);
});

it("says that nobody sees the robots where both protocols are off", () => {
  const { code, out } = piped(folder, [
    ...["init", "--config", "etc/fleetgate.yaml", "--id", "plant1", "--fleet", "fleet.example.com:443"],
    ...["--api-key", "key.json", "--robots", "cart-1", "--opcua", "off"],
  ]);
  expect(code).toBe(0);
  expect(out).toContain("Both MQTT and OPC UA are off: the plant sees nothing of the robots");
});

it("says which flags are missing where nobody can be asked, and writes nothing", async () => {
  const before = files();
  const { code, err } = piped(folder, ["init", "--config", "etc/fleetgate.yaml"]);
  expect(code).toBe(64);
  for (const flag of ["--id", "--fleet", "--api-key", "--robots or --locations"])
    expect(err).toContain(`${flag} is missing`);
  expect(err).toContain("nothing was written");
  expect(files()).toEqual(before);
  expect(await problems({ mqtt: "mqtts://broker:8883", mqttUser: "gw" })).toEqual([
    expect.stringContaining("--mqtt-password-file is missing"),
  ]);
});

it("refuses wrong answers all at once, each by its flag and what would be right", async () => {
  const badKey = join(folder, "bad-key.json");
  writeFileSync(badKey, JSON.stringify({ api_key: SECRET, secret: SECRET }));
  const wrong = {
    id: "pl 1",
    fleet: "https://fleet.example.com",
    fleetService: "FleetService",
    fleetHttps: "http://fleet.example.com",
    fleetCa: badKey,
    apiKey: badKey,
    robots: "cart-1,cart-1",
    mqtt: "broker:1883",
    opcua: "yes",
    host: "0.0.0.0",
    opcuaRole: "admin",
  };
  const said = await problems(wrong, { opcuaPasswordFile: join(folder, "none") });
  expect(said).toEqual([
    expect.stringMatching(/^--id: use 1 to 63 letters/),
    expect.stringMatching(/^--fleet: write host:port, without a scheme/),
    "--fleet-service: write package.Service, as fleet.v1.FleetService",
    expect.stringMatching(/^--fleet-https: write a URL that begins with https/),
    expect.stringMatching(/^--fleet-ca: .*bad-key.json holds no certificate/),
    expect.stringMatching(/^--api-key: .*bad-key.json is no API key document: scope must be there/),
    "--robots: the same entry is there twice",
    expect.stringMatching(/^--mqtt: write off, embedded, mqtts:/),
    "--opcua: write on or off",
    expect.stringMatching(/^--host: 0.0.0.0 reaches no machine/),
    "--opcua-role: write observer, operator, engineer",
    expect.stringMatching(/^--opcua-password-file: .*none does not exist/),
  ]);
  expect(said.join()).not.toContain(SECRET);
});

it("refuses a flag that the other answers leave without use", async () => {
  expect(await problems({ webRole: "operator" }, { webPasswordFile: join(folder, "key.json") })).toEqual([
    expect.stringMatching(/^--web-role: is of no use with the other answers/),
    expect.stringMatching(/^--web-password-file: is of no use with the other answers/),
  ]);
  expect(await problems({ opcua: "off", opcuaUser: "line1" })).toEqual([
    expect.stringMatching(/^--opcua-user: is of no use with the other answers/),
  ]);
});

it("writes what check accepts without a warning, and keeps its secrets to itself", async () => {
  writeFileSync(join(folder, "password"), "plain words\n");
  const { code, out, err } = piped(folder, [
    ...["init", "--config", "etc/fleetgate.yaml", "--id", "plant1", "--fleet", "fleet.example.com:443"],
    ...["--api-key", "key.json", "--robots", "cart-1", "--opcua-password-file", "password"],
  ]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const written = join(folder, "etc", "fleetgate.yaml");
  expect(out).toContain(`fleetgate check --config ${written}`);
  expect(out + readFileSync(written, "utf8")).not.toMatch(new RegExp(`${SECRET}|plain words`));
  const kept = readFileSync(join(folder, "etc/secrets/opcua-line1"), "utf8").trim();
  expect(await isPassword(kept, "plain words")).toBe(true);
  for (const name of ["api-key.json", "opcua-line1"])
    expect(statSync(join(folder, "etc/secrets", name)).mode & 0o007).toBe(0);
  const check = fleetgate(folder, "check", "--config", written);
  expect(await check.ended).toMatchObject({ code: 0 });
  expect(check.err.entries).toEqual([]);
});

it("never writes over a file: it names what is in the way, and writes nothing", async () => {
  await write({});
  const before = files();
  await expect(write({ robots: "cart-2" })).rejects.toMatchObject({
    problems: [
      expect.stringMatching(/etc\/fleetgate.yaml is in the way/),
      // The API key is the same.
      expect.stringMatching(/etc\/secrets\/opcua-line1 is in the way/),
      expect.stringMatching(/etc\/secrets\/invented-passwords is in the way/),
    ],
  });
  expect(files()).toEqual(before);
});

it("refuses a place for the configuration before it asks anything", async () => {
  const path = join(folder, "etc", "fleetgate.yaml");
  await expect(refusePlace(path)).resolves.toBeUndefined();
  mkdirSync(join(folder, "etc"));
  writeFileSync(path, "# mine\n");
  await expect(refusePlace(path)).rejects.toMatchObject({
    problems: [expect.stringContaining("fleetgate.yaml is in the way")],
  });
});

it("removes what it has written when something fails", async () => {
  const before = files();
  const names = readdirSync(folder);
  const fault = new Refused(["the configuration would be wrong"]);
  await expect(write({ mqtt: "embedded", host: "gw1" }, () => Promise.reject(fault))).rejects.toBe(fault);
  expect(files()).toEqual(before);
  expect(readdirSync(folder)).toEqual(names);
});

it.each<readonly [string, Given, PasswordFiles]>([
  ["with a broker inside, for others", { mqtt: "embedded", mqttRole: "operator", host: "gw1,fd00::1" }, {}],
  ["with a console for others", { opcua: "off", webUser: "anna", host: "gw1,fd00::1" }, {}],
  ["with a log-in for this machine", { webUser: "anna", webRole: "engineer" }, { webPasswordFile: "words" }],
  ["with a broker inside, for this machine", { mqtt: "embedded", opcua: "on" }, {}],
  ["with the plant's broker", { mqtt: "mqtts://broker:8883" }, {}],
  [
    "with a user at the plant's broker",
    { mqtt: "mqtt://127.0.0.1:1883", mqttUser: "gw" },
    { mqttPasswordFile: "words" },
  ],
  ["without any protocol", { mqtt: "off", opcua: "off" }, {}],
  [
    "for robots with names that YAML would read otherwise",
    { robots: "true,007,a b,null,c: d,'e,#f,[g]" },
    {},
  ],
])("writes what the gateway reads %s", async (_case, given, passwords) => {
  writeFileSync(join(folder, "words"), "plain words\n");
  const inFolder = Object.fromEntries(
    Object.entries(passwords).map(([key, name]) => [key, join(folder, name)]),
  );
  await write(given, refuseFaults, inFolder);
  const path = join(folder, "etc", "fleetgate.yaml");
  const loaded = await loadConfig(path, {}, createCatalogue(), Date.now());
  expect(loaded).toMatchObject({ ok: true, warnings: [], outdated: [] });
  const ids = (given.robots ?? "cart-1").split(",");
  expect(loaded.ok && loaded.config.fleet.robots).toEqual({ kind: "ids", ids });
});

it("takes an IPv6 address with and without brackets, and writes none", async () => {
  await write({ opcua: "on", host: "[fd00::5],fd00::6,gw1" });
  const text = readFileSync(join(folder, "etc", "fleetgate.yaml"), "utf8");
  expect(text).toMatch(/hostname: "?fd00::5"?\n/);
  expect(text).toMatch(/alternateHostnames: \["?fd00::6"?, gw1\]/);
});

it("asks at a terminal, again after a wrong answer, and shows no password", async () => {
  const { screen, code } = await typed(
    folder,
    ["init", "--config", "etc/fleetgate.yaml", "--id", "plant1"],
    [
      ["gRPC address", "fleet.example.com"],
      ["gRPC address", "fleet.example.com:443"],
      ["gRPC service, as its maker calls it [fleet.v1.FleetService]", "FleetService"],
      ["gRPC service, as its maker calls it", "maker.v2.Fleet"],
      ["REST operations [https://fleet.example.com]", ""],
      ["empty: the system's", ""],
      ["API key document", "key.json"],
      ["Robots by id", ""],
      ["Locations", "hall-1, hall 2"],
      ["MQTT: off", "mqtts://broker.example.com:8883"],
      ["OPC UA server", "on"],
      ["User of the console", "anna"],
      ["Names or addresses", "gw1.plant.example.com, 10.0.0.5"],
      ["MQTT user", "gw"],
      ["empty: the system's", ""],
      ["OPC UA user [line1]", "plc1"],
      ["Role of the OPC UA user", "admin"],
      ["Role of the OPC UA user", ""],
      ["Role of the console's user", "engineer"],
      ["Password of gw at the broker", "broker words"],
      ["The same again", "broker words"],
      ["Password of OPC UA user plc1", ""],
      ["Password of console user anna", "console words"],
      ["The same again", "console words"],
    ],
  );
  expect(screen).toContain("write host:port, as fleet.example.com:443");
  expect(screen).not.toMatch(/(broker|console) words/);
  expect({ code, screen }).toMatchObject({ code: 0 });
  const text = readFileSync(join(folder, "etc/fleetgate.yaml"), "utf8");
  expect(text).toContain('locations: [hall-1, "hall 2"]');
  expect(text).toContain("serviceName: maker.v2.Fleet");
  expect(text).toContain("hostname: gw1.plant.example.com");
  expect(text).toContain("alternateHostnames: [10.0.0.5]");
  expect(readFileSync(join(folder, "etc/secrets/mqtt-password"), "utf8")).toBe("broker words\n");
  expect(text).toMatch(/anna:\n +password: secrets\/web-anna\n[^\n]*\n +role: engineer/);
  expect(screen).not.toContain(await hasInvented(folder, "OPC UA user plc1", "opcua-plc1"));
  const chosen = readFileSync(join(folder, "etc/secrets/web-anna"), "utf8").trim();
  expect(await isPassword(chosen, "console words")).toBe(true);
});

it("writes nothing when the person gives up", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const asked = interview({ id: "plant1" }, {}, () => openTerminal(input, output));
  input.write("fleet.example.com:443\n\u0003");
  await expect(asked).rejects.toEqual(new Refused(["cancelled"]));
});
