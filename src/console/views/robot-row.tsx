import { Component, createRef } from "preact";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { currentGoalText, doubted, type RobotWord } from "../fleet/words.ts";
import { robotAddress } from "../route.ts";
import { say } from "../texts/texts.ts";
import { Link, Word } from "./parts.tsx";

interface RowProps {
  readonly robot: Robot;
  /** Follows from the robot, and from whether a list is late. */
  readonly shown: RobotWord;
  /** Why it stands, and who has paused it. */
  readonly why: string;
  readonly place: string;
  readonly isChosen: boolean;
  readonly isSilent: boolean;
  readonly choose: (robotId: string) => void;
}

/**
 * A robot in the list. Rendered only if its content differs. Reusing an element would be as fast, but Preact
 * keeps its reference to the first list, and through that to all rows of then.
 */
export class RobotRow extends Component<RowProps> {
  readonly #row = createRef<HTMLDivElement>();

  override shouldComponentUpdate({ robot, why, place, isChosen, isSilent }: RowProps): boolean {
    const shown = this.props;
    if (isChosen !== shown.isChosen || isSilent !== shown.isSilent) return true;
    return robot !== shown.robot || why !== shown.why || place !== shown.place;
  }

  override componentDidMount(): void {
    if (this.props.isChosen) this.#show();
  }

  override componentDidUpdate(before: RowProps): void {
    if (this.props.isChosen && !before.isChosen) this.#show();
  }

  #show(): void {
    const row = this.#row.current;
    const list = row?.closest(".robots");
    if (row != null && list != null) showIn(list, row);
  }

  override render({ robot, shown, why, place, isChosen, isSilent }: RowProps) {
    const old = isSilent ? "unconfirmed" : undefined;
    const states = [isChosen ? " chosen" : "", isSilent ? " silent" : ""].join("");
    return (
      // biome-ignore lint/a11y/useSemanticElements: see the list
      <div ref={this.#row} role="listitem" class={`row${states}`}>
        <Link to={robotAddress(robot.robot_id)}>{robot.robot_id}</Link>
        <button type="button" aria-pressed={isChosen} onClick={() => this.props.choose(robot.robot_id)}>
          <span class="unseen">{say(isChosen ? "list.shown" : "list.show", { robot: robot.robot_id })}</span>
        </button>
        <Word {...shown} />
        {shown.emphasis !== "normal" && robot.idle.text !== "" && (
          <span class={isSilent ? "why unconfirmed" : "why"}>{why}</span>
        )}
        <span class="does">
          <span class={old}>{place}</span> · <span class={old}>{currentGoalText(robot)}</span>
        </span>
        <span class={isSilent ? "charge unconfirmed" : "charge"}>{batteryOf(robot)}</span>
      </div>
    );
  }
}

/**
 * Scrolls only the list: on a small screen the page stays at the map. The browser knows the heights of blocks
 * when they are seen, so it is scrolled once more when they are known.
 */
export function showIn(list: Element, row: Element, times = 3): void {
  const [seen, at] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  if (at.top < seen.top) list.scrollTop -= Math.ceil(seen.top - at.top);
  else if (at.bottom > seen.bottom) list.scrollTop += Math.ceil(at.bottom - seen.bottom);
  else return;
  if (times > 1) requestAnimationFrame(() => showIn(list, row, times - 1));
}

function batteryOf({ battery }: Robot): string {
  if (battery?.state == null) return say("battery.notKnown");
  const percent = battery.state.battery_state.charge_percent;
  return doubted(say("battery.percent", { percent }), battery.quality);
}
