import { walkRecords } from "./record-walk.ts";

// A program of its own, `node store-walk.js <folder>`: reads every record of a store and prints what it
// found, as one JSON line. A damaged file may end it by a signal at any step, and that is an answer too
// (kept-store.ts).

/** The output of the program; without `problem` the store can be opened. */
export interface WalkReport {
  readonly problem?: string;
}

const problem = await walkRecords(process.argv[2] ?? "");
const report: WalkReport = problem === null ? {} : { problem };
process.stdout.write(JSON.stringify(report));
