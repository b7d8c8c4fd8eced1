import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Service } from "./service.ts";

/** Requests of the interface in proto3 JSON, for tests that are about something else than their shape. */

const goals = (destinations: readonly string[]): JsonValue =>
  destinations.map((destinationId) => ({ destinationId }));

/** A base mission to one destination. */
export function navigate(robotId: string, destinationId: string): JsonObject {
  return { robotId, mission: { baseMission: { navigateMission: { goal: { destinationId } } } } };
}

/** A base mission to the first free one of several destinations. */
export function navigateAuto(robotId: string, destinations: readonly string[]): JsonObject {
  return { robotId, mission: { baseMission: { navigateAutoMission: { goals: goals(destinations) } } } };
}

export type CartKind = "traverseMission" | "traversePatrolMission" | "navigateAutoMission";

/** A cart mission over several destinations. */
export function cartMission(robotId: string, kind: CartKind, destinations: readonly string[]): JsonObject {
  return { robotId, mission: { cartMission: { [kind]: { goals: goals(destinations) } } } };
}

/** A cart mission to one destination. */
export function cartNavigate(robotId: string, destinationId: string): JsonObject {
  return { robotId, mission: { cartMission: { navigateMission: { goal: { destinationId } } } } };
}

export type ServeKind =
  | "deliveryMission"
  | "bussingMission"
  | "deliveryPatrolMission"
  | "bussingPatrolMission"
  | "navigateAutoMission";

/** A serve mission over several destinations. */
export function serveMission(robotId: string, kind: ServeKind, destinations: readonly string[]): JsonObject {
  return { robotId, mission: { serveMission: { [kind]: { goals: goals(destinations) } } } };
}

/** A cart workflow over several destinations. */
export function cartWorkflow(
  robotId: string,
  kind: "traverse" | "traversePatrol",
  destinations: readonly string[],
): JsonObject {
  return { robotId, missionWorkflow: { cartWorkflow: { [kind]: { goals: goals(destinations) } } } };
}

/** A serve workflow over several destinations. */
export function serveWorkflow(robotId: string, kind: string, destinations: readonly string[]): JsonObject {
  return { robotId, missionWorkflow: { serveWorkflow: { [kind]: { goals: goals(destinations) } } } };
}

/** A command on a mission. */
export function command(robotId: string, missionId: JsonValue | undefined, name: string): JsonObject {
  return { robotId, missionCommand: { missionId: missionId ?? "", command: `COMMAND_${name}` } };
}

/** Tasks of one map. */
export function tasks(mapId: number, ...each: ReadonlyArray<readonly [string, string]>): JsonValue {
  return each.map(([type, endPointCode]) => ({ taskType: `TASK_TYPE_${type}`, mapId, endPointCode }));
}

/** Starts a base mission of a robot. @returns its id. */
export async function started(service: Service, robotId: string, destination: string): Promise<string> {
  const { missionId } = await service.done("CreateMission", navigate(robotId, destination));
  return String(missionId);
}
