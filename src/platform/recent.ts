/** What was made last, a few of it, so that it need not be made again. */
export interface Recent<Value> {
  find(key: string): Value | undefined;
  keep(key: string, value: Value): void;
}

/** Keeps the newest `most`; the oldest goes first. */
export function createRecent<Value>(most: number): Recent<Value> {
  const kept = new Map<string, Value>();
  return {
    find: (key) => kept.get(key),
    keep(key, value) {
      kept.delete(key);
      kept.set(key, value);
      if (kept.size <= most) return;
      for (const oldest of kept.keys()) {
        kept.delete(oldest);
        break;
      }
    },
  };
}
