/**
 * The last payload of each state topic, oldest first, so that it can be published again before it expires.
 */
export interface Refresh {
  /** A topic was published now; an empty payload removes it. */
  note(topic: string, payload: string, nowMs: number): void;
  /** Calls `again` for topics that were last published `ageMs` ago or longer, at most `limit` in one go. */
  due(nowMs: number, ageMs: number, limit: number, again: (topic: string, payload: string) => void): void;
}

/** In memory: the last payload of each topic of the fleet. */
export function createRefresh(): Refresh {
  const said = new Map<string, { readonly payload: string; readonly atMs: number }>();
  const note = (topic: string, payload: string, nowMs: number) => {
    // Deleted first: a Map keeps the order of insertion, so its first entry stays the oldest.
    said.delete(topic);
    if (payload !== "") said.set(topic, { payload, atMs: nowMs });
  };
  return {
    note,
    due(nowMs, ageMs, limit, again) {
      let count = 0;
      for (const [topic, { payload, atMs }] of said) {
        if (nowMs - atMs < ageMs || count === limit) return;
        count += 1;
        again(topic, payload);
      }
    },
  };
}
