import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AttributeIds,
  MessageSecurityMode,
  nodesets,
  OPCUACertificateManager,
  OPCUAServer,
  SecurityPolicy,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PlantFiles, plantFiles } from "../../../src/cli/export/plant-files.ts";
import { FLEET_NAMESPACE } from "../../../src/northbound/opcua/fleet-nodeset.ts";
import { objectTypes } from "../../../src/northbound/opcua/model/types.ts";
import type { OpcUaOptions } from "../../../src/northbound/opcua/options.ts";
import { type SeenNode, seeNodes } from "../../northbound/opcua/browse-tree.ts";
import {
  type Caller,
  opcUaOptions,
  openSession,
  type RunningServer,
  startServer,
} from "../../northbound/opcua/opcua-harness.ts";

const user = {
  name: "line 1",
  secret: { kind: "plain", text: "secret" },
  role: "operator",
  number: 1,
} as const;
const none = { alias: null, number: null, family: "unknown", conveyorIndexes: [] } as const;

/** Each optional member is there in one of them, and lacks in one. */
const plants: ReadonlyArray<readonly [name: string, options: Partial<OpcUaOptions>]> = [
  [
    "everything",
    {
      users: [{ ...user, confirms: true }],
      missionSlots: 2,
      stations: [
        { name: "load 1", needsPermit: true, load: "CW" },
        { name: 'unload <1> & "2"', needsPermit: false, load: null },
      ],
      robots: [
        { ...none, robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1, 0, 1] },
        { ...none, robotId: "r.2/ü", family: "serve" },
        { ...none, robotId: "AMR01" },
        { ...none, robotId: "r4", conveyorIndexes: [3] },
      ],
    },
  ],
  [
    "nothing that is optional",
    {
      robots: [
        { ...none, robotId: "r1", family: "cart" },
        { ...none, robotId: "r2" },
      ],
    },
  ],
];

describe.each(plants)("the export of a plant with %s", (_name, changed) => {
  const options = opcUaOptions(changed);
  let running: RunningServer;
  let bare: BareServer;
  let callers: readonly Caller[];
  let made: PlantFiles;
  let texts: ReadonlyMap<string, string>;
  const text = (name: string) => texts.get(name) ?? "";
  let exported: readonly SeenNode[];
  let browsed: readonly SeenNode[];
  const roots = [
    ...objectTypes.map(({ name }) => name),
    ...["Gateway", "Robots", ...((changed.stations ?? []).length === 0 ? [] : ["Stations"])],
  ];

  beforeAll(async () => {
    made = plantFiles(options, "Fleetgate", true);
    texts = new Map(Object.entries(made.files).map(([name, parts]) => [name, [...parts].join("")]));
    running = await startServer(changed);
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

  it("has the texts of English and German sessions", () => {
    const shown = textsOf(text("Fleetgate.NodeSet2.xml"));
    for (const { path, english, german } of browsed) {
      // A robot's name is the same in every language.
      const isNamed = english[0].locale === null;
      const both = [english, german].map(([name, description]) => [
        isNamed ? null : name.text,
        description.text,
      ]);
      expect(shown.get(path), path).toEqual(both);
    }
  });

  it("has the values of the properties that tags share", async () => {
    const [english, , plain] = callers;
    const paths = [...new Set(browsed.flatMap(({ shared }) => shared))].filter((path) =>
      /^(EnumValues|EngineeringUnits|EURange)\./.test(path),
    );
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) {
      const values = [english, plain].map(async (caller) => JSON.stringify(await caller?.value(path)));
      const [wanted, found] = await Promise.all(values);
      expect(found, path).toBe(wanted);
    }
  });

  it("has the ModelHash that the gateway shows", async () => {
    const [english, , plain] = callers;
    expect(await english?.value("Gateway.ModelHash")).toBe(made.modelHash);
    expect(await plain?.value("Gateway.ModelHash")).toBe(made.modelHash);
    expect(text("Fleetgate.NodeSet2.xml")).toContain(`Gateway.ModelHash ${made.modelHash} -->`);
  });

  it("lists each variable once, in CSV and for Ignition, with the NodeId that the gateway knows", async () => {
    const variables = browsed.filter(({ path, dataType }) => dataType !== "" && !isOfType(path));
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
  return objectTypes.some(({ name }) => path.startsWith(`${name}.`));
}

/** All but values and their states, methods, and texts: node-opcua loads the last language only. */
function comparable({ german: _german, english: _english, status: _, children, shared, ...node }: SeenNode) {
  const isMethod = (path: string) => /^(Operations|RobotMethods)\./.test(path);
  return {
    ...node,
    shared: shared.filter((path) => !isMethod(path)).sort(),
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
    /<UA(?:ObjectType|Object|Variable) NodeId="ns=1;s=([^"]*)"[\s\S]*?<References>/g,
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
