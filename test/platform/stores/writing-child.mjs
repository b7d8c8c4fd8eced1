// Writes to two tables until it is killed; each write has the same number for both.
import { openStore } from "../../../.build/platform/store.js";
import { createLmdbStore } from "../../../.build/platform/stores/lmdb-store.js";

const [, , folder] = process.argv;
const number = { encode: (value) => value, decode: (json) => json };
const store = createLmdbStore(openStore(folder), { error() {} });
const one = store.table("one", number, "begin empty");
const other = store.table("other", number, "begin empty");
for (let count = 1; ; count += 1) {
  await store.write([one.put("count", count), other.put("count", count)]);
  process.send(count);
}
