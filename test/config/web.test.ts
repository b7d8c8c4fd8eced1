import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { greyPng } from "../support/png.ts";
import { weakCertificate } from "../support/weak-certificate.ts";
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
  const { web, rights } = await folder.config(`${minimal}
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
  expect(rights.accounts).toEqual([
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

describe("the floor", () => {
  const places = "at: [{ pixel: [0, 30], map: [0, 0] }, { pixel: [40, 0], map: [20, 15] }]";
  const drawn = (file: string, at = places) =>
    `${minimal}web: { floor: { drawings: { 1: { file: ${file}, ${at} } } } }\n`;

  it("is neutral by itself", async () => {
    const { web } = await folder.config(`${minimal}web: {}\n`);
    expect(web?.floor).toEqual({ pointTypes: [], drawings: [] });
  });

  it("has what the types of points mean, and a drawing that two places lay on the map", async () => {
    const png = greyPng(40, 30);
    await writeFile(join(folder.path, "hall.png"), png);
    const types = "pointTypes: { 1: { name: station, shape: square }, 7: { name: door } }";
    const { web } = await folder.config(drawn("hall.png").replace("floor: {", `floor: { ${types},`));
    expect(web?.floor).toEqual({
      pointTypes: [
        { type: 1, name: "station", shape: "square" },
        { type: 7, name: "door", shape: "dot" },
      ],
      drawings: [
        {
          mapId: 1,
          bytes: png,
          width: 40,
          height: 30,
          first: { pixel: { x: 0, y: 30 }, map: { x: 0, y: 0 } },
          second: { pixel: { x: 40, y: 0 }, map: { x: 20, y: 15 } },
        },
      ],
    });
  });

  it("has no drawing that is no PNG, too large, or laid by one place alone", async () => {
    await folder.write("text.png", "no picture");
    await writeFile(join(folder.path, "hall.png"), greyPng(40, 30));
    await writeFile(join(folder.path, "huge.png"), Buffer.concat([greyPng(40, 30), Buffer.alloc(1_000_000)]));
    const once = "at: [{ pixel: [0, 30], map: [0, 0] }, { pixel: [0, 30], map: [20, 15] }]";
    const problems = [drawn("text.png"), drawn("huge.png"), drawn("none.png"), drawn("hall.png", once)];
    const found: string[] = [];
    // One file of the configuration holds them all, one after the other.
    for (const text of problems) found.push((await folder.problems(text)).join());
    expect(found).toEqual([
      expect.stringContaining("text.png is no PNG"),
      expect.stringContaining("is larger than 1000000 bytes"),
      expect.stringContaining("none.png does not exist"),
      expect.stringContaining("name two places that differ"),
    ]);
  });
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

it("says of a certificate that TLS does not take why, and loads: only its listener fails", async () => {
  const { cert, key } = await weakCertificate();
  await folder.write("web.pem", cert);
  await folder.write("web.key", key);
  const loaded = await folder.load(`${minimal}web: { tls: { certificate: web.pem, key: web.key } }\n`);
  expect(loaded).toMatchObject({
    ok: true,
    unusable: [
      {
        path: "web.tls.certificate",
        message: expect.stringContaining("web.pem has a key that is too short for TLS"),
      },
    ],
  });
});
