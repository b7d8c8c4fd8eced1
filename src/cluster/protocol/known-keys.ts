import type { StorePut } from "./cluster-store.ts";
import type { Mirror } from "./mirror.ts";

/** A key, as this process knows it. `value` null: there is none. */
export interface KnownKey {
  readonly value: string | null;
  /** 0: it is not there. */
  readonly modified: number;
}

/** What the mirror has, and what this process has written since. */
export interface KnownKeys {
  get(key: string): KnownKey;
  /** The keys with this prefix, in order. */
  range(prefix: string): readonly string[];
  /** Whether this process has written the key after this revision, as far as it knows. */
  isWrittenAfter(key: string, revision: number): boolean;
  /** The store has taken these puts at this revision. */
  note(puts: readonly StorePut[], revision: number): void;
}

export function createKnownKeys(mirror: Mirror): KnownKeys {
  /** With the revision of the write. */
  const written = new Map<string, KnownKey & { readonly revision: number }>();

  mirror.subscribe((key, _entry, revision) => {
    const own = written.get(key);
    if (own !== undefined && own.revision <= revision) written.delete(key);
  });

  return {
    get(key) {
      const own = written.get(key);
      if (own !== undefined && own.revision > mirror.revision()) return own;
      return mirror.get(key) ?? { value: null, modified: 0 };
    },
    range(prefix) {
      const own = [...written.keys()].filter((key) => key.startsWith(prefix));
      return [...new Set([...mirror.range(prefix).map(({ key }) => key), ...own])].sort();
    },
    isWrittenAfter: (key, revision) => (written.get(key)?.revision ?? 0) > revision,
    note(puts, revision) {
      // The watch may be faster than the answer to the write: nothing would forget these keys later.
      if (revision <= mirror.revision()) return;
      for (const { key, value } of puts) {
        written.set(key, { value, modified: value === null ? 0 : revision, revision });
      }
    },
  };
}
