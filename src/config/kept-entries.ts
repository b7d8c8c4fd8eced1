/** Something that is updated when another configuration replaces the present one. */
export interface Kept {
  /** Called when another configuration is in place. */
  follow(): void;
}

interface KeptEntry<T> {
  latest: T;
  readonly view: T;
}

/**
 * A list that stays the same object when a reload replaces the configuration. An entry that still exists
 * stays the same object too.
 *
 * @param list the entries of the present configuration
 * @param view makes the object in the list for an entry; `found` returns the entry's present value, or its
 * last one
 */
export function createKeptEntries<T>(
  list: () => readonly T[],
  nameOf: (entry: T) => string,
  view: (first: T, found: () => T) => T,
): Kept & { readonly entries: readonly T[] } {
  const entries: T[] = [];
  let views = new Map<string, KeptEntry<T>>();

  function follow(): void {
    const next: typeof views = new Map();
    for (const entry of list()) {
      const known = views.get(nameOf(entry));
      if (known !== undefined) known.latest = entry;
      next.set(nameOf(entry), known ?? made(entry));
    }
    views = next;
    entries.splice(0, entries.length, ...Array.from(views.values(), ({ view: shown }) => shown));
  }

  function made(first: T): KeptEntry<T> {
    const kept: KeptEntry<T> = { latest: first, view: view(first, () => kept.latest) };
    return kept;
  }

  follow();
  return { entries, follow };
}

/** A map that stays the same object when a reload replaces the configuration. */
export function createKeptMap<K, V>(
  source: () => ReadonlyMap<K, V>,
): Kept & { readonly map: ReadonlyMap<K, V> } {
  const map = new Map(source());
  return {
    map,
    follow() {
      map.clear();
      for (const [key, value] of source()) map.set(key, value);
    },
  };
}
