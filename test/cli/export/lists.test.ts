import { expect, test } from "vitest";
import { ignitionJson, type Tag } from "../../../src/cli/export/ignition.ts";
import { cell, tagsCsv } from "../../../src/cli/export/plant-files.ts";

const tag: Tag = {
  nodeId: "nsu=urn:fleetgate:fleet;s=Robots.a.Battery.ChargePercent",
  folders: ["Robots", "a", "Battery"],
  name: "ChargePercent",
  description: "How full, and how",
  ...{ dataType: "Int32", length: null, isWritable: false, isText: false, unit: "%", range: [0, 100] },
};

test("a line of CSV has what the header says, as RFC 4180 has it", () => {
  const pose: Tag = { ...tag, name: "Pose", length: 3, isWritable: true, unit: "", description: 'x "y"' };
  expect([...tagsCsv([[tag], [pose]], 7)].join("")).toBe(
    [
      "NodeId,BrowsePath,DataType,ArrayLength,Unit,Access,Description,ModelHash",
      `${tag.nodeId},Robots/a/Battery/ChargePercent,Int32,,%,r,"How full, and how",7`,
      `${tag.nodeId},Robots/a/Battery/Pose,Int32,3,,rw,"x ""y""",7`,
      "",
    ].join("\r\n"),
  );
});

test.each([
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@a", "'@a"],
  ["\ta", "'\ta"],
  ["\ra", '"\'\ra"'],
  ["a=1", "a=1"],
])("no spreadsheet takes %j for a formula", (text, shown) => {
  expect(cell(text)).toBe(shown);
});

test("Ignition gets folders, its own data types, and a tag to compare ModelHash with", () => {
  const options = { opcServer: "Hall 1", modelHash: 7 };
  const hash: Tag = { ...tag, folders: ["Gateway"], name: "ModelHash", unit: "", range: null };
  const missing: Tag = { ...hash, folders: ["Robots"], name: "NodesMissing" };
  expect(imported([[hash], [missing], [tag]], options)).toEqual(
    folder("Fleetgate", [
      folder("Gateway", [
        expect.objectContaining({ name: "ModelHash", valueSource: "opc" }),
        {
          ...{ name: "ExportedModelHash", tagType: "AtomicTag", valueSource: "memory", dataType: "Int4" },
          ...{ value: 7, readOnly: true, documentation: expect.any(String) },
        },
      ]),
      folder("Robots", [
        expect.objectContaining({ name: "NodesMissing" }),
        folder("a", [folder("Battery", [chargePercent])]),
      ]),
    ]),
  );
});

function imported(...given: Parameters<typeof ignitionJson>) {
  return JSON.parse([...ignitionJson(...given)].join(""));
}

const chargePercent = {
  ...{ name: "ChargePercent", tagType: "AtomicTag", valueSource: "opc", dataType: "Int4" },
  ...{ opcServer: "Hall 1", opcItemPath: tag.nodeId, readOnly: true, documentation: tag.description },
  ...{ engUnit: "%", engLow: 0, engHigh: 100 },
};

function folder(name: string, tags: readonly unknown[]) {
  return { name, tagType: "Folder", tags };
}

test("names that Ignition does not take, or does not tell apart, get others", () => {
  const of = (robot: string): Tag => ({ ...tag, folders: ["Robots", robot], name: "Valid" });
  const robots = ["r%2E1", "r_2E1", "R_2e1", "-a", "a~id"].map(of);
  const groups = robots.map((robot) => [robot]);
  const [{ tags }] = imported(groups, { opcServer: "x", modelHash: 7 }).tags;
  expect(tags.map(({ name }: { name: string }) => name)).toEqual([
    ...["r_2E1", "r_2E1_2", "R_2e1_3", "_a", "a_id"],
  ]);
});
