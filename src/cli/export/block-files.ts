import { readFileSync } from "node:fs";
import { shippedFile } from "../../platform/plain-file.ts";
import { programDate, version } from "../../version.ts";
import {
  type Declaration,
  escaped,
  type FunctionBlock,
  readFunctionBlock,
  type SclStructure,
  type Section,
  sclSource,
} from "./function-block.ts";

/** The function block for one slot, in IEC 61131-3 structured text. */
export const FG_COMMAND = readFileSync(shippedFile("docs/examples/FG_Command.st"), "utf8");
/** The same for a load station (docs/load-station.md, In an afternoon). */
export const FG_LOAD_STATION = readFileSync(shippedFile("docs/examples/FG_LoadStation.st"), "utf8");

/** The inputs of the load station for tags of the station and of its slot. */
const stationTags = "Answer Leased Valid RobotHere RobotHereNo Loaded Rolling Permitted".split(" ");

/** The files of the function blocks by name. The same program writes the same bytes. */
export function blockFiles(): Readonly<Record<string, string>> {
  const header = { product: "Fleetgate", version, at: programDate().toISOString() };
  return Object.fromEntries(
    [FG_COMMAND, FG_LOAD_STATION].flatMap((source) => {
      const block = readFunctionBlock(source);
      const structure = block.name === "FG_LoadStation" ? stationTagsOf(block) : null;
      return [
        [`${block.name}.st`, source],
        [`${block.name}.xml`, plcOpenXml([block], header)],
        [`${block.name}.scl`, sclSource(block, structure)],
      ];
    }),
  );
}

function stationTagsOf({ sections }: FunctionBlock): SclStructure {
  return {
    typeName: "UDT_FG_Station",
    name: "Tags",
    comment: "what was read of the station",
    members: sections.flatMap(({ declarations }) =>
      declarations.filter(({ name }) => stationTags.includes(name)),
    ),
  };
}

/** The header of the file. */
export interface PlcOpenHeader {
  readonly product: string;
  readonly version: string;
  /** ISO 8601. */
  readonly at: string;
}

const elements: Readonly<Record<Section["kind"], string>> = {
  VAR_INPUT: "inputVars",
  VAR_OUTPUT: "outputVars",
  VAR: "localVars",
};

/**
 * The blocks as PLCopen XML (IEC 61131-10, TC6 version 2.01), with bodies in structured text: CODESYS,
 * TwinCAT and others import it.
 */
function plcOpenXml(blocks: readonly FunctionBlock[], { product, version, at }: PlcOpenHeader): string {
  const scaling = (language: string) => `      <${language}><scaling x="1" y="1"/></${language}>`;
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<project xmlns="http://www.plcopen.org/xml/tc6_0200">',
    `  <fileHeader companyName="${escaped(product)}" productName="${escaped(product)}" productVersion="${escaped(version)}" creationDateTime="${at}"/>`,
    `  <contentHeader name="${escaped(product)}">`,
    "    <coordinateInfo>",
    ...["fbd", "ld", "sfc"].map(scaling),
    "    </coordinateInfo>",
    "  </contentHeader>",
    "  <types>",
    "    <dataTypes/>",
    "    <pous>",
    ...blocks.flatMap(pou),
    "    </pous>",
    "  </types>",
    "  <instances><configurations/></instances>",
    "</project>",
    "",
  ].join("\n");
}

function pou({ name, comment, sections, body }: FunctionBlock): readonly string[] {
  return [
    `      <pou name="${name}" pouType="functionBlock">`,
    "        <interface>",
    ...sections.flatMap(({ kind, isRetained, declarations }) => [
      `          <${elements[kind]}${isRetained ? ' retain="true"' : ""}>`,
      ...declarations.map((declaration) => `            ${variable(declaration)}`),
      `          </${elements[kind]}>`,
    ]),
    `          ${documentation(comment)}`,
    "        </interface>",
    `        <body><ST>${xhtml(body)}</ST></body>`,
    "      </pou>",
  ];
}

function variable({ name, type, initial, comment }: Declaration): string {
  const value = initial === null ? "" : `<initialValue><simpleValue value="${initial}"/></initialValue>`;
  const text = comment === "" ? "" : documentation(comment);
  return `<variable name="${name}"><type>${typeElement(type)}</type>${value}${text}</variable>`;
}

const elementary = new Set(["BOOL", "DINT", "TIME"]);
const array = /^ARRAY\[(\d+)\.\.(\d+)\] OF (\w+)$/;

function typeElement(type: string): string {
  const [, lower, upper, base] = array.exec(type) ?? [];
  if (base !== undefined) {
    const dimension = `<dimension lower="${lower}" upper="${upper}"/>`;
    return `<array>${dimension}<baseType>${typeElement(base)}</baseType></array>`;
  }
  return elementary.has(type) ? `<${type}/>` : `<derived name="${type}"/>`;
}

function documentation(text: string): string {
  return `<documentation>${xhtml(text)}</documentation>`;
}

function xhtml(text: string): string {
  return `<xhtml xmlns="http://www.w3.org/1999/xhtml">${escaped(text)}</xhtml>`;
}
