/**
 * The last payload of each state topic, oldest first, so that it can be published again before it expires.
 */
export interface Refresh {
  /** A topic was published now; an empty payload removes it. */
  note(topic: string, payload: string, nowMs: number): void;
  /** The broker has not taken it: it is due now, unless something newer was published since. */
  notTaken(topic: string, payload: string): void;
  /**
   * Calls `again` for what was not taken, then for what was last said `ageMs` ago or longer, and at most
   * `limit` topics in one go.
   */
  due(nowMs: number, ageMs: number, limit: number, again: (topic: string, payload: string) => void): void;
}

/** In memory: the last payload of each topic of the fleet. */
export function createRefresh(): Refresh {
  const said = new Map<string, { readonly payload: string; readonly atMs: number }>();
  const notTaken = new Set<string>();
  const payloadOf = (topic: string) => said.get(topic)?.payload ?? "";
  const note = (topic: string, payload: string, nowMs: number) => {
    // Deleted first: a Map keeps the order of insertion, so its first entry stays the oldest.
    said.delete(topic);
    notTaken.delete(topic);
    if (payload !== "") said.set(topic, { payload, atMs: nowMs });
  };
  return {
    note,
    notTaken(topic, payload) {
      if (payloadOf(topic) === payload) notTaken.add(topic);
    },
    due(nowMs, ageMs, limit, again) {
      let count = 0;
      for (const topic of notTaken) {
        if (count === limit) return;
        count += 1;
        notTaken.delete(topic);
        again(topic, payloadOf(topic));
      }
      for (const [topic, { payload, atMs }] of said) {
        if (nowMs - atMs < ageMs || count === limit) return;
        count += 1;
        again(topic, payload);
      }
    },
  };
}
