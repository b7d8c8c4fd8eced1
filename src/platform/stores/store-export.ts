import { open } from "lmdb";
import { contentOf } from "./lmdb-store.ts";
import { openRecord } from "./record-seal.ts";

// A separate program, `node store-export.js <folder>`: prints the content of the tables in a folder, as one
// JSON document (tables-export.ts).

const database = open<Buffer, string>({
  path: process.argv[2] ?? "",
  noSubdir: false,
  encoding: "binary",
  readOnly: true,
});
const records = database.getRange().map(({ key, value }) => ({ key, value: openRecord(key, value) }));
process.stdout.write(JSON.stringify(contentOf(records)));
await database.close();
