import type { RobotId } from "../domain/robot.ts";
import type { Stop } from "../domain/stops.ts";

/** A stop as a request of the catalogue, in proto3 JSON. */
export interface StopRequest {
  readonly operation: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** Makes the request of a stop, for code that names no operation. */
export type MakeStopRequest = (robotId: RobotId, stop: Stop) => StopRequest;
