import type { ComponentChild } from "preact";
import { useRef } from "preact/hooks";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Fleet, KnownRobot } from "../fleet/fleet.ts";
import { currentGoalText } from "../fleet/goal-text.ts";
import { wordOf } from "../fleet/words.ts";
import { doubtOf, type FloorRobot, type FloorState } from "../floor/scene.ts";
import { robotAddress } from "../route.ts";
import type { Moment } from "../trust/moment.ts";
import { Link, Word } from "./parts.tsx";

const order = new Intl.Collator(undefined, { numeric: true });

interface ListProps {
  readonly fleet: Fleet;
  readonly floor: FloorState;
  readonly now: Moment;
  readonly search: string;
  readonly chosenId: string | null;
  readonly choose: (robotId: string) => void;
}

/** The robots in words, beside the floor: for the keyboard, for screen readers, and for small screens. */
export function RobotList(props: ListProps) {
  const { fleet, floor, search, chosenId } = props;
  const rows = useRef(new Map<string, Row>());
  const sorted = useRef<readonly string[]>([]);
  sorted.current = inOrder(sorted.current, fleet);
  const wanted = sorted.current.flatMap((robotId) =>
    isFound(robotId, search) ? (fleet.robots.get(robotId) ?? []) : [],
  );
  const onFloor = new Map(floor.robots.map((robot) => [robot.robotId, robot]));
  const next = new Map(
    wanted.map((known) => {
      const { robot_id: robotId } = known.robot;
      return [robotId, rowOf(known, onFloor.get(robotId), props, rows.current)];
    }),
  );
  rows.current = next;
  return (
    <>
      <p class="count">{countText(fleet, wanted.length)}</p>
      <ul class="robots" aria-label="Robots" data-chosen={chosenId ?? ""}>
        {[...next.values()].map(({ item }) => item)}
      </ul>
    </>
  );
}

/** Sorted anew only when there are other robots: it takes longer than all else of a change. */
function inOrder(before: readonly string[], { robots }: Fleet): readonly string[] {
  const isSame = before.length === robots.size && before.every((robotId) => robots.has(robotId));
  return isSame ? before : [...robots.keys()].sort(order.compare);
}

/** A row as it was made last. The same item again costs nothing. */
interface Row {
  readonly known: KnownRobot;
  readonly place: string;
  readonly isChosen: boolean;
  readonly item: ComponentChild;
}

function rowOf(
  known: KnownRobot,
  onFloor: FloorRobot | undefined,
  { floor, now, chosenId, choose }: ListProps,
  rows: ReadonlyMap<string, Row>,
): Row {
  const { robot } = known;
  const place = placeText(known, onFloor, floor, now);
  const isChosen = robot.robot_id === chosenId;
  const before = rows.get(robot.robot_id);
  if (before?.known.robot === robot && before.place === place && before.isChosen === isChosen) return before;
  const item = (
    <li key={robot.robot_id} class={isChosen ? "chosen" : ""}>
      <Link to={robotAddress(robot.robot_id)}>{robot.robot_id}</Link>
      <button type="button" aria-pressed={isChosen} onClick={() => choose(robot.robot_id)}>
        {isChosen ? "shown" : "show"}
        <span class="unseen"> {robot.robot_id} on the floor</span>
      </button>
      <Word {...wordOf(robot)} />
      <span>{currentGoalText(robot)}</span>
      <span>{place}</span>
      <span>{batteryOf(known)}</span>
    </li>
  );
  return { known, place, isChosen, item };
}

function isFound(robotId: string, search: string): boolean {
  return robotId.toLowerCase().includes(search.trim().toLowerCase());
}

function placeText(
  { robot: { place } }: KnownRobot,
  onFloor: FloorRobot | undefined,
  { isLive, pollMs }: FloorState,
  now: Moment,
): string {
  if (place === null || onFloor === undefined || pollMs === null) return "place not known";
  const doubt = doubtOf(onFloor, isLive, pollMs, now);
  const where = pointText(place);
  return doubt === null ? where : `${where} (${doubt})`;
}

function pointText({ point, x, y }: NonNullable<Robot["place"]>): string {
  if (point !== "") return `at ${point}`;
  return x === null || y === null ? "place not known" : `x ${x.toFixed(1)}, y ${y.toFixed(1)}`;
}

function batteryOf({ robot: { battery } }: KnownRobot): string {
  if (battery?.state == null) return "battery not known";
  const doubt = battery.quality === "good" ? "" : ` (${battery.quality})`;
  return `${battery.state.charge_percent} %${doubt}`;
}

function countText({ robots }: Fleet, found: number): string {
  const known = [...robots.values()];
  const unusual = known.filter(({ robot }) => wordOf(robot).emphasis !== "normal").length;
  const good = known.filter(({ robot }) => robot.quality === "good").length;
  const counted = robots.size === 1 ? "1 robot" : `${robots.size} robots`;
  const all = `${counted}, ${good} good${unusual === 0 ? "" : `, ${unusual} to look at`}`;
  return found === robots.size ? all : `${found} of ${all}`;
}
