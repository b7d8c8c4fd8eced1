import { describe, expect, it } from "vitest";
import type { CommitResult, StorePart, StoreTransaction } from "../../src/cluster/protocol/cluster-store.ts";
import { createEpochWriter } from "../../src/cluster/protocol/epoch-writer.ts";

/** A store that answers when the test says so. */
function createHeldStore() {
  const asked: Array<{ readonly keys: readonly string[]; answer(parts: readonly boolean[]): void }> = [];
  return {
    /** The keys of each transaction that has been asked for, in order. */
    keys: () => asked.map(({ keys }) => keys),
    async answer(index: number, parts: readonly boolean[] = [true]): Promise<void> {
      asked[index]?.answer(parts);
      await new Promise(setImmediate);
    },
    commit({ parts }: StoreTransaction): Promise<CommitResult> {
      return new Promise((resolve) => {
        asked.push({
          keys: parts.flatMap(({ puts }) => puts.map(({ key }) => key)),
          answer: (done) => resolve({ kind: "done", revision: asked.length, parts: done }),
        });
      });
    },
  };
}

function open() {
  const store = createHeldStore();
  const unused = () => Promise.reject(new Error("not in this test"));
  const writer = createEpochWriter({
    store: {
      ...{ commit: store.commit, read: unused, grant: unused, keepAlive: unused },
      watch: () => () => {},
    },
    clock: { monotonicMs: () => 0 },
    epoch: { clusterId: "1", revision: 1 },
    lost: () => {},
  });
  return { store, writer };
}

const put = (key: string, when: StorePart["when"] = []): StorePart => ({ when, puts: [{ key, value: "1" }] });

describe("writes of an epoch", () => {
  it("are under way together if they have no key in common, and the rest share a transaction", async () => {
    const { store, writer } = open();
    for (const key of ["a", "b", "c", "d", "e", "f"]) void writer.write(put(key));
    expect(store.keys()).toEqual([["a"], ["b"], ["c"], ["d"]]);
    await store.answer(2);
    expect(store.keys().slice(4)).toEqual([["e", "f"]]);
  });

  it("of one key follow each other, and others pass them", async () => {
    const { store, writer } = open();
    void writer.write(put("a"));
    const second = writer.write(put("a"));
    void writer.write(put("b"));
    expect(store.keys()).toEqual([["a"], ["b"]]);
    await store.answer(0);
    expect(store.keys()).toEqual([["a"], ["b"], ["a"]]);
    await store.answer(2, [false]);
    expect((await second).kind).toBe("refused");
  });

  it.each([
    ["a key", { key: "hold/1", notAfter: 0 }],
    ["a prefix", { prefix: "hold/", notAfter: 0 }],
  ])("that compare %s follow what puts it, and go before what puts it later", async (_what, compared) => {
    const { store, writer } = open();
    void writer.write(put("hold/1"));
    void writer.write(put("start", [compared]));
    void writer.write(put("hold/1"));
    expect(store.keys()).toEqual([["hold/1"]]);
    await store.answer(0);
    expect(store.keys()).toEqual([["hold/1"], ["start"]]);
    await store.answer(1);
    expect(store.keys()).toEqual([["hold/1"], ["start"], ["hold/1"]]);
  });
});
