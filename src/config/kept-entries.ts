/** Something that follows a configuration which can be replaced. */
export interface Kept {
  /** Another configuration is in place. */
  follow(): void;
}

interface KeptEntry<T> {
  latest: T;
  readonly view: T;
}

/**
 * A list that stays the same object when a reload replaces the configuration. An entry that is still there
 * stays the same object too.
 *
 * @param list the entries of the configuration that is in place
 * @param view what stands in the list for an entry; `found` is that entry as it is now, or was at last
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
