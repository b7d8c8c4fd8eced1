import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Argument,
  AttributeIds,
  MessageSecurityMode,
  NodeClass,
  nodesets,
  OPCUACertificateManager,
  OPCUAServer,
  SecurityPolicy,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PlantFiles, plantFiles } from "../../../src/cli/export/plant-files.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { typedMethods } from "../../../src/northbound/opcua/commands/typed-methods.ts";
import { FLEET_NAMESPACE } from "../../../src/northbound/opcua/fleet-nodeset.ts";
import { objectTypesOf } from "../../../src/northbound/opcua/model/types.ts";
import { type SeenNode, seeNodes } from "../../northbound/opcua/browse-tree.ts";
import {
  type Caller,
  opcUaOptions,
  openSession,
  type RunningServer,
  startServer,
} from "../../northbound/opcua/opcua-harness.ts";
import { nowOf } from "../../support/live.ts";
import { createTestCluster } from "../../support/test-cluster.ts";
import { plants } from "./export-harness.ts";
import { factsOfFile, factsOfServer, referencesOfFile, referencesOfServer } from "./nodeset-attributes.ts";
import { readNodeSet } from "./nodeset-reader.ts";

describe.each(plants)("the export of a plant with %s", (_name, changed) => {
  const options = nowOf(opcUaOptions(changed));
  const { isClustered = false } = options;
  const catalogue = createCatalogue();
  let running: RunningServer;
  let bare: BareServer;
  let callers: readonly Caller[];
  let made: PlantFiles;
  let texts: ReadonlyMap<string, string>;
  const text = (name: string) => texts.get(name) ?? "";
  let exported: readonly SeenNode[];
  let browsed: readonly SeenNode[];
  const roots = [
    ...objectTypesOf(isClustered).map(({ name }) => name),
    ...["Gateway", "Operations", "RobotMethods"],
    ...["Robots", ...((changed.stations ?? []).length === 0 ? [] : ["Stations"])],
  ];

  beforeAll(async () => {
    made = plantFiles(options, catalogue, { opcServer: "Fleetgate", hasInstances: true });
    texts = new Map(Object.entries(made.files).map(([name, parts]) => [name, [...parts].join("")]));
    running = await startServer(changed, {
      catalogue,
      cluster: isClustered ? createTestCluster("left") : null,
    });
    bare = await startBareServer(text("Fleetgate.NodeSet2.xml"));
    const english = await openSession(running.url);
    const german = await openSession(running.url, { locales: ["de"] });
    const plain = await openSession(bare.url);
    callers = [english, german, plain];
    browsed = await seeNodes(english, german, roots);
    exported = await seeNodes(plain, plain, roots);
  });
  afterAll(async () => {
    for (const caller of callers) await caller.close();
    await running.stop();
    await bare.server.shutdown(0);
  });

  it("loads into a bare server, which then has the nodes that clients of the gateway see", () => {
    expect(browsed.length).toBeGreaterThan(400);
    expect(exported.map(comparable).sort(byPath)).toEqual(browsed.map(comparable).sort(byPath));
  });

  it("says of each node what the gateway's server does: each attribute, each reference", async () => {
    const [en, de] = callers;
    if (en === undefined || de === undefined) throw new Error("there is no session");
    const nodeSet = readNodeSet(text("Fleetgate.NodeSet2.xml"));
    const inFile = factsOfFile(nodeSet);
    const paths = [...inFile.keys()];
    expect(paths.length).toBeGreaterThan(500);
    expect(await factsOfServer({ en, de }, paths)).toEqual(inFile);
    expect(await referencesOfServer(en, paths)).toEqual(referencesOfFile(nodeSet));
  });

  it("has the texts of English and German sessions", () => {
    const shown = textsOf(text("Fleetgate.NodeSet2.xml"));
    for (const { path, english, german } of browsed) {
      // The name of a robot or a method is the same in every language.
      const isNamed = english[0].locale === null;
      // What an operation of the service does is told in English only.
      const isTranslated = german[1].locale === "de";
      const both = [english, german].map(([name, description]) => [
        isNamed ? null : name.text,
        description.text,
      ]);
      expect(shown.get(path), path).toEqual(isTranslated ? both : [both[0], [null, null]]);
    }
  });

  it("describes each argument in English and German, as sessions read it", async () => {
    const [english, german] = callers;
    const nodeSet = text("Fleetgate.NodeSet2.xml");
    for (const { name } of typedMethods) {
      const path = `RobotMethods.${name}`;
      const [method = ""] = new RegExp(`NodeId="ns=1;s=${path}"[\\s\\S]*?</UAMethod>`).exec(nodeSet) ?? [];
      const [inEnglish, inGerman] = [await argumentsOf(english, path), await argumentsOf(german, path)];
      const all = [...inGerman.inputs, ...inGerman.outputs];
      for (const [index, [argument, , , en]] of [...inEnglish.inputs, ...inEnglish.outputs].entries()) {
        const texts = `<Description Locale="en">${en}</Description><Description Locale="de">${all[index]?.[3]}<`;
        expect(method, path).toContain(`<ArgumentDescription><Name>${argument}</Name>${texts}`);
      }
    }
  });

  it("has the values of the properties that tags share, and of the arguments of methods", async () => {
    const [english, , plain] = callers;
    const shared = [...new Set(browsed.flatMap((node) => node.shared))].filter((path) =>
      /^(EnumValues|EngineeringUnits|EURange)\./.test(path),
    );
    expect(shared.length).toBeGreaterThan(10);
    const ofMethods = browsed.map(({ path }) => path).filter((path) => /\.(In|Out)putArguments$/.test(path));
    expect(ofMethods.length).toBe(2 * (catalogue.size + 1 + typedMethods.length));
    const paths = [...shared, ...ofMethods];
    for (const path of paths) {
      const values = [english, plain].map(async (caller) => JSON.stringify(await caller?.value(path)));
      const [wanted, found] = await Promise.all(values);
      expect(found, path).toBe(wanted);
    }
  });

  it("has each method, with the arguments that a tool reads before a call", async () => {
    const paths = browsed.filter(({ nodeClass }) => nodeClass === NodeClass.Method).map(({ path }) => path);
    expect(paths.length).toBe(catalogue.size + 1 + typedMethods.length);
    expect(new Set(paths).size).toBe(paths.length);
    const { inputs } = await argumentsOf(callers[2], "RobotMethods.Traverse");
    expect(inputs.map(([name, dataType, valueRank]) => [name, dataType, valueRank])).toEqual([
      ["RequestId", "ns=0;i=12", -1],
      ["ExpiresAt", "ns=0;i=13", -1],
      ["Destinations", "ns=0;i=12", 1],
    ]);
  });

  it("has the ModelHash that the gateway shows", async () => {
    const [english, , plain] = callers;
    expect(await english?.value("Gateway.ModelHash")).toBe(made.modelHash);
    expect(await plain?.value("Gateway.ModelHash")).toBe(made.modelHash);
    expect(text("Fleetgate.NodeSet2.xml")).toContain(`Gateway.ModelHash ${made.modelHash} -->`);
  });

  it("lists each variable once, in CSV and for Ignition, with the NodeId that the gateway knows", async () => {
    const variables = browsed.filter(
      ({ path, dataType }) => dataType !== "" && !isOfType(path) && !isMethod(path),
    );
    const ids = variables.map(({ path }) => `nsu=${FLEET_NAMESPACE};s=${path}`);
    const csv = text("tags.csv").split("\r\n").slice(1, -1);
    expect(csv.map((line) => line.split(",", 1)[0]).sort()).toEqual(ids.toSorted());
    const items = [...text("ignition-tags.json").matchAll(/"opcItemPath": (".*")/g)];
    expect(items.map(([, id]) => JSON.parse(id ?? "")).sort()).toEqual(
      ids.filter((id) => !id.endsWith(".ValueAsText")).sort(),
    );
    const statuses = await callers[0]?.session.read(
      variables.map(({ path }) => ({ nodeId: `ns=2;s=${path}`, attributeId: AttributeIds.DataType })),
    );
    expect(new Set(statuses?.map(({ statusCode }) => statusCode.name))).toEqual(new Set(["Good"]));
  });
});

function isOfType(path: string): boolean {
  return objectTypesOf(true).some(({ name }) => path.startsWith(`${name}.`));
}

/** A method, or what describes its arguments. */
function isMethod(path: string): boolean {
  return /^(Operations|RobotMethods)\./.test(path);
}

/** The arguments of a method. */
async function argumentsOf(caller: Caller | undefined, path: string) {
  if (caller === undefined) throw new Error("there is no session");
  const nodeId = `ns=2;s=${path}`;
  const { inputArguments, outputArguments } = await caller.session.getArgumentDefinition(nodeId);
  const facts = ({ name, dataType, valueRank, description }: Argument) => {
    return [name, dataType.toString(), valueRank, description.text] as const;
  };
  return { inputs: inputArguments.map(facts), outputs: outputArguments.map(facts) };
}

/** All but values and their states, and texts: node-opcua loads the last language only. */
function comparable({ german: _german, english: _english, status: _, children, shared, ...node }: SeenNode) {
  return {
    ...node,
    shared: shared.toSorted(),
    children: children.toSorted(),
  };
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : 1;
}

type Texts = ReadonlyArray<readonly (string | null)[]>;

/** DisplayName and Description, in English and in German, by path. */
function textsOf(xml: string): ReadonlyMap<string, Texts> {
  const nodes = xml.matchAll(
    /<UA(?:ObjectType|Object|Variable|Method) NodeId="ns=1;s=([^"]*)"[\s\S]*?<References>/g,
  );
  return new Map(
    [...nodes].map(([node, path = ""]) => {
      const text = (element: string, locale: string) => {
        const found = new RegExp(`<${element} Locale="${locale}">(.*)</${element}>`).exec(node);
        return found === null ? null : unescaped(found[1] ?? "");
      };
      const both = ["en", "de"].map((locale) => [text("DisplayName", locale), text("Description", locale)]);
      return [unescaped(path), both] as const;
    }),
  );
}

function unescaped(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}

interface BareServer {
  readonly server: OPCUAServer;
  readonly url: string;
}

/** A server that knows nothing of Fleetgate but the NodeSet. */
async function startBareServer(source: string): Promise<BareServer> {
  const rootFolder = mkdtempSync(join(tmpdir(), "fleetgate-bare-"));
  const server = new OPCUAServer({
    port: 0,
    hostname: "localhost",
    securityModes: [MessageSecurityMode.None],
    securityPolicies: [SecurityPolicy.None],
    allowAnonymous: true,
    serverCertificateManager: new OPCUACertificateManager({ rootFolder: join(rootFolder, "server") }),
    userCertificateManager: new OPCUACertificateManager({ rootFolder: join(rootFolder, "users") }),
    nodesets: [nodesets.standard, { name: FLEET_NAMESPACE, source }],
  });
  await server.start();
  return { server, url: `opc.tcp://localhost:${server.endpoints[0]?.port}` };
}
