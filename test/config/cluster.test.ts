import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadOpcUa } from "../../src/config/load-opcua.ts";
import { differencesOf } from "../../src/config/running-config.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import type { KeyedCertificate } from "../../src/platform/certificate-authority.ts";
import { createCa } from "../../src/simulator/tls/identity.ts";
import { createPlantAuthority } from "../northbound/opcua/plant-authority.ts";
import { createClientCertificate } from "../support/client-certificate.ts";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;
let ca: KeyedCertificate;
let client: KeyedCertificate;

beforeAll(async () => {
  [ca, client] = await Promise.all([createCa(Date.now()), createClientCertificate()]);
});
beforeEach(async () => {
  folder = await createConfigFolder();
  await folder.write("etcd-ca.pem", ca.certificate);
  await folder.write("etcd.pem", client.certificate);
  await folder.write("etcd.key", client.key);
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

const files = "ca: etcd-ca.pem, certificate: etcd.pem, key: etcd.key";
const webhook =
  "{ kind: webhook, listen: { port: 8443 }, publicUrl: https://g.example.com, certificate: etcd.pem, key: etcd.key }";
const local = '"127.0.0.1:1", "[::1]:2", "localhost:3"';
const plant = `${minimal}cluster:
  name: hall-1
  member: box-a
  members:
    box-a: { opcuaUri: "urn:box-a:fleetgate" }
    box-b: { opcuaUri: "urn:box-b:fleetgate" }
  etcd: { endpoints: ["box-a:2379", "box-b:2379", "vote:2379"], ${files} }
`;

it("gives the cluster its members, etcd with its certificates, and the time of the lease", async () => {
  const { cluster } = await folder.config(plant);
  expect(cluster).toEqual({
    name: "hall-1",
    member: "box-a",
    members: [
      { name: "box-a", opcuaUri: "urn:box-a:fleetgate" },
      { name: "box-b", opcuaUri: "urn:box-b:fleetgate" },
    ],
    etcd: {
      endpoints: ["box-a:2379", "box-b:2379", "vote:2379"],
      tls: { ca: ca.certificate, client: { certificate: client.certificate, key: client.key } },
    },
    leaseMs: 5_000,
    standby: "hot",
    fence: null,
  });
  const fenced = `${plant}  fence: { command: [/etc/fleetgate/fence, "a b"], timeoutSeconds: 60 }\n`;
  expect((await folder.config(fenced)).cluster?.fence).toEqual({
    command: ["/etc/fleetgate/fence", "a b"],
    timeoutMs: 60_000,
  });
  expect(await folder.warnings(plant)).toEqual([]);
});

it("is off without the section", async () => {
  expect((await folder.config(minimal)).cluster).toBeNull();
});

it("needs no TLS where all of etcd is on this machine", async () => {
  const { cluster } = await folder.config(plant.replace(/endpoints: .*\]/, `endpoints: [${local}]`));
  expect(cluster?.etcd.tls).not.toBeNull();
  const open = await folder.config(plant.replace(/etcd: .*/, `etcd: { endpoints: [${local}] }`));
  expect(open.cluster?.etcd.tls).toBeNull();
});

it.each([1, 2])("says that no failover is safe with %i members of etcd", async (count) => {
  const endpoints = ["box-a:1", "box-b:1"].slice(0, count).join('", "');
  expect(await folder.warnings(plant.replace(/endpoints: .*\]/, `endpoints: ["${endpoints}"]`))).toEqual([
    expect.stringMatching(
      new RegExp(`^f:14: cluster\\.etcd\\.endpoints: are ${count}: no safe failover is possible with two`),
    ),
  ]);
});

describe("is refused", () => {
  const twice = plant.replace("box-b:fleetgate", "box-a:fleetgate");
  it.each<[string, string, string]>([
    [
      "with etcd in plain text on the network",
      plant.replace(`, ${files}`, ""),
      "cluster.etcd: needs ca, certificate and key, because box-a:2379 is on the network: anyone who can write to etcd can forge",
    ],
    [
      "with one member of etcd in plain text on the network",
      plant.replace(/etcd: .*/, `etcd: { endpoints: [${local}, "10.0.0.1:2379"] }`),
      "cluster.etcd: needs ca, certificate and key, because 10.0.0.1:2379 is",
    ],
    [
      "without a certificate for etcd on the network",
      plant.replace(", certificate: etcd.pem, key: etcd.key", ""),
      "cluster.etcd: needs ca, certificate and key",
    ],
    [
      "with a certificate and no authority",
      plant.replace(/etcd: .*/, `etcd: { endpoints: [${local}], certificate: etcd.pem, key: etcd.key }`),
      "cluster.etcd.certificate: needs ca beside it",
    ],
    [
      "with a certificate and no key",
      plant.replace(/etcd: .*/, `etcd: { endpoints: [${local}], ca: etcd-ca.pem, certificate: etcd.pem }`),
      "cluster.etcd.certificate: needs key beside it",
    ],
    [
      "with the key of another certificate",
      plant.replace("certificate: etcd.pem", "certificate: etcd-ca.pem"),
      "cluster.etcd.key: ",
    ],
    [
      "with an endpoint that is a URL",
      plant.replace('"box-a:2379"', '"https://box-a:2379"'),
      "cluster.etcd.endpoints[0]: write host:port, without a scheme: with ca",
    ],
    [
      "with an endpoint twice",
      plant.replace('"vote:2379"', '"box-a:2379"'),
      "cluster.etcd.endpoints[2]: is there twice",
    ],
    ["with one member", plant.replace(/\n {4}box-b.*/, ""), "cluster.members: must be 2 boxes; here are 1"],
    [
      "with three members",
      plant.replace("  etcd:", '    box-c: { opcuaUri: "urn:box-c" }\n  etcd:'),
      "cluster.members: must be 2 boxes; here are 3",
    ],
    [
      "for a box that is no member",
      plant.replace("member: box-a", "member: boxa"),
      'cluster.member: is none of the members; the nearest is "box-a"',
    ],
    [
      "for a box of another name",
      plant.replace("member: box-a", "member: server-7"),
      "cluster.member: is none of the members; the members are box-a, box-b",
    ],
    [
      "for a box with a name of objects",
      plant.replace("member: box-a", "member: constructor"),
      "cluster.member: is none of the members",
    ],
    [
      "with a name that is no level of a topic",
      plant.replace("box-a: {", '"box/a": {'),
      'cluster.members["box/a"]: use 1 to 63 letters, digits',
    ],
    [
      "without a URI for OPC UA",
      `${plant.replace(/box-b: .*/, "box-b: {}")}opcua: {}\n`,
      "cluster.members.box-b: needs opcuaUri",
    ],
    [
      "with one URI for both boxes",
      `${twice}opcua: {}\n`,
      "cluster.members.box-b.opcuaUri: is that of box-a too",
    ],
    [
      "with a lease that a pause of the disk outlasts",
      `${plant}  leaseSeconds: 2\n`,
      "cluster.leaseSeconds: must be at least 3",
    ],
    [
      "with webhooks of a box that has no session",
      `${plant.replace("robots: [cart-1]", `robots: [cart-1]\n  events: ${webhook}`)}  standby: warm\n`,
      "cluster.standby: must be hot with fleet.events.kind: webhook",
    ],
    [
      "with a fence that a shell would have to find",
      `${plant}  fence: { command: ["ipmitool off"] }\n`,
      "cluster.fence.command: begin with the path of a program",
    ],
    [
      "with evidence that ends before a call of the other box has",
      `${plant}commands: { callDeadlineMs: 15000, evidenceMs: 14999 }\n`,
      "commands.evidenceMs: must be at least callDeadlineMs (15000) with cluster",
    ],
    [
      "with a broker on one of the boxes",
      `${plant}mqtt: { broker: embedded }\n`,
      "mqtt.broker: is embedded, so it would be on one of the two boxes only: with cluster, write the URL",
    ],
  ])("%s", async (_what, text, start) => {
    const found = await folder.problems(text);
    const lines = found.map((line) => line.replace(/^f(:\d+)?: /, ""));
    expect(
      lines.filter((line) => line.startsWith(start)),
      found.join("\n"),
    ).toHaveLength(1);
  });
});

it("does not ask for URIs where there is no OPC UA", async () => {
  const text = plant.replace(/box-(a|b): \{ .*/g, "box-$1: {}");
  expect((await folder.config(text)).cluster?.members).toEqual([
    { name: "box-a", opcuaUri: null },
    { name: "box-b", opcuaUri: null },
  ]);
});

it("has the address of an OPC UA server for clients of the other one", async () => {
  const withUrl = (url: string) =>
    plant.replace('box-a:fleetgate" }', `box-a:fleetgate", opcuaUrl: "${url}" }`);
  const { cluster } = await folder.config(withUrl("opc.tcp://box-a:4840"));
  expect(cluster?.members).toEqual([
    { name: "box-a", opcuaUri: "urn:box-a:fleetgate", opcuaUrl: "opc.tcp://box-a:4840" },
    { name: "box-b", opcuaUri: "urn:box-b:fleetgate" },
  ]);
  for (const url of ["box-a:4840", "opc.tcp://box-a", "opc.tcp://box-a:4840/path"])
    expect(await folder.problems(withUrl(url))).toEqual([
      expect.stringContaining("opcuaUrl: write opc.tcp://host:port"),
    ]);
});

it("tells the export that the gateway has the tags of a cluster", async () => {
  const isClustered = async (text: string) => {
    const file = await folder.write("fleetgate.yaml", `${text}opcua: {}\n`);
    const loaded = await loadOpcUa(file, createCatalogue());
    const { opcua } = await folder.config(`${text}opcua: {}\n`);
    return [loaded.ok && loaded.opcua?.isClustered, opcua?.isClustered];
  };
  expect(await isClustered(plant)).toEqual([true, true]);
  expect(await isClustered(minimal)).toEqual([undefined, undefined]);
});

describe("the application URI of OPC UA", () => {
  const made = mkdtempSync(join(tmpdir(), "fleetgate-cluster-uri-"));
  afterAll(() => rmSync(made, { recursive: true, force: true }));

  it("is the box's own where the gateway makes its certificate", async () => {
    const { opcua } = await folder.config(`${plant}opcua: {}\n`);
    expect(opcua?.applicationUri).toBe("urn:box-a:fleetgate");
    const file = await folder.write("fleetgate.yaml", `${plant}opcua: {}\n`);
    expect(await loadOpcUa(file, createCatalogue())).toMatchObject({
      opcua: { applicationUri: "urn:box-a:fleetgate" },
    });
  });

  it("must be that of the plant's certificate", async () => {
    const authority = await createPlantAuthority();
    const issued = await authority.issue(join(made, "gate"), { uri: "urn:plant:a" });
    await folder.write("gate.pem", readFileSync(issued.certificateFile, "utf8"));
    await folder.write("gate.key", readFileSync(issued.privateKeyFile, "utf8"));
    const text = `${plant}opcua: { certificate: gate.pem, key: gate.key }\n`;
    expect(await folder.problems(text)).toEqual([
      "f:12: cluster.members.box-a.opcuaUri: must be urn:plant:a, which is the URI in opcua.certificate",
    ]);
    const right = text.replace("urn:box-a:fleetgate", "urn:plant:a");
    expect((await folder.config(right)).opcua?.applicationUri).toBe("urn:plant:a");
  });
});

it("needs a restart, whatever changes of it, a certificate too", async () => {
  const settings = async (text: string) => {
    const loaded = await folder.load(text);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return loaded.settings;
  };
  const before = await settings(plant);
  const lease = await settings(`${plant}  leaseSeconds: 6\n`);
  expect(differencesOf(before, lease)).toEqual({ live: [], needRestart: ["cluster.leaseSeconds"] });
  expect(differencesOf(before, await settings(minimal))).toEqual({ live: [], needRestart: ["cluster"] });
  await folder.write("etcd-ca.pem", (await createCa(Date.now())).certificate);
  expect(differencesOf(before, await settings(plant)).needRestart).toEqual(["cluster.etcd.ca"]);
});
