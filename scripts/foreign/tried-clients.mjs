// The table of docs/scada.md that says which foreign clients passed what. A run of a client writes its row.
import { readFileSync, writeFileSync } from "node:fs";

const page = new URL("../../docs/scada.md", import.meta.url);
const between = "; ";

/** What the table says that a client has passed; null if it has no row. */
export function triedRow(client) {
  const row = rowPattern(client).exec(readFileSync(page, "utf8"));
  return row === null ? null : { client, version: row[1], passed: row[2].split(between) };
}

/** Writes the row of a client, as of today. The page must have one already. `notRun` has what, and why. */
export function writeTriedRow({ client, version, passed, notRun = [] }) {
  const text = readFileSync(page, "utf8");
  if (!rowPattern(client).test(text)) throw new Error(`docs/scada.md has no row for ${client}`);
  const today = new Date().toISOString().slice(0, 10);
  const left = notRun.length === 0 ? "" : `. *Not run*: ${notRun.join(between)}`;
  const row = `| ${client} | ${version} | ${passed.join(between)}${left} | ${today} |`;
  writeFileSync(page, text.replace(rowPattern(client), row));
}

function rowPattern(client) {
  return new RegExp(`^\\| ${client} \\| (.*?) \\| (.*?) \\| (.*?) \\|$`, "m");
}
