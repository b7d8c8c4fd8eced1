import { missionTopic, type Side, type Specimens } from "./protocol.ts";

/**
 * What is wrong with the states that the sides published for one robot; nothing when they are equal but for
 * their time. Compared is the last sequence number that all sides have: a side that was passed over on a
 * machine that stalled has sent fewer.
 */
export function contentFaults(specimens: ReadonlyMap<Side, Specimens>): string[] {
  const [first, ...others] = [...specimens.values()];
  const shared = Object.keys(first ?? {})
    .map(Number)
    .filter((sequence) => others.every((other) => other[sequence] !== undefined));
  if (shared.length === 0) return [`no message of ${missionTopic("gateway", "…")} was seen on all sides`];
  const last = Math.max(...shared);
  const states = [...specimens].map(([side, seen]) => ({ side, state: stateOf(seen[last] ?? "") }));
  if (states.every(({ state }) => state === states[0]?.state)) return [];
  const lines = states.map(({ side, state }) => `  ${side}: ${state}`);
  return [`the sides publish different states on ${missionTopic("gateway", "…")}:\n${lines.join("\n")}`];
}

function stateOf(payload: string): string {
  const { state } = JSON.parse(payload) as { readonly state: { readonly metadata: { timestamp?: string } } };
  delete state.metadata.timestamp;
  return JSON.stringify(state);
}
