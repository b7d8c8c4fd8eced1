import type { Clock } from "../platform/clock.ts";

/** Whether every robot must have sent something by now; `cut_off`: the service is not reached. */
export type Reception = "complete" | "not_yet" | "cut_off";

/** The session to the service, as far as commands need it. */
export interface FleetLink {
  set(isUp: boolean): void;
  isUp(): boolean;
  reception(): Reception;
  /** Resolves at the first session, or after waiting for it long enough. */
  readonly canSee: Promise<void>;
  /** Begins to wait for it. */
  start(): void;
}

type State = { readonly state: "down" } | { readonly state: "up"; readonly sinceMs: number };

/**
 * How long a start waits for the service before it goes on without evidence for commands of an earlier run.
 */
const LONGEST_UNSEEN_MS = 60_000;
/**
 * How long after the session began every robot's first message may take: streams open one after the other.
 */
const COMPLETE_AFTER_MS = 10_000;

export function createFleetLink(clock: Clock): FleetLink {
  let link: State = { state: "down" };
  let see = () => {};
  const canSee = new Promise<void>((resolve) => {
    see = resolve;
  });
  return {
    set(isUp) {
      if (!isUp) link = { state: "down" };
      else if (link.state === "down") link = { state: "up", sinceMs: clock.monotonicMs() };
      if (isUp) see();
    },
    isUp: () => link.state === "up",
    reception() {
      if (link.state === "down") return "cut_off";
      return clock.monotonicMs() - link.sinceMs < COMPLETE_AFTER_MS ? "not_yet" : "complete";
    },
    canSee,
    start: () => void clock.after(LONGEST_UNSEEN_MS, see),
  };
}
