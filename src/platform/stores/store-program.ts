import { open } from "lmdb";
import { contentOf } from "./lmdb-store.ts";
import { openRecord } from "./record-seal.ts";
import { walkRecords } from "./record-walk.ts";

// A separate program, because a damaged file may end it by a signal at any step (kept-store.ts):
//
// - `node store-program.js walk <folder>` reads every record of a store, and prints `{"problem"?}`: without
//   a problem the store can be opened.
// - `node store-program.js export <folder>` prints the content of the tables in a folder, as one JSON
//   document (tables-export.ts).

const [task, folder = ""] = process.argv.slice(2);
process.stdout.write(JSON.stringify(task === "export" ? await exported() : await walked()));

async function walked(): Promise<{ readonly problem?: string }> {
  const problem = await walkRecords(folder);
  return problem === null ? {} : { problem };
}

async function exported(): Promise<ReturnType<typeof contentOf>> {
  const database = open<Buffer, string>({
    path: folder,
    noSubdir: false,
    encoding: "binary",
    readOnly: true,
  });
  const records = database.getRange().map(({ key, value }) => ({ key, value: openRecord(key, value) }));
  const content = contentOf(records);
  await database.close();
  return content;
}
