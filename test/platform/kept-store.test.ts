import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import {
  confirmLosses,
  openKeptStore,
  type Preparation,
  prepareStore,
  renewStore,
  StoreTooNew,
} from "../../src/platform/stores/kept-store.ts";
import { markClosed } from "../../src/platform/stores/store-marks.ts";
import { flipBehind } from "../support/flip-bytes.ts";

const format = { store: "journal", version: 1 };
const NOW = Date.UTC(2026, 7, 1, 12, 30, 15, 250);
const LOST_AT = "2026-08-01T12:30:15.250Z";

let folder: string;
let checked: string[];
/** What the check by another process answers; store-check.test.ts has the real one. */
let answer: string | null;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "kept-store-")), "journal");
  checked = [];
  answer = null;
});
afterEach(() => {
  rmSync(dirname(folder), { recursive: true, force: true });
});

function prepare(changed: Partial<Preparation> = {}) {
  return prepareStore(folder, format, {
    isExpected: true,
    mustBeConfirmed: true,
    nowMs: NOW,
    check: async (path) => {
      checked.push(path);
      return answer;
    },
    ...changed,
  });
}

/** The first start of a store, with one record. `close` is left out where the process is killed. */
async function firstStart(): Promise<{ close(): Promise<void> }> {
  expect(await prepare({ isExpected: false })).toBeNull();
  const store = openKeptStore(folder, format);
  await store.write([
    { key: "a", value: 1 },
    { key: "b", value: { text: "written" } },
  ]);
  return store;
}

const data = () => join(folder, "data.mdb");
const aside = () => readdirSync(dirname(folder)).filter((name) => name !== "journal");

describe("a start", () => {
  it("needs no check after a clean stop, again and again", async () => {
    await (await firstStart()).close();
    for (let start = 0; start < 3; start += 1) {
      expect(await prepare()).toBeNull();
      const store = openKeptStore(folder, format);
      expect(store.get("a")).toBe(1);
      await store.close();
    }
    expect(checked).toEqual([]);
  });

  it("checks a store that was not closed, and opens one that is sound", async () => {
    const killed = await firstStart();
    expect(await prepare()).toBeNull();
    expect(checked).toEqual([folder]);
    expect(aside()).toEqual([]);
    await killed.close();
  });

  it("checks a store whose file was changed while it was closed", async () => {
    await (await firstStart()).close();
    utimesSync(data(), 1, 1);
    await prepare();
    expect(checked).toEqual([folder]);
  });

  it("takes a store that a full disk kept from being made for a new one, also the second time", async () => {
    await prepare({ isExpected: false });
    const full = {
      clock: { monotonicMs: () => 0, after: systemClock.after },
      freeBytes: () => 0,
      isReadOnly: () => false,
    };
    await openKeptStore(folder, format, full).close();
    expect(existsSync(data())).toBe(false);
    expect(await prepare()).toBeNull();
  });
});

it.each([
  ["before its file was made", () => {}],
  ["when its file was made and empty", () => writeFileSync(data(), "")],
])("takes a store whose first start was killed for a new one: %s", async (_, made) => {
  await prepare({ isExpected: false });
  made();
  expect(await prepare()).toBeNull();
  const store = openKeptStore(folder, format);
  expect(existsSync(join(folder, "closed.json"))).toBe(false);
  await store.close();
  rmSync(data());
  expect(await prepare()).toMatchObject({ reason: "data.mdb is missing" });
});

describe("a damaged store", () => {
  const writeFormat = (text: string) => writeFileSync(join(folder, "format.json"), text);
  const touched = () => utimesSync(data(), 1, 1);
  const damages: ReadonlyArray<readonly [string, string, () => void]> = [
    ["an empty file", "data.mdb is empty", () => truncateSync(data(), 0)],
    ["no file", "data.mdb is missing", () => rmSync(data())],
    ["no folder", "data.mdb is missing", () => rmSync(folder, { recursive: true })],
    ["an empty folder", "data.mdb is missing", emptyFolder],
    ["a file that the check refuses", "it is cut off", refusedFile],
    ["a folder for its file", "data.mdb is no file", () => inPlaceOf("data.mdb")],
    [
      "a file for its folder",
      "it is no folder",
      () => [rmSync(folder, { recursive: true }), writeFileSync(folder, "x")],
    ],
    ["no format", "format.json is missing", () => rmSync(join(folder, "format.json"))],
    ["an empty format", "format.json is damaged", () => writeFormat("")],
    ["a format of zeros", "format.json is damaged", () => writeFormat("\0".repeat(40))],
    ["a format that is no object", "format.json is damaged", () => writeFormat("[1]")],
    ["a folder for its format", "format.json is damaged", () => inPlaceOf("format.json")],
    [
      "a version that is text",
      "format.json is damaged",
      () => writeFormat('{"store":"journal","version":"1"}'),
    ],
    [
      "a version that is none",
      "format.json is damaged",
      () => writeFormat('{"store":"journal","version":1.5}'),
    ],
    ["a version below all", "format.json is damaged", () => writeFormat('{"store":"journal","version":-1}')],
    ["another store", 'it is the store "x"', () => writeFormat('{"store":"x","version":1}')],
    ["a newer one of another name", 'it is the store "x"', () => writeFormat('{"store":"x","version":9}')],
  ];
  function inPlaceOf(name: string): void {
    rmSync(join(folder, name));
    mkdirSync(join(folder, name));
  }
  function emptyFolder(): void {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
  }
  function refusedFile(): void {
    touched();
    answer = "it is cut off";
  }

  it.each(damages)(
    "is lost until that is confirmed, also over further starts: %s",
    async (_, reason, damage) => {
      await (await firstStart()).close();
      damage();
      const files = !existsSync(folder) ? 0 : statSync(folder).isFile() ? 1 : readdirSync(folder).length;
      const keptAs = files === 0 ? null : `${folder}.damaged-2026-08-01T12-30-15.250Z`;
      const loss = { since: LOST_AT, reason, keptAs };
      expect(await prepare()).toEqual(loss);
      expect(aside()).toHaveLength(files === 0 ? 0 : 1);

      answer = null;
      const store = openKeptStore(folder, format);
      expect(store.get("a")).toBeUndefined();
      await store.write([{ key: "b", value: 2 }]);
      // Killed here, and closed in order: the loss stays.
      expect(await prepare({ nowMs: NOW + 1 })).toEqual(loss);
      await store.close();
      expect(await prepare({ nowMs: NOW + 2 })).toEqual(loss);

      expect(confirmLosses(dirname(folder))).toEqual([{ ...loss, folder }]);
      expect(await prepare()).toBeNull();
      expect(openKeptStore(folder, format).get("b")).toBe(2);
      expect(confirmLosses(dirname(folder))).toEqual([]);
    },
  );

  it.each([0, 1, 2, 3, 4])("is found again if the start that found it ended at rename %s", async (last) => {
    await (await firstStart()).close();
    truncateSync(data(), 0);
    const { renameSync } = fs;
    let renames = 0;
    fs.renameSync = (from, to) => {
      if (renames === last) throw new Error("the process ends");
      renames += 1;
      renameSync(from, to);
    };
    syncBuiltinESMExports();
    await prepare().catch(() => {});
    Object.assign(fs, { renameSync });
    syncBuiltinESMExports();
    expect(await prepare({ nowMs: NOW + 1 })).not.toBeNull();
  });

  it("is found after a clean stop, though its file looks the same: a byte of a record", async () => {
    await (await firstStart()).close();
    flipBehind(data(), '"text":"wri');
    // A disk that rots changes no time.
    markClosed(folder);
    expect(await prepare({ isReadByOwner: true })).toBeNull();
    markClosed(folder);
    expect(await prepare()).toMatchObject({ reason: "a record is not as it was written" });
    expect(aside()).toHaveLength(1);
    expect(checked).toEqual([]);
  });

  it.each([true, false])(
    "is found after a clean stop: a page that shows fewer records than it has (read by its owner: %s)",
    async (isReadByOwner) => {
      await (await firstStart()).close();
      hideRecords(data());
      markClosed(folder);
      const found = expect.stringMatching(/^it holds 1 records of 2$/);
      expect(await prepare({ isReadByOwner })).toMatchObject({ reason: found });
      expect(checked).toEqual([]);
    },
  );

  it("is read by another process at the next start, if reading it here ends this one", async () => {
    await (await firstStart()).close();
    // As if this process ended now: what is sound for it does not count as closed either.
    expect(await prepare({ isReadByOwner: true })).toBeNull();
    answer = "reading it ends the process with SIGSEGV";
    expect(await prepare()).toMatchObject({ reason: answer });
    expect(checked).toEqual([folder]);
  });

  it("begins empty at once where nobody must confirm it", async () => {
    await (await firstStart()).close();
    truncateSync(data(), 0);
    expect(await prepare({ mustBeConfirmed: false })).toMatchObject({ reason: "data.mdb is empty" });
    expect(await prepare({ mustBeConfirmed: false })).toBeNull();
  });

  it("is none where the store was never there", async () => {
    expect(await prepare({ isExpected: false })).toBeNull();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});

/**
 * Lets each leaf page of lmdb say that it has one record only: its flags are at 18, and the bytes of its
 * pointers to records, two each, at 20 (MDB_page of lmdb 3.5).
 */
function hideRecords(path: string): void {
  const [PAGE, LEAF, ONE_POINTER] = [4_096, 2, 2];
  const file = readFileSync(path);
  for (let page = 2 * PAGE; page < file.length; page += PAGE) {
    const isOfMany = file.readUInt16LE(page + 18) === LEAF && file.readUInt16LE(page + 20) > ONE_POINTER;
    if (isOfMany) file.writeUInt16LE(ONE_POINTER, page + 20);
  }
  writeFileSync(path, file);
}

/** What stands in the place of a mark. */
const marks: ReadonlyArray<readonly [string, (path: string) => void]> = [
  ["nothing", (path) => writeFileSync(path, "")],
  ["zeros", (path) => writeFileSync(path, "\0".repeat(40))],
  ["another text", (path) => writeFileSync(path, '{"bytes":"12","since":4}')],
  ["a folder", (path) => mkdirSync(path)],
];

describe.each(marks)("%s in the place of a mark", (_, damage) => {
  it("does not say that the store was closed", async () => {
    await (await firstStart()).close();
    const closed = join(folder, "closed.json");
    rmSync(closed);
    damage(closed);
    expect(await prepare()).toBeNull();
    expect(checked).toEqual([folder]);
    const store = openKeptStore(folder, format);
    expect(store.get("a")).toBe(1);
    await store.close();
    expect(await prepare()).toBeNull();
    expect(checked).toEqual([folder]);
  });

  it.each(["no file", "an empty file"])("does not say that the store is new: %s", async (file) => {
    await (await firstStart()).close();
    rmSync(join(folder, "closed.json"));
    damage(join(folder, "closed.json"));
    if (file === "no file") rmSync(data());
    else truncateSync(data(), 0);
    expect(await prepare()).toMatchObject({
      reason: expect.stringMatching(/^data\.mdb is (missing|empty)$/),
    });
  });

  it("says that the store is lost until that is confirmed", async () => {
    await (await firstStart()).close();
    damage(join(folder, "lost.json"));
    const loss = { reason: "the reason could not be written down", keptAs: null };
    expect(await prepare()).toMatchObject(loss);
    expect(confirmLosses(dirname(folder))).toMatchObject([{ ...loss, folder }]);
    expect(await prepare()).toBeNull();
  });
});

it("refuses a store of a newer program by name, and leaves it as it is", async () => {
  await (await firstStart()).close();
  const newer = '{"store":"journal","version":2}';
  writeFileSync(join(folder, "format.json"), newer);
  truncateSync(data(), 0);
  const refused = await prepare().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StoreTooNew);
  expect(refused).toHaveProperty(
    "message",
    `${folder} holds the store "journal" in version 2, and this program knows it up to version 1: ` +
      "install the newer program again, or give this one a gateway.dataDir of its own",
  );
  expect(aside()).toEqual([]);
});

it("puts a store of an older format aside, also after a clean stop", async () => {
  await (await firstStart()).close();
  writeFileSync(join(folder, "format.json"), '{"store":"journal","version":0}');
  const loss = await prepare();
  expect(loss?.reason).toBe("its records are of version 0, and this program reads version 1");
  expect(aside()).toHaveLength(1);
  expect(checked).toEqual([]);
});

it("renews a store for a world that begins anew", async () => {
  await firstStart();
  await renewStore(folder);
  expect(await prepare()).toBeNull();
  expect(openKeptStore(folder, format).get("a")).toBeUndefined();
  expect(checked).toEqual([]);
});
