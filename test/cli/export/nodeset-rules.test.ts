import { describe, expect, it } from "vitest";
import { type Files, plantFiles, typeFiles } from "../../../src/cli/export/plant-files.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { opcUaOptions } from "../../northbound/opcua/opcua-harness.ts";
import { nowOf } from "../../support/live.ts";
import { plants } from "./export-harness.ts";
import { nodeSetProblems, standardNodeSet } from "./nodeset-rules.ts";

const standard = standardNodeSet();
const catalogue = createCatalogue();
const options = { opcServer: "Fleetgate", hasInstances: true };
const nodeSetOf = (files: Files) => [...(files["Fleetgate.NodeSet2.xml"] ?? [])].join("");
const plantSet = (changed: Parameters<typeof opcUaOptions>[0]) =>
  nodeSetOf(plantFiles(nowOf(opcUaOptions(changed)), catalogue, options).files);

describe("an exported NodeSet keeps the rules of OPC UA part 6, annex F", () => {
  it("with the types alone", () => {
    expect(nodeSetProblems(nodeSetOf(typeFiles(catalogue)), standard)).toEqual([]);
  });

  it.each(plants)("with a plant that has %s", (_name, changed) => {
    expect(nodeSetProblems(plantSet(changed), standard)).toEqual([]);
  });
});

/** What is planted, by what is said of it. */
const defects: ReadonlyArray<readonly [problem: string, from: string | RegExp, to: string]> = [
  ["white space in the Uri", "<Uri>urn:fleetgate:fleet</Uri>", "<Uri>\nurn:fleetgate:fleet\n</Uri>"],
  ["has no line of its own", /<NamespaceUris>\s*<Uri>/, "<NamespaceUris><Uri>"],
  ["no Model describes", 'Model ModelUri="urn:fleetgate:fleet"', 'Model ModelUri="urn:other"'],
  ["a Model requires none", /<RequiredModel[^>]*>/, ""],
  ["no ModelUri or no Version", /(<RequiredModel[^>]*?) Version="[^"]*"/, "$1"],
  ["is no time of UTC", /(<RequiredModel[^>]*? PublicationDate=")[^"]*/, "$12019-05-01"],
  ["newer namespace 0", /(<RequiredModel[^>]*? PublicationDate=")[^"]*/, "$12999-05-01T00:00:00Z"],
  ["LastModified is no time", "<UANodeSet ", '<UANodeSet LastModified="today" '],
  ["the alias Int32 is there twice", "<Aliases>", '<Aliases><Alias Alias="Int32">i=6</Alias>'],
  ["which has another name", '<Alias Alias="Int32">i=6<', '<Alias Alias="Int32">i=7<'],
  ["HasComponent is no reference type", '<Alias Alias="HasComponent">i=47</Alias>', ""],
  ["its DataType Boolean is not there", '<Alias Alias="Boolean">i=1</Alias>', ""],
  [
    "Robots.AMR01.Valid is there twice",
    'NodeId="ns=1;s=Robots.AMR01.AgeSeconds"',
    'NodeId="ns=1;s=Robots.AMR01.Valid"',
  ],
  ["not of our namespace", 'NodeId="ns=1;s=Robots.AMR01.Valid"', 'NodeId="ns=2;s=Robots.AMR01.Valid"'],
  ["BrowseName 2:Valid", 'BrowseName="1:Valid"', 'BrowseName="2:Valid"'],
  ["has no Description", /<Description [^>]*>.*?<\/Description>/g, ""],
  ["two texts of one language in DisplayName", '<DisplayName Locale="de">', '<DisplayName Locale="en">'],
  ["in no language", '<DisplayName Locale="de">', '<DisplayName Locale="German">'],
  [
    "i=47 false ns=1;s=Robots.AMR01 is there twice",
    ...twice('"HasComponent" IsForward="false">ns=1;s=Robots.AMR01'),
  ],
  [
    "which is not there",
    '"HasComponent">ns=1;s=Robots.AMR01.Valid<',
    '"HasComponent">ns=1;s=Robots.AMR01.Void<',
  ],
  [
    "does not refer to it",
    '<Reference ReferenceType="HasComponent">ns=1;s=Robots.AMR01.Valid</Reference>',
    "",
  ],
  [
    "ParentNodeId ns=1;s=Robots is none",
    'ParentNodeId="ns=1;s=Robots.AMR01"',
    'ParentNodeId="ns=1;s=Robots"',
  ],
  ["no ParentNodeId", ' ParentNodeId="ns=1;s=Robots.AMR01"', ""],
  ["nothing leads to it", />ns=1;s=EnumValues\.[^<]*</g, ">ns=1;s=Robots<"],
  ["members have the BrowseName 1:Valid", 'BrowseName="1:Quality"', 'BrowseName="1:Valid"'],
  ["is a property without PropertyType", ">i=68</Reference>", ">i=63</Reference>"],
  ["of PropertyType is a component", ">i=63</Reference>", ">i=68</Reference>"],
  ["its modelling rule is none", 'HasModellingRule">i=78<', 'HasModellingRule">i=79<'],
  ["it has 2 types", ...twice('"HasTypeDefinition">i=63')],
  ["it has 0 types", '<Reference ReferenceType="HasTypeDefinition">i=63</Reference>', ""],
  ["the first is a ObjectType", '"HasTypeDefinition">i=63<', '"HasTypeDefinition">i=58<'],
  [
    "no subtype of BaseObjectType",
    'HasSubtype" IsForward="false">i=58<',
    'HasSubtype" IsForward="false">i=62<',
  ],
  ["AMR01: it lacks 1:Valid of", /(s=Robots.AMR01.Valid" BrowseName)="1:Valid"/, '$1="1:Void"'],
  ["it lacks EnumValues of its type", /<Reference ReferenceType="HasProperty">ns=1;s=EnumValues.*/g, ""],
  ["which its type wants", /(BrowseName="1:[A-Z]\w+"[^>]*? DataType=)"Int32"/g, '$1"String"'],
  ["with 0 ArrayDimensions", / ArrayDimensions="\d+"/g, ""],
  ["with 1 ArrayDimensions", 'ValueRank="1" ArrayDimensions', 'ValueRank="-1" ArrayDimensions'],
  [
    "its Value is a ListOfExtensionObject",
    'DataType="Argument" ValueRank="1" ArrayDimensions',
    'DataType="Argument" ArrayDimensions',
  ],
  ["items", /(DataType="Argument" ValueRank="1" ArrayDimensions=)"\d+"/, '$1"99"'],
  ["is not the XML encoding of Argument", "<Identifier>i=297<", "<Identifier>i=298<"],
  ["no Argument with members in", /(<Argument>)(<Name>\w+<\/Name>)(<DataType>.*?<\/DataType>)/, "$1$3$2"],
  ["no list of Argument", 'DataType="Argument"', 'DataType="Range"'],
  [
    "an argument of InputArguments has no name",
    "<Name>RequestId</Name><DataType>",
    "<Name></Name><DataType>",
  ],
  ["DataType i=13000 of ExpiresAt", "<DataType><Identifier>i=13<", "<DataType><Identifier>i=13000<"],
  ['the ValueRank of RequestId is ""', "<ValueRank>-1</ValueRank>", "<ValueRank></ValueRank>"],
  ["two of its arguments", "<Name>ExpiresAt</Name><DataType>", "<Name>RequestId</Name><DataType>"],
  [
    "it describes the arguments",
    "<ArgumentDescription><Name>RequestId<",
    "<ArgumentDescription><Name>Other<",
  ],
];

function twice(reference: string): readonly [from: string, to: string] {
  const text = `<Reference ReferenceType=${reference}</Reference>`;
  return [text, text + text];
}

const robot = { robotId: "r1", alias: "AMR01", number: 1, family: "serve", conveyorIndexes: [] } as const;
const sound = plantSet({ robots: [robot] });

it.each(defects)("the rules find a defect: %s", (problem, from, to) => {
  const changed = sound.replace(from, to);
  expect(changed).not.toBe(sound);
  expect(nodeSetProblems(changed, standard).join("\n")).toContain(problem);
});
