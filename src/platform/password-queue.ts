import { createFairQueues } from "./fair-queues.ts";

/** A password that is to be compared. */
export interface ComparedPassword {
  readonly address: string;
  /**
   * A user of the configuration; null: no such user. All unknown names count as one user, because they are
   * free to invent.
   */
  readonly user: string | null;
  /** Whether the client is still connected. */
  isThere(): boolean;
}

/** Compares passwords one after the other, in a fair order. */
export interface PasswordQueue {
  /** Runs `compare` in its turn. `busy`: it was not run, because too many waited or the client has left. */
  take<Result>(password: ComparedPassword, compare: () => Promise<Result>): Promise<Result | "busy">;
}

/** A comparison takes a core some 50 ms, so the last one in the queue waits two seconds. */
const MOST_WAITING = 40;

interface Waiting {
  isThere(): boolean;
  /** Runs the comparison in its turn; the turn ends when this resolves. */
  run(): Promise<void>;
  giveUp(): void;
}

/**
 * Users at addresses take turns. If too many wait, the oldest entry of the user and address with the most is
 * dropped. So a flood from some addresses delays another address by one turn for each of their users.
 */
export function createPasswordQueue(): PasswordQueue {
  const waiting = createFairQueues<Waiting>(MOST_WAITING);
  let isRunning = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    for (let next = waiting.next(); next !== null; next = waiting.next()) {
      if (next.isThere()) await next.run();
      else next.giveUp();
    }
    isRunning = false;
  }

  return {
    take: ({ address, user, isThere }, compare) =>
      new Promise((resolve, reject) => {
        const evicted = waiting.push(JSON.stringify([address, user]), {
          isThere,
          run: () => Promise.resolve().then(compare).then(resolve, reject),
          giveUp: () => resolve("busy"),
        });
        evicted?.item.giveUp();
        if (!isRunning) void runAll();
      }),
  };
}
