/**
 * One robot of GetOnlineRobots. `info` is the OnlineAMRInfo as it is published:
 * snake_case, every scalar present, unset messages null.
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
