import type { Job } from "../job.ts";

/**
 * Keeps stops and starts of one robot in order while their calls wait for a connection: a start that came
 * before a stop must not leave after it, and a stop must not leave again after a later start that it would
 * undo.
 */
export interface StopOrder {
  /** A command comes to its queue. */
  arrive(job: Job): void;
  /** Returns whether the call that is made now may still leave: to be asked when it does. */
  guard(job: Job): () => boolean;
  /**
   * The call of a start leaves: earlier stops of the same conveyor, mission or robot are not sent any more.
   */
  leave(start: Job): void;
  /** The call of a start had no effect: what it had kept from being sent may be sent again. */
  withdraw(start: Job): void;
  /** Nothing is left in the queue. */
  forget(queue: string): void;
}

/** @param besides the commands that run beside the one in flight of this queue */
export function createStopOrder(besides: (queue: string) => readonly Job[]): StopOrder {
  /** Stops that came to each queue that is in use. */
  const stops = new Map<string, number>();
  let arrivals = 0;

  const stopsOf = ({ queue }: Job) => besides(queue).filter(({ request }) => request.effect === "stops");

  return {
    arrive(job) {
      arrivals += 1;
      job.arrival = arrivals;
      if (job.request.effect === "stops") stops.set(job.queue, (stops.get(job.queue) ?? 0) + 1);
    },
    guard(job) {
      const { effect } = job.request;
      if (effect === "stops") return () => job.overtakenBy === null;
      const before = stops.get(job.queue);
      const isStopped = () => effect === "moves" && stops.get(job.queue) !== before;
      return () => job.heldBack === null && !isStopped();
    },
    leave(start) {
      if (start.request.effect !== "moves") return;
      for (const stop of stopsOf(start)) {
        const isUndone =
          stop.arrival < start.arrival &&
          stop.request.switches.some((name) => start.request.switches.includes(name));
        if (isUndone) stop.overtakenBy ??= start.id;
      }
    },
    withdraw(start) {
      for (const stop of stopsOf(start)) if (stop.overtakenBy === start.id) stop.overtakenBy = null;
    },
    forget: (queue) => void stops.delete(queue),
  };
}
