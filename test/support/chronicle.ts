/** What happened, in order, and a way to wait for what has not happened yet. */
export interface Chronicle<T> {
  readonly entries: readonly T[];
  add(entry: T): void;
  /**
   * The first entry from place `from` on, written already or still to come, for which `is` holds. Rejects
   * after a time that a loaded machine does not need, and tells the newest entries.
   */
  first(what: string, is: (entry: T) => boolean, from?: number): Promise<T>;
}

const PATIENCE_MS = 30_000;
const SHOWN = 8;
const SHOWN_CHARACTERS = 300;

/** An empty chronicle; `describe` makes a line of an entry, for the report of a failure. */
export function createChronicle<T>(describe: (entry: T) => string, waitMs = PATIENCE_MS): Chronicle<T> {
  const entries: T[] = [];
  const watchers = new Set<() => void>();

  function newest(): string {
    return entries
      .slice(-SHOWN)
      .map((entry) => `  ${describe(entry).slice(0, SHOWN_CHARACTERS)}`)
      .join("\n");
  }

  return {
    entries,
    add(entry) {
      entries.push(entry);
      for (const look of [...watchers]) look();
    },
    first(what, is, from = 0) {
      return new Promise((resolve, reject) => {
        let next = from;
        const look = () => {
          for (; next < entries.length; next += 1) {
            const entry = entries[next] as T;
            if (!is(entry)) continue;
            settle();
            resolve(entry);
            return;
          }
        };
        const giveUp = setTimeout(() => {
          settle();
          reject(new Error(`in ${waitMs} ms not: ${what}. The newest entries:\n${newest()}`));
        }, waitMs);
        const settle = () => {
          watchers.delete(look);
          clearTimeout(giveUp);
        };
        watchers.add(look);
        look();
      });
    },
  };
}
