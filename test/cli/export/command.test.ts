import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { methodModels } from "../../../src/northbound/opcua/commands/method-models.ts";
import { modelHash } from "../../../src/northbound/opcua/model-hash.ts";
import { layoutOf } from "../../../src/northbound/opcua/plant-layout.ts";
import { createConfigFolder } from "../../config/config-folder.ts";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "../program.ts";

const SCHEMA = "node_modules/node-opcua-nodesets/nodesets/UANodeSet.xsd";

const haveXmllint = spawnSync("xmllint", ["--version"]).status === 0;
if (!haveXmllint) {
  if (process.env.CI) throw new Error("xmllint is not installed, and CI must run its tests");
  process.stderr.write("xmllint is not installed: its tests are skipped\n");
}

/** None of the files that it names is there. */
const configuration = `
gateway: { id: plant1, dataDir: /nowhere }
fleet:
  grpc: { address: "fleet.example.com:443" }
  https: https://fleet.example.com
  ca: authority.pem
  credentials: api-key.json
  locations: [hall-1]
  families: { r1: cart }
opcua:
  listen: { host: 0.0.0.0 }
  certificate: server.pem
  key: server.key
  users: { line1: { password: line1-password, role: operator } }
  robots:
    r1: { alias: AMR01, conveyors: [1] }
    r2: { alias: AMR02 }
stations:
  load: { destinations: [Load], users: [line1] }
`;

const hashLine = /^Gateway\.ModelHash (\d+)$/;

afterAll(endPrograms);

/** Runs the export in a folder that has the configuration. */
async function exported(text: string, ...args: readonly string[]) {
  const folder = newFolder();
  writeFileSync(join(folder, "fleetgate.yaml"), text);
  const program = fleetgate(folder, "export", "opcua", "--out", "plc", ...args);
  const { code } = await program.ended;
  const read = (name: string) => readFileSync(join(folder, "plc", name), "utf8");
  return { folder, code, out: program.out.entries, err: program.err.entries, read };
}

/** What nodes of our namespace refer to that is not in the file. */
function danglingReferences(nodeSet: string): readonly string[] {
  const ids = new Set([...nodeSet.matchAll(/ NodeId="(ns=1;[^"]*)"/g)].map(([, id]) => id));
  const parents = nodeSet.matchAll(/ ParentNodeId="(ns=1;[^"]*)"/g);
  const targets = nodeSet.matchAll(/>(ns=1;[^<]*)<\/Reference>/g);
  return [...parents, ...targets].map(([, id = ""]) => id).filter((id) => !ids.has(id));
}

describe("fleetgate export opcua", { timeout: TEST_TIMEOUT_MS }, () => {
  it("needs the configuration alone: no secret, no certificate, no data folder", async () => {
    const { folder, code, out, err, read } = await exported(
      configuration,
      ...["--config", "fleetgate.yaml", "--instances", "--opc-server", "Hall 1"],
    );
    expect([code, err]).toEqual([0, []]);
    const lists = ["Fleetgate.NodeSet2.xml", "ignition-tags.json", "tags.csv"];
    expect(readdirSync(join(folder, "plc"))).toEqual(expect.arrayContaining(lists));
    expect(read("Fleetgate.NodeSet2.xml")).toContain('NodeId="ns=1;s=Robots.AMR01.Conveyors.1.Loaded"');
    expect(read("tags.csv")).toContain("\r\nnsu=urn:fleetgate:fleet;s=Stations.load.Slot.NextId,");
    expect(read("ignition-tags.json")).toContain('"opcServer": "Hall 1"');
    const [, hash = ""] = out.map((line) => hashLine.exec(line)).find((found) => found !== null) ?? [];
    for (const list of lists) expect(read(list), list).toContain(hash);
    expect(out.at(-1)).toMatch(/^1 robot is without .*: AMR02$/);
  });

  it("has the hash of the gateway that reads the same file with its secrets", async () => {
    await using files = await createConfigFolder();
    const text = configuration.replace(/^ +(ca|certificate|key):.*\n/gm, "");
    await files.write("line1-password", "a long password of line 1");
    const { opcua } = await files.config(text);
    const { out } = await exported(text, "--config", "fleetgate.yaml");
    if (opcua === null) throw new Error("there is no section opcua");
    expect(out).toContain(`Gateway.ModelHash ${modelHash(layoutOf(opcua), methodModels(createCatalogue()))}`);
  });

  it("says what to add where the configuration names no robot", async () => {
    const text = configuration.replace(/ {2}robots:\n.*\n.*\n/, "");
    const { code, out } = await exported(text, "--config", "fleetgate.yaml");
    expect(code).toBe(0);
    expect(out.at(-1)).toBe(
      "no robot is among the tags: name each under opcua.robots, carts in fleet.families too",
    );
  });

  it("writes the types without a configuration", async () => {
    const { folder, code, read } = await exported("");
    expect(code).toBe(0);
    const nodeSet = read("Fleetgate.NodeSet2.xml");
    expect(nodeSet).toContain('BrowseName="1:CartType"');
    expect(nodeSet).toContain('NodeId="ns=1;s=RobotMethods.Navigate.InputArguments"');
    expect(danglingReferences(nodeSet)).toEqual([]);
    expect(existsSync(join(folder, "plc/tags.csv"))).toBe(false);
  });

  it.each([
    ["instances without a configuration", configuration, ["--instances"], 64],
    ["a mistake", configuration.replace("locations:", "location:"), ["--config", "fleetgate.yaml"], 78],
    ["no section opcua", configuration.replace(/opcua:[\s\S]*/, ""), ["--config", "fleetgate.yaml"], 78],
  ])("writes nothing with %s", async (_what, text, args, wanted) => {
    const { folder, code, err } = await exported(text, ...args);
    expect(code).toBe(wanted);
    expect(err.length).toBeGreaterThan(0);
    expect(existsSync(join(folder, "plc"))).toBe(false);
  });

  it("says what is in the way of a file, and leaves no half of one", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "plc/FG_Command.xml"), { recursive: true });
    const { ended, err } = fleetgate(folder, "export", "opcua", "--out", "plc");
    expect((await ended).code).toBe(1);
    const path = join("plc", "FG_Command.xml");
    expect(err.entries).toEqual([`fleetgate: ${path} is a folder: remove it, or choose another folder`]);
    expect(readdirSync(join(folder, "plc")).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  it("replaces a link instead of what it leads to", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "other"), "other");
    mkdirSync(join(folder, "plc"));
    symlinkSync("../other", join(folder, "plc/FG_Command.st"));
    expect((await fleetgate(folder, "export", "opcua", "--out", "plc").ended).code).toBe(0);
    expect(readFileSync(join(folder, "other"), "utf8")).toBe("other");
    expect(readFileSync(join(folder, "plc/FG_Command.st"), "utf8")).toContain("FUNCTION_BLOCK FG_Command");
  });

  it.each([
    ["--out", ["--out", ""]],
    ["--opc-server", ["--out", "plc", "--opc-server", " "]],
  ])("refuses an empty %s, as a script with an unset variable gives", async (_option, args) => {
    const folder = newFolder();
    const { ended, err } = fleetgate(folder, "export", "opcua", ...args);
    expect((await ended).code).toBe(64);
    expect(err.entries.join("\n")).toContain("It is empty.");
    expect(readdirSync(folder)).toEqual([]);
  });

  it.skipIf(!haveXmllint)("writes NodeSets that are valid against the schema", async () => {
    for (const args of [[], ["--config", "fleetgate.yaml", "--instances"]]) {
      const { folder } = await exported(configuration, ...args);
      const path = join(folder, "plc/Fleetgate.NodeSet2.xml");
      const checked = spawnSync("xmllint", ["--noout", "--nonet", "--schema", SCHEMA, path]);
      expect(checked.stderr.toString()).toBe(`${path} validates\n`);
    }
  });
});
