import type { RandomSource } from "../../platform/backoff.ts";
import type { Rules } from "../scenario/schema.ts";
import type { Agenda } from "./agenda.ts";
import type { Chain } from "./chain.ts";
import type { WorldRecord } from "./record.ts";
import type { Robot } from "./robot.ts";

/**
 * A change that was just made: listeners read the new state from the robot or the chain, at once. A robot's
 * `missionStamp` and `batteryStamp` have its time.
 */
export type WorldChange =
  | { readonly kind: "mission" | "battery" | "conveyors" | "presence"; readonly robot: Robot }
  | { readonly kind: "chain"; readonly chain: Chain };

/** What the rules share: time, the random source, the robots, and the listener of changes. */
export interface WorldContext {
  readonly agenda: Agenda;
  readonly random: RandomSource;
  readonly rules: Rules;
  readonly robots: ReadonlyMap<string, Robot>;
  readonly record: WorldRecord;
  /** Stamps the change and reports it. */
  changed(change: WorldChange): void;
}
