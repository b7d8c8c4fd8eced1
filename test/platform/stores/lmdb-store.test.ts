import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Log, silentLog } from "../../../src/platform/log.ts";
import { brokenStore, type KeyedStore, openStore } from "../../../src/platform/store.ts";
import { createLmdbStore } from "../../../src/platform/stores/lmdb-store.ts";
import {
  type Codec,
  changesOf,
  type OnLoss,
  replacement,
  type TableStore,
} from "../../../src/platform/stores/table-store.ts";
import { exportTables } from "../../../src/platform/stores/tables-export.ts";
import { flipBehind } from "../../support/flip-bytes.ts";

const words: Codec<string> = {
  encode: (word) => ({ word }),
  decode(json) {
    const { word } = json as { readonly word?: unknown };
    return typeof word === "string" ? word : null;
  },
};

let folder: string;
let records: KeyedStore;
let store: TableStore;
let said: string[];
const log: Log = {
  ...silentLog,
  error: (fields, message) => void said.push(`${message} ${JSON.stringify(fields)}`),
};

function open(): void {
  records = openStore(folder);
  store = createLmdbStore(records, log);
}
async function reopen(): Promise<void> {
  await records.close();
  open();
}
const table = (name: string, onLoss: OnLoss = "begin empty") => store.table(name, words, onLoss);
const entries = (name: string) => [...table(name).entries()];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lmdb-store-"));
  said = [];
  open();
});
afterEach(async () => {
  await records.close();
  rmSync(folder, { recursive: true, force: true });
});

it("reads what was written, by table and in the order of keys, after a restart too", async () => {
  const [a, ab] = [table("a"), table("ab")];
  await store.write([a.put("2", "two"), ab.put("1", "other"), a.put("1/x", "one"), a.put("", "none")]);
  await store.write([a.remove("")]);
  await reopen();
  expect(entries("a")).toEqual([
    ["1/x", "one"],
    ["2", "two"],
  ]);
  expect(entries("ab")).toEqual([["1", "other"]]);
  expect([table("a").get("2"), table("a").get("1")]).toEqual(["two", undefined]);
  expect(said).toEqual([]);
});

it("writes all of a group or none", async () => {
  await expect(
    store.write([table("a").put("k", "v"), table("b").put("x".repeat(3_000), "v")]),
  ).rejects.toThrow("a key is too long");
  expect([...entries("a"), ...entries("b")]).toEqual([]);
});

/** Ways to damage a record of the table `b`. */
const damages: ReadonlyArray<readonly [string, () => Promise<void> | void]> = [
  ["another text than was written", () => flipBehind(join(folder, "data.mdb"), '"word":"f')],
  ["what its codec does not know", () => write("b/1", { word: 7 })],
];

async function write(key: string, value: unknown): Promise<void> {
  open();
  await records.write([{ key, value }]);
  await records.close();
}

it.each(damages)("a record with %s empties its table, and no other one", async (_what, damage) => {
  await store.write([table("a").put("1", "stays"), table("b").put("1", "foo"), table("b").put("2", "goes")]);
  await records.close();
  await damage();
  open();
  expect(entries("b")).toEqual([]);
  expect([table("b").get("1"), table("b").get("2")]).toEqual([undefined, undefined]);
  expect(entries("a")).toEqual([["1", "stays"]]);
  expect(said).toEqual([expect.stringMatching(/a table cannot be read: it begins empty .*"table":"b"/)]);

  await Promise.all([store.write([table("b").put("3", "new")]), store.write([table("b").put("4", "more")])]);
  await reopen();
  expect(entries("b")).toEqual([
    ["3", "new"],
    ["4", "more"],
  ]);
  expect(entries("a")).toEqual([["1", "stays"]]);
  expect(said).toHaveLength(1);
});

it("a table whose loss an operator must confirm throws, and keeps what there is", async () => {
  await store.write([table("a").put("1", "foo")]);
  await records.close();
  flipBehind(join(folder, "data.mdb"), '"word":"f');
  open();
  const confirmed = table("a", "confirm");
  expect(() => confirmed.get("1")).toThrow("a record is not as it was written");
  expect(() => [...confirmed.entries()]).toThrow("a record is not as it was written");
  await store.write([confirmed.put("2", "bar")]);
  await reopen();
  expect(() => [...table("a", "confirm").entries()]).toThrow("a record is not as it was written");
});

it.each(damages)("a replacement removes a record with %s", async (_what, damage) => {
  await store.write([table("b", "confirm").put("1", "foo")]);
  await records.close();
  await damage();
  open();
  await store.write(replacement(store, { b: {} }));
  await reopen();
  expect([...table("b", "confirm").entries()]).toEqual([]);
});

it("an environment that cannot be opened has empty tables, and takes nothing", async () => {
  store = createLmdbStore(brokenStore(new Error("no disk")), log);
  expect([...entries("a"), table("a").get("1")]).toEqual([undefined]);
  await expect(store.write([table("a").put("1", "v")])).rejects.toThrow("no disk");
});

it("the changes that give records a value are only those of other values", async () => {
  const [same, was, is] = ["same", "was", "is"];
  const kept = new Map(Object.entries({ a: same, b: was, c: was }));
  const records = Object.entries({ a: same, b: is, c: null, d: is, e: null });
  expect(changesOf(table("t"), kept, records)).toEqual([
    { table: "t", key: "b", value: { word: "is" } },
    { table: "t", key: "c", value: undefined },
    { table: "t", key: "d", value: { word: "is" } },
  ]);
  expect(Object.fromEntries(kept)).toEqual({ a: same, b: is, d: is });
});

it("a process that is killed between and in its writes leaves whole ones", async () => {
  await records.close();
  let newest = 0;
  for (let life = 0; life < 5; life += 1) {
    const child = fork(join(import.meta.dirname, "writing-child.mjs"), [folder]);
    const ended = once(child, "exit");
    child.on("message", (count: number) => {
      newest = count;
      if (count >= 20 + life) child.kill("SIGKILL");
    });
    await ended;
    open();
    const counts = ["one", "other"].map((name) => records.get(`${name}/count`));
    expect(counts[0]).toBe(counts[1]);
    expect(counts[0]).toBeGreaterThanOrEqual(newest);
    await records.close();
  }
  open();
});

it("is exported while it is open, and comes back as it was", async () => {
  const proto = table("a").put("__proto__", "safe");
  await store.write([proto, table("a").put("1/x", "one"), table("b").put("1", "other")]);
  const text = await exportTables(folder);
  const content = JSON.parse(text ?? "");
  expect(content.b).toEqual({ 1: { word: "other" } });

  await store.write([table("a").put("2", "later"), table("b").remove("1"), table("c").put("1", "stays")]);
  await store.write(replacement(store, content));
  await reopen();
  expect(entries("a")).toEqual([
    ["1/x", "one"],
    ["__proto__", "safe"],
  ]);
  expect([...entries("b"), ...entries("c")]).toEqual([
    ["1", "other"],
    ["1", "stays"],
  ]);
});

it("a damaged file ends neither the gateway nor the backup that exports it", async () => {
  await store.write([table("a").put("1", "x".repeat(100_000))]);
  await records.close();
  truncateSync(join(folder, "data.mdb"), 16_384);
  await expect(exportTables(folder)).rejects.toThrow(/cannot be|could not be|ends the process/);
  expect(await exportTables(join(folder, "nowhere"))).toBeNull();
  rmSync(join(folder, "data.mdb"));
  open();
});
