import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;
const hash = `sha256:${"0f".repeat(32)}`;

beforeEach(async () => {
  folder = await createConfigFolder();
  await folder.write("pw", "a password\n");
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

it("reads users, tokens and addresses, and gives their roles and robots to the rights", async () => {
  const { web, dispatcher } = await folder.config(`${minimal}
web:
  users: { anna: { password: pw, role: operator, robots: [cart-1] } }
  tokens: { scada: { hash: "${hash}", role: observer } }
  commands: { from: [127.0.0.1, "fd00::/8"] }
`);
  expect(web).toMatchObject({
    tls: null,
    access: {
      users: [{ name: "anna", password: "a password", role: "operator", robots: ["cart-1"] }],
      tokens: [{ name: "scada", digest: "0f".repeat(32), role: "observer", robots: null }],
      movesFrom: ["127.0.0.1", "fd00::/8"],
    },
  });
  expect(dispatcher.accounts).toEqual([
    {
      source: { protocol: "web", name: "anna" },
      role: "operator",
      key: "web.users.anna.role",
      bound: { robots: ["cart-1"], key: "web.users.anna.robots" },
    },
    { source: { protocol: "web", name: "scada" }, role: "observer", key: "web.tokens.scada.role" },
  ]);
});

it("is open on loopback by itself", async () => {
  const { web } = await folder.config(`${minimal}web: {}\n`);
  expect(web?.access).toEqual({ users: [], tokens: [], movesFrom: null });
});

const users = "users: { anna: { password: pw, role: operator } }";

describe("is refused", () => {
  it.each<[string, string, readonly string[]]>([
    [
      "beyond loopback without users and without TLS",
      "listen: { host: 0.0.0.0 }",
      ["give web users or tokens; without them", "give web.tls; without it passwords"],
    ],
    ["beyond loopback with users, without TLS", `listen: { host: "::" }, ${users}`, ["give web.tls"]],
    [
      "with a token of a user's name",
      `${users}, tokens: { anna: { hash: "${hash}", role: observer } }`,
      ["web.tokens.anna: is the name of a user too"],
    ],
    ["with a user of everybody's name", users.replace("anna", "open"), ["web.users.open: means everybody"]],
    [
      "with a token itself",
      "tokens: { a: { hash: fgt_x, role: observer } }",
      ["write sha256: and 64 digits"],
    ],
    ["with a name that has a slash", users.replace("anna", "a/b"), ["printable characters without /"]],
    [
      "with an unknown robot",
      users.replace("operator", "operator, robots: [cart-2]"),
      ["web.users.anna.robots[0]"],
    ],
    ["with an address that is none", "commands: { from: [hall1] }", ["write an address or a network"]],
    ["with half of TLS", "tls: { certificate: pw }", ["web.tls"]],
  ])("%s", async (_what, section, problems) => {
    const found = (await folder.problems(`${minimal}web: { ${section} }\n`)).join("\n");
    for (const problem of problems) expect(found).toContain(problem);
  });
});

it("names a rule that gives a user more than its own role", async () => {
  const rule = "rights: [{ source: { protocol: web, name: anna }, role: engineer }]";
  expect(await folder.warnings(`${minimal}web: { ${users} }\n${rule}\n`)).toEqual([
    expect.stringContaining("rights[0].role: is engineer, but web.users.anna.role makes it operator"),
  ]);
});
