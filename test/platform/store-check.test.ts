import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, StoreFailed } from "../../src/platform/store.ts";
import { checkStore } from "../../src/platform/stores/kept-store.ts";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { flipBehind } from "../support/flip-bytes.ts";

/** The program that reads a store runs as it was built. */
const program = join(process.cwd(), "dist", "store-program.js");
const check = () => checkStore(folder, program);
const PAGE = 4_096;
const RECORDS = 400;

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "store-check-"));
  const store = openStore(folder);
  const put = (value: (at: number) => unknown) =>
    store.write(Array.from({ length: RECORDS }, (_, at) => ({ key: `c/${at}`, value: value(at) })));
  // Long values have pages of their own; what is removed makes a list of free places.
  await put(() => "x".repeat(6_000));
  await put((at) => (at % 3 === 0 ? undefined : { text: "y".repeat(at % 2 === 0 ? 300 : 9_000) }));
  await put((at) => (at % 3 === 1 ? undefined : { text: "z".repeat(at % 2 === 0 ? 500 : 5_000) }));
  await store.close();
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const data = () => join(folder, "data.mdb");

function overwrite(at: number, bytes: Buffer): void {
  const file = readFileSync(data());
  bytes.copy(file, at);
  writeFileSync(data(), file);
}

function randomBytes(count: number, seed: number): Buffer {
  const random = seededRandom(seed);
  return Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
}

it("finds nothing wrong with a sound store, changes nothing in it, and needs no lock file", async () => {
  const before = readFileSync(data());
  expect(await check()).toBeNull();
  rmSync(join(folder, "lock.mdb"));
  expect(await check()).toBeNull();
  writeFileSync(join(folder, "lock.mdb"), randomBytes(8_272, 3));
  expect(await check()).toBeNull();
  expect(readFileSync(data()).equals(before)).toBe(true);
});

describe("a store that ends the process that opens it, or shows less than it holds", () => {
  it.each([
    ["cut off in the middle", () => truncateSync(data(), statSync(data()).size / 2)],
    ["cut off behind its heads", () => truncateSync(data(), 2 * PAGE)],
    ["cut off in its first head", () => truncateSync(data(), 100)],
    ["random bytes", () => writeFileSync(data(), randomBytes(400_000, 1))],
    ["zeros", () => writeFileSync(data(), Buffer.alloc(400_000))],
    [
      "a record with another text",
      () => overwrite(readFileSync(data()).lastIndexOf("zzzz"), Buffer.from("y")),
    ],
    ["a record with another key", () => flipBehind(data(), "c/3")],
    [
      "a record with another checksum",
      () => flipBehind(data(), '{"text":"zzzz', -'{"text":"zzzz'.length - 1),
    ],
    ["a second head of zeros", () => overwrite(PAGE, Buffer.alloc(PAGE))],
  ])("is found: %s", async (_, damage) => {
    damage();
    expect(await check()).toEqual(expect.any(String));
  });

  it("is found wherever a page in use is no page any more; what is not found does no harm", async () => {
    const sound = readFileSync(data());
    const random = seededRandom(20_261_122);
    const found: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      const page = 2 + Math.floor(random() * (sound.length / PAGE - 2));
      writeFileSync(data(), sound);
      overwrite(page * PAGE, randomBytes(PAGE, round));
      const problem = await check();
      if (problem !== null) found.push(problem);
      else await useInFull();
    }
    expect(found.length).toBeGreaterThan(0);
  }, 60_000);
});

/** Reads all, writes all, in this very process: it dies where the check was wrong. */
async function useInFull(): Promise<void> {
  const store = openStore(folder);
  const keys = Array.from({ length: RECORDS }, (_, at) => `c/${at}`);
  for (const key of keys) store.get(key);
  await store.write(keys.map((key) => ({ key, value: "w".repeat(2_000) })));
  await store.write(keys.map((key) => ({ key, value: undefined })));
  await store.close();
}

it("says so when the check itself cannot be made: nothing is known then", async () => {
  const failed = await checkStore(folder, join(folder, "no-such-program.js")).catch(
    (error: unknown) => error,
  );
  expect(failed).toBeInstanceOf(StoreFailed);
  expect(failed).toHaveProperty("message", expect.stringContaining("could not be checked"));
  rmSync(data());
  expect(await check().catch((error: unknown) => error)).toBeInstanceOf(StoreFailed);
});
