/** Local time of day, with seconds. */
export function timeOfDay(wallMs: number): string {
  const at = new Date(wallMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => `${part}`.padStart(2, "0"))
    .join(":");
}

/** Local date and time. */
export function dateAndTime(wallMs: number): string {
  const at = new Date(wallMs);
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => `${part}`.padStart(2, "0"));
  return `${day.join("-")} ${timeOfDay(wallMs)}`;
}

/** An age for people: the larger it is, the coarser. */
export function ageText(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
