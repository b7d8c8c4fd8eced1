import type { Tag } from "./tag.ts";

const header = [
  ...["NodeId", "BrowsePath", "DataType", "ArrayLength", "Unit", "Access", "Description", "ModelHash"],
];

/** One line for each tag (RFC 4180), with the hash of the whole list. */
export function* tagsCsv(groups: Iterable<readonly Tag[]>, modelHash: number): Generator<string> {
  yield line(header);
  for (const tags of groups) yield tags.map((tag) => line(cellsOf(tag, modelHash))).join("");
}

function cellsOf(tag: Tag, modelHash: number): readonly string[] {
  const { nodeId, folders, name, dataType, length, unit, isWritable, description } = tag;
  return [
    nodeId,
    [...folders, name].join("/"),
    dataType,
    length === null ? "" : String(length),
    unit,
    isWritable ? "rw" : "r",
    description,
    String(modelHash),
  ];
}

function line(cells: readonly string[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

/** A text that a spreadsheet would read as a formula gets an apostrophe. */
export function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
