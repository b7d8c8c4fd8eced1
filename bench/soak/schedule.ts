/** What goes wrong in a plant, and what is routine there. */
export const incidents = [
  "broker restart",
  "link outage",
  "streams ended",
  "tokens expired",
  "PLC crash",
  "certificate renewal",
] as const;
export type Incident = (typeof incidents)[number];

/** How often in a day. */
const oftenADay: Readonly<Record<Incident, number>> = {
  "broker restart": 4,
  "link outage": 4,
  "streams ended": 4,
  "tokens expired": 2,
  "PLC crash": 4,
  "certificate renewal": 1,
};

/** An incident and when it begins, as a part of its period. */
export interface Appointment {
  readonly incident: Incident;
  readonly at: number;
}

/** The incidents of a period of so many days, in order: at least one of each kind. */
export function scheduleOf(days: number, random: () => number): readonly Appointment[] {
  const drawn = incidents.flatMap((incident) => {
    const times = Math.max(1, Math.round(oftenADay[incident] * days));
    return Array.from({ length: times }, () => ({ incident, order: random() }));
  });
  drawn.sort((one, other) => one.order - other.order);
  // Evenly, each somewhere in its part: none falls into the one before.
  return drawn.map(({ incident }, index) => ({ incident, at: (index + random() / 2) / drawn.length }));
}
