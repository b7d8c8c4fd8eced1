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
});
