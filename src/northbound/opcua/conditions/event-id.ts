import type { Alarm } from "../../../domain/alarm.ts";

/** One state of an alarm: its n-th revision, of its n-th occurrence. */
export interface AlarmRevision {
  readonly id: string;
  readonly occurrence: number;
  readonly revision: number;
}

/** The EventId of a condition: the states of its alarms, which are kept over a restart. */
export function eventIdOf(alarms: readonly Alarm[]): string {
  // Sorted: after a restart, the alarms of a battery come in another order.
  const states = alarms.map(({ id, occurrences, revision }) => `${id}.${occurrences}.${revision}`);
  return states.sort().join("+");
}

const LONGEST_ID = 256;
const part = /^([A-Z][\w-]{0,100})\.(\d{1,15})\.(\d{1,15})$/;

/** The states that an EventId of a client names; empty: it is none of ours. */
export function readEventId(eventId: Buffer): readonly AlarmRevision[] {
  if (eventId.length > LONGEST_ID) return [];
  const found = eventId
    .toString("latin1")
    .split("+")
    .map((text) => part.exec(text));
  return found.flatMap((match) =>
    match === null ? [] : [{ id: match[1] ?? "", occurrence: Number(match[2]), revision: Number(match[3]) }],
  );
}
