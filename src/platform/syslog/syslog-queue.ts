/** Lines that wait for a target that is away, bounded. */
export interface SyslogQueue {
  /** False when there is no room, and the line is lost. */
  push(line: string): boolean;
  length(): number;
  lost(): number;
  /** The oldest, as many as are sent at once. */
  first(): readonly string[];
  /** Takes away what `first` gave. */
  remove(lines: readonly string[]): void;
}

const MOST_WAITING = 2_000;
const MOST_WAITING_BYTES = 4_000_000;
const BATCH = 50;

/** Keeps the oldest lines: those that come when it is full are lost. */
export function createSyslogQueue(): SyslogQueue {
  const waiting: string[] = [];
  let bytes = 0;
  let lost = 0;
  return {
    push(line) {
      if (waiting.length >= MOST_WAITING || bytes + line.length > MOST_WAITING_BYTES) {
        lost += 1;
        return false;
      }
      waiting.push(line);
      bytes += line.length;
      return true;
    },
    length: () => waiting.length,
    lost: () => lost,
    first: () => waiting.slice(0, BATCH),
    remove(lines) {
      waiting.splice(0, lines.length);
      for (const line of lines) bytes -= line.length;
    },
  };
}
