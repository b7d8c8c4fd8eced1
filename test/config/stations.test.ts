import { afterEach, beforeEach, expect, it } from "vitest";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;
const station = (more: string) => `stations: { packing: { destinations: [A]${more} } }\n`;
const opcua = "opcua: { users: { line1: { password: pw, role: operator } } }\n";
const mqtt = "mqtt: { broker: embedded, users: { hmi: { password: pw } } }\n";

beforeEach(async () => {
  folder = await createConfigFolder();
  await folder.write("pw", "password");
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

it("a station takes every source that may command the robot, or only those that are named", async () => {
  const open = await folder.config(`${minimal}${opcua}${mqtt}${station("")}`);
  expect(open.stations).toMatchObject([{ name: "packing", users: undefined }]);
  const named = await folder.config(
    `${minimal}${opcua}${mqtt}${station(", users: [line1], clients: [hmi]")}`,
  );
  expect(named.stations).toMatchObject([
    {
      users: [
        { protocol: "opcua", name: "line1" },
        { protocol: "mqtt", name: "hmi" },
      ],
    },
  ]);
  const one = await folder.config(`${minimal}${opcua}${mqtt}${station(", clients: [hmi]")}`);
  expect(one.stations).toMatchObject([{ users: [{ protocol: "mqtt", name: "hmi" }] }]);
});

it.each<[string, string, string]>([
  [
    "user",
    `${opcua}${station(", users: [line9]")}`,
    'stations.packing.users[0]: "line9" is no user of opcua.users; it has line1',
  ],
  [
    "user without a password",
    `${opcua}${station(", users: [anonymous]")}`,
    'stations.packing.users[0]: "anonymous" is no user of opcua.users; it has line1',
  ],
  [
    "client",
    `${mqtt}${station(", clients: [hmi, hm]")}`,
    'stations.packing.clients[1]: "hm" is no user of mqtt.users; it has hmi',
  ],
])("a %s that its protocol does not know is a mistake", async (_what, text, problem) => {
  expect(await folder.problems(`${minimal}${text}`)).toEqual([expect.stringContaining(problem)]);
});

it("a permit, and how conveyors turn to load, are the station's", async () => {
  const more = ", permit: required, pauseOnLoss: true, load: CCW";
  const config = await folder.config(`${minimal}${opcua}${station(more)}`);
  expect(config.stations).toMatchObject([{ permit: { pauseOnLoss: true } }]);
  expect(config.opcua?.stations).toEqual([{ name: "packing", needsPermit: true, load: "CCW" }]);
  const plain = await folder.config(`${minimal}${opcua}${station("")}`);
  expect(plain.stations).toMatchObject([{ permit: undefined }]);
  expect(plain.opcua?.stations).toEqual([{ name: "packing", needsPermit: false, load: null }]);
});

it.each<[string, string, string]>([
  [
    "a permit without OPC UA",
    `${mqtt}${station(", permit: required")}`,
    "stations.packing.permit: nobody could give it: it is a tag, and there is no section opcua",
  ],
  [
    "a permit that no user may write",
    `${opcua}${mqtt}${station(", permit: required, clients: [hmi]")}`,
    "stations.packing.permit: nobody could give it: clients are named, and no users",
  ],
  [
    "pauseOnLoss without a permit",
    `${opcua}${station(", pauseOnLoss: true")}`,
    "stations.packing.pauseOnLoss: does nothing without a permit: add permit: required",
  ],
  ["another permit", `${opcua}${station(", permit: optional")}`, "stations.packing.permit:"],
  ["another turn", `${opcua}${station(", load: LEFT")}`, "stations.packing.load:"],
])("%s is a mistake", async (_what, text, problem) => {
  expect(await folder.problems(`${minimal}${text}`)).toEqual([expect.stringContaining(problem)]);
});

it("users of a protocol that is off are unwise", async () => {
  expect(await folder.warnings(`${minimal}${mqtt}${station(", users: [line1]")}`)).toEqual([
    expect.stringContaining('stations.packing.users[0]: "line1" can send nothing: there is no section opcua'),
  ]);
});

it("a broker of the plant knows its own clients", async () => {
  const plant = "mqtt: { broker: mqtts://broker.example.com }\n";
  const config = await folder.config(`${minimal}${plant}${station(", clients: [anyone]")}`);
  expect(config.stations).toHaveLength(1);
});

it("stations that nobody could ask for are unwise", async () => {
  expect(await folder.warnings(`${minimal}${station("")}`)).toEqual([
    expect.stringContaining("stations: cannot be asked for: there is neither a section opcua nor mqtt"),
  ]);
  expect(await folder.warnings(`${minimal}${mqtt}${station("")}`)).toEqual([]);
});
