import { type Source, sourceKey } from "../../domain/command.ts";

/** The requests of a listener that wait for an outcome: each takes a connection, or a stream of one. */
export interface Waits {
  /**
   * One more request waits, until the returned function is called. Null: too many wait. `isStop` is called
   * only if the usual places are taken.
   */
  begin(source: Source, isStop: () => boolean): (() => void) | null;
  readonly count: number;
}

const MOST = 96;
/** Less than the streams of one HTTP/2 connection. */
const MOST_OF_USER = 32;
/** Further places, of all users and of each. */
const KEPT_FOR_STOPS = 16;

export function createWaits(): Waits {
  const byUser = new Map<string, number>();
  let count = 0;
  return {
    begin(source, isStop) {
      const user = sourceKey(source);
      const ofUser = byUser.get(user) ?? 0;
      const hasRoom = (more: number) => count < MOST + more && ofUser < MOST_OF_USER + more;
      if (!hasRoom(0) && !(hasRoom(KEPT_FOR_STOPS) && isStop())) return null;
      count += 1;
      byUser.set(user, ofUser + 1);
      return () => {
        count -= 1;
        const left = (byUser.get(user) ?? 1) - 1;
        if (left > 0) byUser.set(user, left);
        else byUser.delete(user);
      };
    },
    get count() {
      return count;
    },
  };
}
