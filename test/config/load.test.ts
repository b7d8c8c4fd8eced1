import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dispatcherDefaults } from "../../src/commands/options.ts";
import { loadConfig } from "../../src/config/load.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { hashPassword } from "../../src/platform/password.ts";
import { apiKey, type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;

beforeEach(async () => {
  folder = await createConfigFolder();
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

describe("a right configuration", () => {
  it("is loaded with every default, and nothing listens that was not asked for", async () => {
    const config = await folder.config(minimal);
    expect(config.fleet.credentials).toEqual({ apiKey: "key-1", scope: "acme", secret: "s3cr3t-of-the-key" });
    expect(config.fleet.authUrl).toBe("https://localhost:7444");
    expect(config.fleet.robots).toEqual({ kind: "ids", ids: ["cart-1"] });
    expect(config.fleet.times.resyncMs).toBe(config.quality.resyncMs);
    expect(config.gateway.dataDir).toBe(join(folder.path, "data"));
    expect([config.mqtt, config.opcua, config.web]).toEqual([null, null, null]);
    expect(config.dispatcher).toEqual(dispatcherDefaults);
  });

  it("keeps to loopback where a section does not say otherwise", async () => {
    const config = await folder.config(`${minimal}
mqtt: { broker: embedded, anonymousLoopback: true }
opcua: { insecureLoopback: {} }
web: {}
`);
    expect(config.mqtt?.broker).toMatchObject({ kind: "embedded", host: "127.0.0.1", port: 1883 });
    expect(config.mqtt?.base).toBe("fleetgate/plant1");
    expect(config.opcua).toMatchObject({
      host: "127.0.0.1",
      port: 4840,
      insecureLoopback: { role: "observer" },
    });
    expect(config.web?.listen).toEqual({ host: "127.0.0.1", port: 8080 });
  });

  it("copies the audit log to systemd's journal where the file says so", async () => {
    const section = "commands: { audit: { journald: true } }\n";
    expect((await folder.config(`${minimal}${section}`)).audit.journald).toBe(true);
    expect((await folder.config(minimal)).audit.journald).toBe(false);
  });

  it("keeps state where systemd says, unless the file says where", async () => {
    const env = { STATE_DIRECTORY: "/var/lib/fleetgate:/var/lib/other" };
    expect((await folder.config(minimal, env)).gateway.dataDir).toBe("/var/lib/fleetgate");
    const told = minimal.replace("{ id: plant1 }", "{ id: plant1, dataDir: state }");
    expect((await folder.config(told, env)).gateway.dataDir).toBe(join(folder.path, "state"));
  });

  it("takes secrets that systemd hands over", async () => {
    await folder.write("handed", JSON.stringify({ ...apiKey, scope: "handed" }));
    const text = minimal.replace("api-key.json", "credential:handed");
    expect((await folder.config(text, { CREDENTIALS_DIRECTORY: folder.path })).fleet.credentials.scope).toBe(
      "handed",
    );
    expect(await folder.problems(text)).toEqual([expect.stringContaining("$CREDENTIALS_DIRECTORY")]);
  });

  it("takes passwords from the first line of their files", async () => {
    await folder.write("broker-password", "geheim\n");
    const hash = await hashPassword("line 1");
    await folder.write("line1", `${hash}\n`);
    const config = await folder.config(`${minimal}
mqtt: { broker: "mqtts://broker:8883", username: gw, password: broker-password }
opcua: { users: { line1: { password: line1, role: operator } } }
`);
    expect(config.mqtt?.broker).toMatchObject({ kind: "external", username: "gw", password: "geheim" });
    expect(config.opcua?.users).toEqual([
      {
        name: "line1",
        role: "operator",
        number: null,
        isDryRun: false,
        secret: { kind: "scrypt", text: hash },
      },
    ]);
  });

  it("has the brokers of the plant in their order, and where each stands", async () => {
    const config = await folder.config(`${minimal}
mqtt: { broker: "wss://a/mqtt", fallbackBrokers: ["mqtts://b", "mqtt://c"], returnMs: 5000 }
`);
    expect(config.mqtt?.broker).toMatchObject({
      url: "wss://a/mqtt",
      returnMs: 5_000,
      fallbacks: [
        { url: "mqtts://b", setting: "mqtt.fallbackBrokers[0]" },
        { url: "mqtt://c", setting: "mqtt.fallbackBrokers[1]" },
      ],
    });
  });

  it("puts the proxy's user into its URL", async () => {
    await folder.write("proxy-password", "p@ss/word");
    const config = await folder.config(
      `${minimal}  proxy: { url: "http://proxy:3128", username: gw, password: proxy-password }\n`,
    );
    expect(config.fleet.proxyUrl).toBe("http://gw:p%40ss%2Fword@proxy:3128/");
  });
});

describe("a wrong configuration", () => {
  it("has a hash where none can be used, or one that no password matches", async () => {
    await folder.write("hash", await hashPassword("geheim"));
    await folder.write("half", "scrypt:c2FsdA==:aGFzaA==\n");
    expect(
      await folder.problems(`${minimal}
mqtt: { broker: "mqtts://broker:8883", username: gw, password: hash }
opcua: { users: { line1: { password: half, role: operator } } }
`),
    ).toEqual([
      expect.stringContaining("holds a hash; the gateway needs the password itself here"),
      expect.stringContaining("holds no password: a hash is scrypt:"),
    ]);
  });

  it("shows every problem at once, in the order of the file, each with path and line", async () => {
    const text = `gateway: { id: "plant 1" }
log: { level: loud }
fleet:
  grpc:
    adress: localhost:7443
  https: http://localhost:7444
  credentials: nowhere.json
  ca: nothing.pem
  robots: [cart-1]
mqtt:
  broker: embedded
  listen: { host: 127.0.0.1, port: "1883" }
colour: red
rights:
  - source: { protocol: opcua, name: line1 }
    role: boss
`;
    expect(await folder.problems(text)).toEqual([
      expect.stringMatching(/^f:1: gateway\.id: use 1 to 63 letters/),
      'f:2: log.level: must be one of debug, info, warn, error, silent; not "loud"',
      "f:4: fleet.grpc.address: is missing",
      'f:5: fleet.grpc.adress: unknown key; the nearest known one is "address"',
      "f:6: fleet.https: write a URL that begins with https://: a token must not travel without TLS",
      `f:7: fleet.credentials: ${folder.path}/nowhere.json does not exist`,
      `f:8: fleet.ca: ${folder.path}/nothing.pem does not exist`,
      'f:12: mqtt.listen.port: must be a number: write 1883 without quotes, not "1883"',
      "f:13: colour: unknown key; known here are alarms, cluster, commands, control, conveyors, fleet, gateway, log, mqtt, opcua, quality, recorder, rights, stations, web",
      'f:16: rights[0].role: must be one of observer, operator, engineer; not "boss"',
    ]);
  });

  it("names no robot that could have no node, topic or record", async () => {
    const long = "x".repeat(257);
    const wide = "語".repeat(171);
    const text = minimal
      .replace("robots: [cart-1]", `robots: [cart-1, "", "${long}", "${wide}"]`)
      .concat('\nopcua: { insecureLoopback: {}, robots: { "": {}, "a\\nb": {} } }\n');
    const said = (await folder.problems(text)).map((line) => line.replace(/^f:\d+: /, ""));
    expect(said).toHaveLength(5);
    for (const path of ["fleet.robots[1]", "fleet.robots[2]", "fleet.robots[3]", "opcua.robots"]) {
      expect(said.some((line) => line.startsWith(path))).toBe(true);
    }
  });

  it("that is not there is one problem", async () => {
    expect(await loadConfig(join(folder.path, "none.yaml"), {}, createCatalogue(), Date.now())).toEqual({
      ok: false,
      problems: [{ path: "", line: null, message: "the file does not exist" }],
    });
  });

  it.each([
    ["mkdir", [], "the file is no file, but a folder, a pipe or a device"],
    ["mkfifo", [], "the file is no file, but a folder, a pipe or a device"],
    ["ln", ["-s", "/dev/zero"], "the file is no file, but a folder, a pipe or a device"],
    ["truncate", ["-s", "5G"], "the file is larger than 4000000 bytes"],
  ])("made by %s %j is refused at once", async (program, args, message) => {
    const path = join(folder.path, "odd.yaml");
    execFileSync(program, [...args, path]);
    const problems = [{ path: "", line: null, message }];
    expect(await loadConfig(path, {}, createCatalogue(), Date.now())).toEqual({ ok: false, problems });
  });

  it.each([
    ["mkdir", []],
    ["mkfifo", []],
    ["ln", ["-s", "/dev/zero"]],
  ])("that names what %s %j has made is refused at once", async (program, args) => {
    execFileSync(program, [...args, join(folder.path, "odd")]);
    const found = await folder.problems(`${minimal}  ca: odd\n`);
    expect(found).toEqual([expect.stringContaining("is no file, but a folder, a pipe or a device")]);
  });

  it.each([
    ["", "f: the file is empty"],
    ["- a\n- b\n", "f: must be a group of keys, not a list"],
    ["a: 1\na: 2\n", "f:2: this is no valid YAML: "],
    ["a: [1\n", "f:2: this is no valid YAML: "],
    ["a: !secret b\n", "f:1: this is no valid YAML: "],
    ["a: *nowhere\n", "f: this is no valid YAML: "],
  ])("of the text %j is said to be so", async (text, start) => {
    const found = await folder.problems(text);
    expect(
      found.some((line) => line.startsWith(start)),
      found.join("\n"),
    ).toBe(true);
  });

  it("with a syntax error has this one problem, and not what follows from it", async () => {
    const text = "a: 1\na: 2\nb: { c: 1\nd:\n  e: { f: 1 }\n   g: x\nh: [1\n";
    const found = await folder.problems(text);
    expect(found.map((line) => line.slice(0, 4))).toEqual(["f:2:", "f:4:"]);
  });

  it.each([
    ["5s", 5_000],
    ["2 min", 120_000],
    ["1.5h", 5_400_000],
    ["250ms", 250],
    ["800", 800],
  ])("with %j for milliseconds is told what would be right", async (written, right) => {
    const text = `${minimal}  times: { connectMs: "${written}" }\n`;
    expect(await folder.problems(text)).toEqual([
      `f:8: fleet.times.connectMs: must be a number of milliseconds: write ${right}, not "${written}"`,
    ]);
  });

  it("with aliases that blow up in memory is refused, and quickly", async () => {
    let text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (let level = 1; level < 12; level += 1) {
      const alias = `*a${level - 1}`;
      text += `a${level}: &a${level} [${Array.from({ length: 10 }, () => alias).join(", ")}]\n`;
    }
    expect(await folder.problems(text)).toEqual([expect.stringContaining("this is no valid YAML")]);
  });

  it.each([
    ["not JSON, s3cr3t", "is no JSON document: let it be the file that the fleet's operator handed out"],
    ['"s3cr3t"', "must be a JSON object"],
    ['{"api_key":"s3cr3t","scope":5}', "scope, secret must be there, as text"],
  ])("whose API key document is %j says why, and does not quote it", async (content, reason) => {
    await folder.write("api-key.json", content);
    const found = await folder.problems(minimal);
    expect(found).toEqual([expect.stringContaining(reason)]);
    expect(found.join()).not.toContain("s3cr3t");
  });

  it.each([
    ["certificate", "ca: file", "holds no certificate (PEM)"],
    ["folder", "ca: .", "is no file"],
  ])("with a %s that is none says so", async (_what, line, reason) => {
    await folder.write("file", "hello");
    expect(await folder.problems(`${minimal}  ${line}\n`)).toEqual([expect.stringContaining(reason)]);
  });
});
