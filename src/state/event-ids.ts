/** Names an event: unique over all sessions of this gateway. */
export type NextEventId = () => string;

/** @param sessionId names this run of the gateway: event ids are counted within it */
export function createEventIds(sessionId: string): NextEventId {
  let count = 0;
  return () => {
    count += 1;
    return `${sessionId}-${count}`;
  };
}
