import type { Tag } from "./tag.ts";

const header = [
  ...["NodeId", "BrowsePath", "DataType", "ArrayLength", "Unit", "Access", "Description", "ModelHash"],
];

/** One line a tag (RFC 4180), each with the hash of the whole list. */
export function tagsCsv(tags: readonly Tag[], modelHash: number): string {
  const rows = tags.map(({ nodeId, folders, name, dataType, length, unit, isWritable, description }) => [
    nodeId,
    [...folders, name].join("/"),
    dataType,
    length === null ? "" : String(length),
    unit,
    isWritable ? "rw" : "r",
    description,
    String(modelHash),
  ]);
  return [header, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** What a spreadsheet would take for a formula begins with an apostrophe. */
export function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
