import type { FleetView } from "../../contracts/fleet-view.ts";
import type { Battery } from "../../domain/battery.ts";
import type { StateChange } from "../../domain/change.ts";
import { codeText } from "../../domain/coded.ts";
import { currentGoal, currentMission, type MissionQueue } from "../../domain/mission.ts";
import type { Observed } from "../../domain/observed.ts";
import type { Quality } from "../../domain/quality.ts";
import type { Family, RobotId } from "../../domain/robot.ts";

/** A value as the page shows it. */
export interface Cell {
  readonly text: string;
  readonly quality: Quality;
  readonly receivedAtMs: number;
}

/** A line of the page; null is a value that is not shown. */
export interface RobotRow {
  readonly robotId: RobotId;
  readonly family: Family;
  readonly quality: Quality;
  readonly mission: Cell | null;
  readonly battery: Cell | null;
}

/** Every robot with its values, sorted by id. */
export function robotRows(view: FleetView): readonly RobotRow[] {
  const missions = new Map<RobotId, Observed<MissionQueue>>();
  const batteries = new Map<RobotId, Observed<Battery>>();
  for (const change of view.snapshot()) keep(change, missions, batteries);
  return view
    .robots()
    .map(({ robotId, family, quality }) => ({
      robotId,
      family,
      quality,
      mission: cell(missions.get(robotId), missionText),
      battery: cell(batteries.get(robotId), batteryText),
    }))
    .sort((a, b) => (a.robotId < b.robotId ? -1 : 1));
}

function keep(
  change: StateChange,
  missions: Map<RobotId, Observed<MissionQueue>>,
  batteries: Map<RobotId, Observed<Battery>>,
): void {
  if (change.kind === "mission") missions.set(change.robotId, change.observed);
  if (change.kind === "battery") batteries.set(change.robotId, change.observed);
}

/** A lost value is not shown (design, Truth over time). */
function cell<T>(observed: Observed<T> | undefined, text: (value: T) => string): Cell | null {
  if (observed === undefined || observed.quality === "lost" || observed.quality === "unknown") return null;
  return {
    text: text(observed.value),
    quality: observed.quality,
    receivedAtMs: observed.stamp.receivedAtMs,
  };
}

function missionText(queue: MissionQueue): string {
  const mission = currentMission(queue);
  if (mission === undefined) return "none";
  const state = plain(codeText(mission.state), "STATE_");
  const goal = currentGoal(mission);
  return goal?.kind === "destination" ? `${state} → ${goal.destinationId}` : state;
}

function batteryText(battery: Battery): string {
  return `${battery.chargePercent} % ${plain(codeText(battery.state), "STATE_")}`;
}

/** An enum's name in words, or the number of an enum value that this version does not know. */
function plain(code: string | number, prefix: string): string {
  return typeof code === "number"
    ? `state ${code}`
    : code.slice(prefix.length).toLowerCase().replaceAll("_", " ");
}
