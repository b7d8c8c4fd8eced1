import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;

beforeEach(async () => {
  folder = await createConfigFolder();
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

describe("a mistake in opcua", () => {
  it("is no second mistake of a station that needs the section", async () => {
    const found = await folder.problems(
      `${minimal}opcua: { missionSlots: 3 }\nstations: { dock: { destinations: [A], permit: required } }\n`,
    );
    expect(found).toEqual([expect.stringContaining("opcua.missionSlots: must be at most 2, not 3")]);
  });
});

describe("opcua.reverseConnect", () => {
  const withAddresses = (addresses: string, more = "") =>
    `${minimal}opcua: { reverseConnect: [${addresses}]${more} }\n`;

  it.each([
    "scada:4841",
    "opc.tcp://scada",
    "opc.tcp://scada:0",
    "opc.tcp://scada:4841/UA",
    "https://scada:443",
  ])("takes no %s", async (address) => {
    expect(await folder.problems(withAddresses(`"${address}"`))).toEqual([
      expect.stringContaining("opcua.reverseConnect[0]: write opc.tcp://host:port, where the client listens"),
    ]);
  });

  it("has each address once", async () => {
    expect(await folder.problems(withAddresses(`"opc.tcp://[::1]:4841", "opc.tcp://[::1]:4841"`))).toEqual([
      expect.stringContaining("opcua.reverseConnect: the same entry is there twice"),
    ]);
  });

  it.each([
    ["127.0.0.1", "opc.tcp://localhost:4840"],
    ["0.0.0.0", "opc.tcp://[::1]:4840"],
    ["0.0.0.0", "opc.tcp://gateway1:4840"],
    ["192.0.2.7", "opc.tcp://192.0.2.7:4840"],
    ["0.0.0.0", "opc.tcp://plant-gateway:4840"],
    ["0.0.0.0", "opc.tcp://[2001:db8::7]:4840"],
  ])("is not the address of the gateway itself, which listens on %s: %s", async (host, address) => {
    const names = `hostname: gateway1, alternateHostnames: [plant-gateway, "2001:db8::7"]`;
    const own = `, ${names}, listen: { host: "${host}" }`;
    expect(await folder.problems(withAddresses(`"${address}"`, own))).toEqual([
      expect.stringContaining("opcua.reverseConnect[0]: is the gateway's own address"),
    ]);
    const another = address.replace(":4840", ":4841");
    expect(await folder.problems(withAddresses(`"${another}"`, own))).toEqual([]);
  });

  it("does not lead from a server without users to another machine", async () => {
    const open = ", insecureLoopback: {}";
    expect(await folder.problems(withAddresses(`"opc.tcp://localhost:4841"`, open))).toEqual([]);
    expect(await folder.problems(withAddresses(`"opc.tcp://scada:4841"`, open))).toEqual([
      expect.stringContaining(
        "opcua.reverseConnect[0]: leads to another machine, and opcua.insecureLoopback",
      ),
    ]);
  });
});

describe("warnings", () => {
  it("name two OPC UA users of one number, for PLCs know their commands by it", async () => {
    await folder.write("pw", "password");
    const user = (number: number) => `{ password: pw, role: operator, number: ${number} }`;
    const text = (second: number) =>
      `${minimal}opcua: { users: { plc: ${user(1)}, hmi: ${user(second)} } }\n`;
    const found = expect.stringContaining(
      "opcua.users.hmi.number: is the number of plc too: in a slot of both",
    );
    expect(await folder.warnings(text(1))).toContainEqual(found);
    expect(await folder.warnings(text(2))).not.toContainEqual(found);
  });

  it("name two OPC UA users without a number that may write to one slot", async () => {
    await folder.write("pw", "password");
    const users = (role = "operator", number = "") =>
      `opcua: { users: { plc: { password: pw, role: operator }, hmi: { password: pw, role: ${role}${number} } } }\n`;
    const rule = (name: string, robots: string) =>
      `  - { source: { protocol: opcua, name: ${name} }, role: operator, robots: [${robots}] }\n`;
    const rules = (hmi: string) => `rights:\n${rule("plc", "r1, r2")}${rule("hmi", hmi)}`;
    const station = (names: string) => `stations: { dock: { destinations: [A], users: [${names}] } }\n`;
    const found = expect.stringContaining("opcua.users.hmi: has no number, nor has plc, and both may write");
    const warned = async (text: string) =>
      (await folder.warnings(`${minimal.replace("[cart-1]", "[r1, r2, r3]")}${text}`)).some((each) =>
        found.asymmetricMatch(each),
      );
    expect(await warned(users())).toBe(true);
    expect(await warned(users() + rules("r2"))).toBe(true);
    expect(await warned(users() + rules("r1") + station("plc"))).toBe(true);
    // A station's slot is one slot, whatever robots they may command.
    expect(await warned(users() + rules("r3") + station("plc, hmi"))).toBe(true);
    expect(await warned(users() + rules("r3") + station("plc"))).toBe(false);
    expect(await warned(users() + rules("r3"))).toBe(false);
    expect(await warned(users("observer"))).toBe(false);
    expect(await warned(users("operator", ", number: 2"))).toBe(false);
    // A session without a user has no number either.
    const beside = (role: string) =>
      `opcua: { insecureLoopback: { role: ${role} }, users: { plc: { password: pw, role: operator } } }\n`;
    const anonymous = expect.stringContaining("opcua.users.plc: has no number, nor has anonymous,");
    expect(await folder.warnings(minimal + beside("operator"))).toContainEqual(anonymous);
    expect(await folder.warnings(minimal + beside("observer"))).not.toContainEqual(anonymous);
  });
});
