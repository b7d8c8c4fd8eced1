import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;
const rule = (protocol: string, name: string) =>
  `rights: [{ source: { protocol: ${protocol}, name: "${name}" }, role: operator }]\n`;
const users = "line1: { password: pw, role: operator }, line2: { password: pw, role: operator }";
const opcua = `opcua: { users: { ${users} } }\n`;
const web = "web: { users: { anna: { password: pw, role: operator } } }\n";
const mqtt = "mqtt: { broker: embedded, users: { hmi: { password: pw } } }\n";

beforeEach(async () => {
  folder = await createConfigFolder();
  await folder.write("pw", "password");
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

describe("a rule for a user that its protocol does not know", () => {
  it.each<[string, string, string]>([
    ["opcua", `${opcua}${rule("opcua", "lin1")}`, '"lin1" is no user of opcua.users; it has line1, line2'],
    [
      "opcua, without anonymous sessions",
      `${opcua}${rule("opcua", "anonymous")}`,
      '"anonymous" is no user of opcua.users; it has line1, line2',
    ],
    [
      "opcua, without users",
      `opcua: {}\n${rule("opcua", "line1")}`,
      '"line1" is no user of opcua.users; it has none',
    ],
    ["mqtt", `${mqtt}${rule("mqtt", "hm")}`, '"hm" is no user of mqtt.users; it has hmi'],
    ["web", `${web}${rule("web", "ann")}`, '"ann" is no user of web.users and web.tokens; it has anna'],
  ])("is a mistake: %s", async (_what, text, problem) => {
    expect(await folder.problems(`${minimal}${text}`)).toEqual([
      expect.stringMatching(/^f:\d+: rights\[0\]\.source\.name: /),
    ]);
    expect(await folder.problems(`${minimal}${text}`)).toEqual([expect.stringContaining(problem)]);
  });

  it.each<[string, string]>([
    ["a user", `${opcua}${rule("opcua", "line2")}`],
    ["an anonymous session", `opcua: { insecureLoopback: {} }\n${rule("opcua", "anonymous")}`],
    ["everybody", `${opcua}${rule("opcua", "*")}`],
    ["a user of the web listener", `${web}${rule("web", "anna")}`],
    ["everybody, while nobody must log in", `web: {}\n${rule("web", "open")}`],
    ["a client", `${mqtt}${rule("mqtt", "hmi")}`],
    ["a client of a plant's broker", `mqtt: { broker: "mqtts://b" }\n${rule("mqtt", "any")}`],
    [
      "a client of an open broker",
      `mqtt: { broker: embedded, anonymousLoopback: true }\n${rule("mqtt", "any")}`,
    ],
    ["everybody of a protocol that is off", rule("mqtt", "*")],
    ["a user of the machine", rule("cli", "ann")],
  ])("is none where the name may exist: %s", async (_what, text) => {
    const told = await folder.load(`${minimal}${text}`);
    const findings = told.ok ? told.warnings : told.problems;
    expect(findings.filter(({ path }) => path.startsWith("rights"))).toEqual([]);
    expect(told.ok).toBe(true);
  });
});

it.each<[string, string, string]>([
  ["opcua", rule("opcua", "line1"), '"line1" can send nothing: there is no section opcua'],
  ["mqtt", rule("mqtt", "hmi"), '"hmi" can send nothing: there is no section mqtt'],
  [
    "cli",
    `control: { enabled: false }\n${rule("cli", "ann")}`,
    '"ann" can send nothing: control.enabled is false',
  ],
  ["web", rule("web", "ann"), '"ann" can send nothing: there is no section web'],
  [
    "web without users",
    `web: {}\n${rule("web", "ann")}`,
    '"ann" can send nothing: web has no users and no tokens, and everybody is open',
  ],
])("a rule for a protocol that is off is unwise: %s", async (_protocol, text, warning) => {
  expect(await folder.warnings(`${minimal}${text}`)).toEqual([
    expect.stringContaining(`rights[0].source.name: ${warning}`),
  ]);
});
