import { Component, createRef } from "preact";
import { useRef } from "preact/hooks";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { type Fleet, type KnownRobot, silenceOf } from "../fleet/fleet.ts";
import { currentGoalText, wordOf } from "../fleet/words.ts";
import { doubtOf, type FloorRobot, type FloorState } from "../floor/scene.ts";
import { robotAddress } from "../route.ts";
import type { Moment } from "../trust/time-text.ts";
import { Link, Word } from "./parts.tsx";

/** Of a block of rows: with larger blocks, more than a screenful would be laid out. */
const BLOCK_ROWS = 20;

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
  const { fleet, floor, now, search, chosenId, choose } = props;
  const sorted = useRef<readonly string[]>([]);
  sorted.current = inOrder(sorted.current, fleet);
  const wanted = sorted.current.flatMap((robotId) =>
    isFound(robotId, search) ? (fleet.robots.get(robotId) ?? []) : [],
  );
  const isSilent = silenceOf(fleet, now) !== null;
  const onFloor = new Map(floor.robots.map((robot) => [robot.robotId, robot]));
  return (
    <>
      <p class="count">{countText(fleet, wanted.length, isSilent)}</p>
      {/* biome-ignore lint/a11y/useSemanticElements: in a ul nothing may lie between the list and its rows */}
      <div class="robots" role="list" aria-label="Robots" data-chosen={chosenId ?? ""}>
        {inBlocks(wanted).map((block, at) => (
          <div key={`${at}`} class="block">
            {block.map((known) => {
              const { robot } = known;
              const { robot_id: robotId } = robot;
              const place = placeText(known, onFloor.get(robotId), floor, now);
              const isChosen = robotId === chosenId;
              return <Row key={robotId} {...{ robot, place, isChosen, isSilent, choose }} />;
            })}
          </div>
        ))}
      </div>
    </>
  );
}

/** Sorted anew only if there are other robots: sorting takes longer than the rest of a change. */
function inOrder(before: readonly string[], { robots }: Fleet): readonly string[] {
  const isSame = before.length === robots.size && before.every((robotId) => robots.has(robotId));
  return isSame ? before : [...robots.keys()].sort(order.compare);
}

/** The browser lays out only the blocks near the visible part, and finds these in each frame. */
function inBlocks(rows: readonly KnownRobot[]): ReadonlyArray<readonly KnownRobot[]> {
  const count = Math.ceil(rows.length / BLOCK_ROWS);
  return Array.from({ length: count }, (_, at) => rows.slice(at * BLOCK_ROWS, (at + 1) * BLOCK_ROWS));
}

interface RowProps {
  readonly robot: Robot;
  readonly place: string;
  readonly isChosen: boolean;
  readonly isSilent: boolean;
  readonly choose: (robotId: string) => void;
}

/**
 * Rendered only if its content differs. Reusing an element would be as fast, but Preact keeps its reference
 * to the first list, and through that to all rows of then.
 */
class Row extends Component<RowProps> {
  readonly #row = createRef<HTMLDivElement>();

  override shouldComponentUpdate({ robot, place, isChosen, isSilent }: RowProps): boolean {
    const shown = this.props;
    if (isChosen !== shown.isChosen || isSilent !== shown.isSilent) return true;
    return robot !== shown.robot || place !== shown.place;
  }

  override componentDidMount(): void {
    if (this.props.isChosen) this.#show();
  }

  override componentDidUpdate(before: RowProps): void {
    if (this.props.isChosen && !before.isChosen) this.#show();
  }

  /** Scrolls only the list: on a small screen the page stays at the map. */
  #show(): void {
    const row = this.#row.current;
    const list = row?.closest(".robots");
    if (row == null || list == null) return;
    const [seen, at] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
    if (at.top < seen.top) list.scrollTop -= seen.top - at.top;
    else if (at.bottom > seen.bottom) list.scrollTop += at.bottom - seen.bottom;
  }

  override render({ robot, place, isChosen, isSilent }: RowProps) {
    const old = isSilent ? "unconfirmed" : undefined;
    return (
      // biome-ignore lint/a11y/useSemanticElements: see the list
      <div ref={this.#row} role="listitem" class={isChosen ? "row chosen" : "row"}>
        <Link to={robotAddress(robot.robot_id)}>{robot.robot_id}</Link>
        <button type="button" aria-pressed={isChosen} onClick={() => this.props.choose(robot.robot_id)}>
          {isChosen ? "shown" : "show"}
          <span class="unseen"> {robot.robot_id} on the floor</span>
        </button>
        <Word {...wordOf(robot, isSilent)} />
        <span class={old}>{currentGoalText(robot)}</span>
        <span class={old}>{place}</span>
        <span class={old}>{batteryOf(robot)}</span>
      </div>
    );
  }
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

function batteryOf({ battery }: Robot): string {
  if (battery?.state == null) return "battery not known";
  const doubt = battery.quality === "good" ? "" : ` (${battery.quality})`;
  return `${battery.state.battery_state.charge_percent} %${doubt}`;
}

function countText({ robots }: Fleet, found: number, isSilent: boolean): string {
  const each = [...robots.values()];
  const unusual = each.filter(({ robot }) => wordOf(robot).emphasis !== "normal").length;
  const good = each.filter(({ robot }) => robot.quality === "good").length;
  const counted = robots.size === 1 ? "1 robot" : `${robots.size} robots`;
  const known = isSilent ? "none known to be good now" : `${good} good`;
  const all = `${counted}, ${known}${unusual === 0 ? "" : `, ${unusual} to look at`}`;
  return found === robots.size ? all : `${found} of ${all}`;
}
