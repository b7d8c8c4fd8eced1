import { beforeEach, expect, it } from "vitest";
import type {
  ClusterStore,
  StoreChanges,
  StoreComparison,
  StorePart,
  StorePut,
} from "../../src/cluster/protocol/cluster-store.ts";

/** A store without keys, and what a test does to it. */
export interface ContractStore {
  readonly store: ClusterStore;
  /** Another gateway writes in the same etcd. */
  writeBeside(): Promise<void>;
  /** Lets time pass until it is true. */
  until(isTrue: () => boolean): Promise<void>;
}

/** The store and what its watches have passed. */
export interface Seen {
  readonly changes: StoreChanges[];
  ends: number;
  cancel(): void;
}

export function observe(store: ClusterStore, from: number): Seen {
  const changes: StoreChanges[] = [];
  const seen: Seen = { changes, ends: 0, cancel: () => {} };
  seen.cancel = store.watch(
    from,
    (each) => void changes.push(each),
    () => {
      seen.ends += 1;
    },
  );
  return seen;
}

export const put = (key: string, value: string | null = "1"): StorePut => ({ key, value });
export const part = (puts: readonly StorePut[], when: readonly StoreComparison[] = []): StorePart => ({
  when,
  puts,
});

/** What the protocol expects of its store. The model and etcd behave in the same way. */
export function storeContract(open: () => Promise<ContractStore>): void {
  let opened: ContractStore;
  let store: ClusterStore;
  beforeEach(async () => {
    opened = await open();
    store = opened.store;
  });

  /** Commits parts that must be done, and returns the revision. */
  async function write(...parts: readonly StorePart[]): Promise<number> {
    const result = await store.commit({ guard: [], parts });
    if (result.kind !== "done") throw new Error(`the commit is ${result.kind}`);
    expect(result.parts).toEqual(parts.map(() => true));
    return result.revision;
  }

  async function holds(comparison: StoreComparison): Promise<boolean> {
    const asGuard = await store.commit({ guard: [comparison], parts: [] });
    const asPart = await store.commit({ guard: [], parts: [part([], [comparison])] });
    if (asGuard.kind !== "done" || asPart.kind !== "done") throw new Error("a commit is not done");
    expect(asPart.parts).toEqual([asGuard.parts !== null]);
    return asGuard.parts !== null;
  }

  async function all(prefix = "") {
    const read = await store.read(prefix);
    if (read === null) throw new Error("there is no answer");
    return read;
  }

  it("compares an absent key as one of revision 0", async () => {
    expect(await holds({ key: "absent", created: 0 })).toBe(true);
    expect(await holds({ key: "absent", created: 1 })).toBe(false);
    expect(await holds({ key: "absent", modified: 0 })).toBe(true);
    expect(await holds({ key: "absent", modified: 1 })).toBe(false);
    expect(await holds({ key: "absent", notAfter: 0 })).toBe(true);
    expect(await holds({ prefix: "absent/", notAfter: 0 })).toBe(true);
  });

  it("compares both revisions of a key", async () => {
    const first = await write(part([put("a")]));
    const second = await write(part([put("a", "y")]));
    expect((await all()).entries).toEqual([{ key: "a", value: "y", created: first, modified: second }]);
    expect(await holds({ key: "a", created: first })).toBe(true);
    expect(await holds({ key: "a", created: second })).toBe(false);
    expect(await holds({ key: "a", modified: second })).toBe(true);
    expect(await holds({ key: "a", modified: first })).toBe(false);
    expect(await holds({ key: "a", created: 0 })).toBe(false);
    expect(await holds({ key: "a", notAfter: first })).toBe(false);
    expect(await holds({ key: "a", notAfter: second })).toBe(true);
    expect(await holds({ key: "a", notAfter: second + 1 })).toBe(true);

    await write(part([put("a", null)]));
    expect(await holds({ key: "a", modified: 0 })).toBe(true);
    expect(await holds({ key: "a", notAfter: first })).toBe(true);
    const again = await write(part([put("a")]));
    expect((await all()).entries).toMatchObject([{ created: again, modified: again }]);
  });

  it("compares each key of a prefix, and none beside it", async () => {
    const first = await write(part([put("hold/a"), put("hold/b"), put("hold"), put("hold0")]));
    const second = await write(part([put("hold"), put("hold0")]));
    expect(await holds({ prefix: "hold/", notAfter: first })).toBe(true);
    expect(await holds({ prefix: "hold/", notAfter: first - 1 })).toBe(false);
    expect(await holds({ prefix: "hold", notAfter: first })).toBe(false);
    expect(await holds({ prefix: "", notAfter: second })).toBe(true);
    const third = await write(part([put("hold/b")]));
    expect(await holds({ prefix: "hold/", notAfter: second })).toBe(false);
    expect(await holds({ prefix: "hold/", notAfter: third })).toBe(true);
    await write(part([put("hold/b", null)]));
    expect(await holds({ prefix: "hold/", notAfter: first })).toBe(true);
  });

  it("looks at no part if the guard does not hold, and needs all of it", async () => {
    const revision = await write(part([put("a")]));
    const guard = [
      { key: "a", modified: revision },
      { key: "a", modified: 0 },
    ];
    expect(await store.commit({ guard, parts: [part([put("b")])] })).toEqual({
      kind: "done",
      revision,
      parts: null,
    });
    expect((await all()).entries.map(({ key }) => key)).toEqual(["a"]);
    expect((await all()).revision).toBe(revision);
  });

  it("makes all comparisons before anything is put, and puts all at one revision", async () => {
    const before = await write(part([put("a")]));
    const result = await store.commit({
      guard: [{ key: "a", modified: before }],
      parts: [
        part([put("a", "mine"), put("b")], [{ key: "a", modified: before }]),
        part([put("c")], [{ key: "a", modified: before }]),
        part([put("d")], [{ key: "b", notAfter: 0 }]),
        part([put("e")], [{ key: "a", modified: before + 1 }]),
        part([put("f"), put("g")], [{ key: "b", created: before + 1 }]),
        part([put("h")], [{ prefix: "", notAfter: before }]),
        part([]),
      ],
    });
    const revision = before + 1;
    expect(result).toEqual({
      kind: "done",
      revision,
      parts: [true, true, true, false, false, true, true],
    });
    expect((await all()).entries).toEqual([
      { key: "a", value: "mine", created: before, modified: revision },
      ...["b", "c", "d", "h"].map((key) => ({ key, value: "1", created: revision, modified: revision })),
    ]);
  });

  it("keeps its revision if nothing is changed", async () => {
    const revision = await write(part([put("a")]));
    const unchanged = { kind: "done", revision };
    expect(await store.commit({ guard: [], parts: [] })).toEqual({ ...unchanged, parts: [] });
    const unmet = part([put("b")], [{ key: "a", modified: 0 }]);
    expect(await store.commit({ guard: [], parts: [unmet] })).toEqual({ ...unchanged, parts: [false] });
    const removal = part([put("absent", null)]);
    expect(await store.commit({ guard: [], parts: [removal] })).toEqual({ ...unchanged, parts: [true] });
    expect((await all()).revision).toBe(revision);
    expect(await write(removal, part([put("b")]))).toBe(revision + 1);

    const seen = observe(store, revision);
    await opened.until(() => seen.changes.length === 2);
    expect(seen.changes.map(({ changes }) => changes.map(({ key }) => key))).toEqual([["a"], ["b"]]);
    seen.cancel();
  });

  it("reads the keys of a prefix in their order, with any text", async () => {
    const texts = ["", "line\nbreak", "Fräse 3 → Halle", "\u{1F916}"];
    const revision = await write(part(texts.map((text, index) => put(`t/${3 - index}ü`, text))));
    await write(part([put("t"), put("t0"), put("u/1")]));
    const read = await all("t/");
    expect(read.entries.map(({ key }) => key)).toEqual(["t/0ü", "t/1ü", "t/2ü", "t/3ü"]);
    expect(read.entries.map(({ value }) => value)).toEqual([...texts].reverse());
    expect(read.revision).toBe(revision + 1);
    expect((await all("nothing/")).entries).toEqual([]);
    expect((await all()).clusterId).toBe(read.clusterId);
  });

  it("counts the revisions of others, and passes none of them", async () => {
    const first = await write(part([put("a")]));
    const seen = observe(store, first);
    await opened.writeBeside();
    expect((await all()).revision).toBe(first + 1);
    expect(await store.commit({ guard: [], parts: [] })).toMatchObject({ revision: first + 1 });
    expect(await write(part([put("a")]))).toBe(first + 2);
    await opened.until(() => seen.changes.length === 2);
    expect(seen.changes.map(({ revision }) => revision)).toEqual([first, first + 2]);
    seen.cancel();
  });

  it("passes each revision once and whole, from the one that is asked for", async () => {
    const first = await write(part([put("b"), put("a")]), part([put("c")]));
    const second = await write(part([put("a", null), put("b", "y")]));
    const early = observe(store, first);
    const later = observe(store, second);
    const future = observe(store, second + 2);
    await opened.until(() => later.changes.length === 1);
    const third = await write(part([put("d")]));
    const fourth = await write(part([put("a")]));
    const entry = (key: string, created: number, modified = created, value = "1") => ({
      key,
      entry: { key, value, created, modified },
    });
    const expected = [
      { revision: first, changes: [entry("b", first), entry("a", first), entry("c", first)] },
      { revision: second, changes: [{ key: "a", entry: null }, entry("b", first, second, "y")] },
      { revision: third, changes: [entry("d", third)] },
      { revision: fourth, changes: [entry("a", fourth)] },
    ];
    await opened.until(() => [early, later, future].every(({ changes }) => changes.length > 0));
    await opened.until(() => early.changes.length === 4 && later.changes.length === 3);
    expect(early.changes).toEqual(expected);
    expect(later.changes).toEqual(expected.slice(1));
    expect(future.changes).toEqual(expected.slice(3));

    later.cancel();
    future.cancel();
    await write(part([put("e")]));
    await opened.until(() => early.changes.length === 5);
    expect([later.changes.length, future.changes.length]).toEqual([3, 1]);
    early.cancel();
    expect([early, later, future].map(({ ends }) => ends)).toEqual([0, 0, 0]);
  });

  it("ends the keys of a lease with it, all at one revision; one that is put again may stay", async () => {
    // Longer than a busy machine needs until it is kept alive.
    const [one, other] = [await store.grant(3_000), await store.grant(3_600_000)];
    if (one === null || other === null) throw new Error("no lease was granted");
    const first = await write(
      part(["d", "b", "c", "a", "e"].map((key) => ({ key, value: "x", lease: one }))),
    );
    const last = await write(part([put("c"), { key: "a", value: "x", lease: other }, put("e", null)]));
    const seen = observe(store, last + 1);
    expect(await store.keepAlive(one)).toBe("alive");
    await opened.until(() => seen.changes.length > 0);
    const ended = ["b", "d"].map((key) => ({ key, entry: null }));
    expect(seen.changes).toEqual([{ revision: last + 1, changes: ended }]);
    const { entries, revision } = await all();
    expect(revision).toBe(last + 1);
    expect(entries.map(({ key, created }) => [key, created])).toEqual([
      ["a", first],
      ["c", first],
    ]);
    expect(await store.keepAlive(one)).toBe("gone");
    expect(await store.keepAlive(other)).toBe("alive");
    seen.cancel();

    // A put with a lease that is gone fails the whole, but only if it would be put.
    const leased = { key: "f", value: "x", lease: one };
    const parts = [part([put("g")]), part([leased])];
    expect(await store.commit({ guard: [], parts })).toEqual({ kind: "failed" });
    expect(await all()).toMatchObject({ revision, entries: [{ key: "a" }, { key: "c" }] });
    expect(await store.commit({ guard: [{ key: "g", created: 1 }], parts })).toEqual({
      kind: "done",
      revision,
      parts: null,
    });
    const unmet = [part([put("g")]), part([leased], [{ key: "a", modified: 0 }])];
    expect(await store.commit({ guard: [], parts: unmet })).toEqual({
      kind: "done",
      revision: revision + 1,
      parts: [true, false],
    });
  });
}
