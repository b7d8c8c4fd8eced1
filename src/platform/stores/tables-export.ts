import { existsSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../json.ts";
import { StoreFailed } from "../store.ts";
import { runOnStore } from "./kept-store.ts";
import { DATA_FILE } from "./store-marks.ts";
import type { TablesContent } from "./table-store.ts";

/** The content of all tables as one file in the data folder. The next start takes it, and removes it. */
export const EXPORT_FILE = "tables.json";

/**
 * The tables in a folder as the text of an export file, as they are at one moment: a gateway may run on them.
 * A separate process reads them, because a damaged file ends the process that reads it.
 *
 * @returns null: there are none
 * @throws StoreFailed if they cannot be read
 */
export async function exportTables(folder: string): Promise<string | null> {
  if (!existsSync(join(folder, DATA_FILE))) return null;
  const result = await runOnStore("export", folder);
  if ("text" in result) return result.text;
  throw new StoreFailed(`reading it ends the process with ${result.signal}`);
}

/** The content of an export file. Throws if it has another form. */
export function readExport(json: unknown): TablesContent {
  if (!isJsonObject(json)) throw new Error("it is no object");
  const tables = Object.entries(json).map(([table, records]): [string, TablesContent[string]] => {
    if (!isJsonObject(records)) throw new Error(`${table} is no object`);
    return [table, records];
  });
  return Object.fromEntries(tables);
}
