/** The service's `robot_id`: any text. */
export type RobotId = string;

/** What the gateway knows of a robot's kind. Only carts have conveyors. */
export type Family = "cart" | "serve" | "base" | "unknown";

/**
 * One robot of GetOnlineRobots. `info` is the OnlineAMRInfo in the form that is published: snake_case, every
 * scalar present, unset messages null.
 */
export interface Presence {
  /** The robot's number, by which task chains name it. */
  readonly amrId: number;
  readonly mapId: number;
  /** The code of the point that the robot is at. */
  readonly position: string;
  readonly stateId: string;
  readonly taskChainId: number;
  readonly info: Readonly<Record<string, unknown>>;
}

/**
 * Where the robot is on its map; null if the record has no coordinate.
 */
export function coordinateOf({ info }: Presence, name: "x" | "y" | "theta"): number | null {
  const { coordinate } = info;
  if (typeof coordinate !== "object" || coordinate === null) return null;
  const value: unknown = Reflect.get(coordinate, name);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
