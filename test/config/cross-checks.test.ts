import { chmod } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;

beforeEach(async () => {
  folder = await createConfigFolder();
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

describe("keys that contradict or need each other", () => {
  it.each<[string, string, string]>([
    ["no robots", minimal.replace("robots: [cart-1]", ""), "fleet: needs robots or locations"],
    ["robots and locations", `${minimal}  locations: [hall]\n`, "fleet.locations: stands beside robots"],
    [
      "gRPC without TLS",
      minimal.replace("localhost:7443", "http://localhost:7443"),
      "fleet.grpc.address: write host:port, without a scheme",
    ],
    [
      "a user in a URL",
      minimal.replace("https://localhost", "https://me:pw@localhost"),
      "fleet.https: write no user or password",
    ],
    [
      "a token exchange without TLS",
      `${minimal}  authUrl: http://localhost:1\n`,
      "fleet.authUrl: write a URL that begins with https://",
    ],
    [
      "a key without certificate",
      `${minimal}  clientKey: key.pem\n`,
      "fleet.clientKey: needs clientCertificate beside it",
    ],
    [
      "a number twice",
      `${minimal.replace("[cart-1]", "[a, b]")}  robotNumbers: { a: 1, b: 1 }\n`,
      "fleet.robotNumbers.b: has the number of a",
    ],
    [
      "a family of a robot that is not configured",
      `${minimal}  families: { cart-7: cart }\n`,
      'fleet.families.cart-7: is about a robot that fleet.robots does not name; the nearest there is "cart-1"',
    ],
    [
      "OPC UA nodes of a stranger",
      `${minimal}opcua: { robots: { cart-7: { number: 1 } } }\n`,
      'opcua.robots.cart-7: is about a robot that fleet.robots does not name; the nearest there is "cart-1"',
    ],
    [
      "a backoff upside down",
      `${minimal}  times: { backoffBaseMs: 9000 }\n`,
      "fleet.times.backoffBaseMs: must not be more",
    ],
    [
      "a margin longer than a token's use",
      `${minimal}  times: { tokenRefreshMs: 60000 }\n`,
      "fleet.times.tokenMarginMs: must be less",
    ],
    [
      "a roster that is asked for less often than its answer is good",
      `${minimal}  times: { rosterPollMs: 60000 }\nquality: { streamSilenceMs: 45000 }\n`,
      "fleet.times.rosterPollMs: is 60000 and must be at most 44500: an answer is good for the smaller of quality.streamSilenceMs (45000) and quality.resyncMs (60000)",
    ],
    [
      "a presence that is good for less than the product's own poll needs",
      `${minimal}quality: { resyncMs: 2400 }\n`,
      "fleet.times.rosterPollMs: is 2000 and must be at most 1900",
    ],
    [
      "anonymous MQTT off loopback",
      `${minimal}mqtt: { broker: embedded, anonymousLoopback: true, listen: { host: 0.0.0.0 } }\n`,
      "mqtt.anonymousLoopback: needs a loopback address",
    ],
    [
      "an embedded broker without users and TLS off loopback",
      `${minimal}mqtt: { broker: embedded, listen: { host: 0.0.0.0 } }\n`,
      "mqtt.listen.host: is reached from elsewhere, and the broker has no TLS (mqtt.certificate and mqtt.key) and no users (mqtt.users): give them, or listen on 127.0.0.1",
    ],
    [
      "an embedded broker without TLS off loopback",
      `${minimal}mqtt: { broker: embedded, listen: { host: 192.0.2.1 }, users: { a: { password: pw } } }\n`,
      "mqtt.listen.host: is reached from elsewhere, and the broker has no TLS (mqtt.certificate and mqtt.key): give them, or listen on 127.0.0.1",
    ],
    [
      "MQTT 5 embedded",
      `${minimal}mqtt: { broker: embedded, protocolVersion: 5 }\n`,
      "mqtt.protocolVersion: must be 4",
    ],
    [
      "a listener of a plant's broker",
      `${minimal}mqtt: { broker: "mqtt://b", listen: {} }\n`,
      "mqtt.listen: is for the embedded broker only",
    ],
    [
      "a password for the embedded broker",
      `${minimal}mqtt: { broker: embedded, username: a }\n`,
      "mqtt.username: is for a broker of the plant",
    ],
    [
      "another broker for when the embedded one is away",
      `${minimal}mqtt: { broker: embedded, fallbackBrokers: ["mqtt://b"] }\n`,
      "mqtt.fallbackBrokers: is for a broker of the plant",
    ],
    [
      "the same broker twice",
      `${minimal}mqtt: { broker: "mqtt://b", fallbackBrokers: ["mqtt://c", "mqtt://b"] }\n`,
      "mqtt.fallbackBrokers[1]: is there twice",
    ],
    [
      "a further broker of another scheme",
      `${minimal}mqtt: { broker: "mqtt://b", fallbackBrokers: ["https://c"] }\n`,
      "mqtt.fallbackBrokers[0]: write a URL that begins with mqtt:// or a URL that begins with mqtts:// or a URL that begins with ws:// or a URL that begins with wss://",
    ],
    [
      "a user without password",
      `${minimal}mqtt: { broker: "mqtt://b", username: a }\n`,
      "mqtt.username: needs password beside it",
    ],
    [
      "wildcards in the base",
      `${minimal}mqtt: { broker: "mqtt://b", base: "a/+" }\n`,
      "mqtt.base: use a topic without + and #",
    ],
    [
      "a base among the broker's own topics",
      `${minimal}mqtt: { broker: "mqtt://b", base: "$SYS/a" }\n`,
      "mqtt.base: must not be empty, begin or end with /, begin with $",
    ],
    [
      "anonymous OPC UA off loopback",
      `${minimal}opcua: { listen: { host: 192.0.2.1 }, insecureLoopback: {} }\n`,
      "opcua.insecureLoopback: lets everybody in",
    ],
    [
      "a user of OPC UA who cannot log on",
      `${minimal}opcua: { users: { a: { role: observer } } }\n`,
      "opcua.users.a: cannot log on: give it a password, or the thumbprint of a certificate",
    ],
    [
      "a thumbprint that is none",
      `${minimal}opcua: { users: { a: { role: observer, certificate: "CN=admin" } } }\n`,
      "opcua.users.a.certificate: write the thumbprint of a certificate: 40 hexadecimal digits (SHA-1), or 64",
    ],
    [
      "a certificate of two users, however it is written",
      `${minimal}opcua: { users: { a: { role: observer, certificate: "${"ab".repeat(20)}" }, b: { role: observer, certificate: "${"AB:".repeat(20)}" } } }\n`,
      "opcua.users.b.certificate: is the certificate of a already",
    ],
    [
      "an alias twice",
      `${minimal}opcua: { robots: { a: { alias: X }, b: { alias: X } } }\n`,
      "opcua.robots.b.alias: is the name of a already",
    ],
    [
      "two aliases that differ only by case",
      `${minimal}opcua: { robots: { a: { alias: AMR01 }, b: { alias: amr01 } } }\n`,
      'opcua.robots.b.alias: "amr01" differs only by case from "AMR01" of a: a PLC may take them for one; choose another',
    ],
    [
      "a QoS that state cannot have",
      `${minimal}mqtt: { broker: "mqtt://b", stateQos: 2 }\n`,
      "mqtt.stateQos: must be one of 0, 1; not 2",
    ],
    [
      "an alias that differs only by case from the id of a robot without one",
      `${minimal}opcua: { robots: { a: { alias: R2 }, r2: {} } }\n`,
      'opcua.robots.a.alias: "R2" differs only by case from the id "r2": a PLC may take them for one; choose another',
    ],
    [
      "a station whose name is no level of a path",
      `${minimal}stations: { "dock 1": { destinations: [A] } }\n`,
      'stations["dock 1"]: use 1 to 64 letters, digits, - and _',
    ],
    [
      "a destination without a number",
      `${minimal}opcua: { destinations: { dock: A } }\n`,
      "opcua.destinations.dock: use a number from 1 to 999999999",
    ],
    [
      "a robot without an id",
      `${minimal}opcua: { robots: { "": {} } }\n`,
      'opcua.robots[""]: must not be empty',
    ],
    [
      "a user called anonymous",
      `${minimal}opcua: { users: { anonymous: { password: pw, role: observer } } }\n`,
      "opcua.users.anonymous: means a session without a user",
    ],
    [
      "a user that no topic can name",
      `${minimal}mqtt: { broker: embedded, users: { "a/b": { password: pw } } }\n`,
      'mqtt.users["a/b"]: cannot be a level of a topic',
    ],
    [
      "evidence that has no time to settle",
      `${minimal}commands: { evidenceMs: 500 }\n`,
      "commands.settleMs: must not be more than evidenceMs",
    ],
    [
      "one port for two",
      `${minimal}opcua: { listen: { port: 8080 } }\nweb: {}\n`,
      "web.listen.port: is the port of opcua too",
    ],
    [
      "rights on a robot that is not configured",
      `${minimal}rights: [{ source: { protocol: cli, name: "*" }, role: operator, robots: [cart-2] }]\n`,
      "rights[0].robots[0]: is about a robot",
    ],
    [
      "rights of the gateway's own protocol",
      `${minimal}rights: [{ source: { protocol: gateway, name: fleetgate }, role: engineer }]\n`,
      'rights[0].source.protocol: must be one of mqtt, opcua, web, cli; not "gateway"',
    ],
    [
      "rights to an operation that there is not",
      `${minimal}rights: [{ source: { protocol: cli, name: "*" }, role: operator, operations: [CreateMision] }]\n`,
      'rights[0].operations[0]: there is no operation "CreateMision"; the nearest is "CreateMission"',
    ],
    [
      "a socket whose name is too long",
      `${minimal}control: { socket: /run/${"long/".repeat(30)}control.sock }\n`,
      "control.socket: /run/long/",
    ],
  ])("%s", async (_what, text, start) => {
    const found = await folder.problems(text);
    expect(
      found.some((line) => line.replace(/^f(:\d+)?: /, "").startsWith(start)),
      found.join("\n"),
    ).toBe(true);
  });

  it("are found in the sound sections though another section is wrong", async () => {
    const found = await folder.problems(
      `${minimal}log: { level: loud }\nopcua: { listen: { port: 8080 } }\nweb: {}\n`,
    );
    expect(found).toHaveLength(2);
  });
});

describe("warnings", () => {
  it.each([
    ["AMR-01", true],
    ["_amr", true],
    ["A".repeat(25), true],
    ["A".repeat(24), false],
    ["AMR_01", false],
  ])("name an alias that some PLCs cannot take: %s", async (alias, isNamed) => {
    const found = await folder.warnings(`${minimal}opcua: { robots: { cart-1: { alias: ${alias} } } }\n`);
    const expected = expect.stringMatching(
      /^f:8: opcua\.robots\.cart-1\.alias: is ".+": some PLCs take a name only of/,
    );
    if (isNamed) expect(found).toContainEqual(expected);
    else expect(found).not.toContainEqual(expected);
  });

  it("name stations that differ only by case", async () => {
    await using folder = await createConfigFolder();
    const found = await folder.warnings(
      `${minimal}opcua: { insecureLoopback: {} }\nstations: { Dock: { destinations: [A] }, dock: { destinations: [B] } }\n`,
    );
    expect(found).toContainEqual(
      expect.stringContaining('stations.dock: differs only by case from "Dock": some PLCs take them for one'),
    );
  });

  it("name what is allowed and unwise", async () => {
    await chmod(await folder.write("open", "password"), 0o644);
    const found = await folder.warnings(`${minimal}
mqtt: { broker: "mqtt://broker.example.com", username: a, password: open }
opcua: {}
commands: { callDeadlineMs: 5000 }
`);
    expect(found).toEqual([
      expect.stringMatching(/^f:9: mqtt\.password: .*open can be read by every user/),
      expect.stringMatching(/^f:9: mqtt\.broker: the password travels without TLS/),
      expect.stringMatching(/^f:9: mqtt\.commands: commands stay off/),
      expect.stringMatching(/^f:10: opcua: has no users/),
      expect.stringMatching(/^f:11: commands\.callDeadlineMs: the service waits 10 s/),
    ]);
  });

  it("name each broker to which the password would travel without TLS", async () => {
    await folder.write("pw", "password");
    const found = await folder.warnings(`${minimal}
mqtt:
  broker: wss://b.example.com/mqtt
  fallbackBrokers: ["ws://c.example.com/mqtt", "ws://127.0.0.1:9001"]
  username: a
  password: pw
  commands: { brokerEnforcesClientNames: true }
`);
    expect(found.filter((line) => line.includes("without TLS"))).toEqual([
      expect.stringMatching(/mqtt\.fallbackBrokers\[0\]: .* without TLS; wss:\/\/ would protect it/),
    ]);
  });

  it("name rights that their own role takes back, and rules that give a user more than its own role", async () => {
    await folder.write("pw", "password");
    const found = await folder.warnings(`${minimal}
opcua: { users: { line1: { password: pw, role: operator }, line2: { password: pw, role: observer } } }
rights:
  - { source: { protocol: mqtt, name: "*" }, role: operator, operations: [CreateWebhook] }
  - { source: { protocol: opcua, name: line1 }, role: operator }
  - { source: { protocol: opcua, name: line2 }, role: operator }
`);
    expect(found).toEqual([
      expect.stringMatching(/^f:11: rights\[0\]\.operations\[0\]: CreateWebhook needs engineer/),
      expect.stringMatching(
        /^f:13: rights\[2\]\.role: is operator, but opcua\.users\.line2\.role makes it observer: it has no more than that/,
      ),
    ]);
  });

  it("name a poll of chains that is due when its last answer is good no longer, and none that is in time", async () => {
    const text = (chains: string, roster = "29500") =>
      `${minimal}  times: { rosterPollMs: ${roster}, taskChainPollMs: ${chains} }\n`;
    expect(await folder.warnings(text("29501"))).toEqual([
      expect.stringMatching(/^f:8: fleet\.times\.taskChainPollMs: is 29501 and must be at most 29500: /),
    ]);
    for (const chains of ["29500", "null"]) expect(await folder.warnings(text(chains, chains))).toEqual([]);
  });

  it("say that there is no control socket under a folder with a long name", async () => {
    const long = `/var/${"long/".repeat(30)}data`;
    const text = minimal.replace("{ id: plant1 }", `{ id: plant1, dataDir: ${long} }`);
    expect(await folder.warnings(text)).toEqual([
      expect.stringMatching(/^f:2: gateway\.dataDir: fleetgate call will not work: .* has 172 bytes/),
    ]);
    expect((await folder.config(text)).control).toBeNull();
  });

  it("are none for a configuration that is locked up", async () => {
    expect(await folder.warnings(`${minimal}web: {}\n`)).toEqual([]);
  });
});
