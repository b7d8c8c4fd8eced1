import { Component } from "preact";
import type { ListedRobot } from "../fleet/list.ts";
import { RobotRow } from "./robot-row.tsx";

/** Of a block of rows: with larger blocks, more than a screenful would be laid out. */
const BLOCK_ROWS = 20;
/** A block out of sight is rendered once in so many rounds. There are two a second, or more. */
const ROUNDS = 8;

interface BlockProps {
  readonly listed: readonly ListedRobot[];
  /** What a row says besides the robot's own values. */
  readonly textsOf: (listed: ListedRobot) => { readonly why: string; readonly place: string };
  readonly isSilent: boolean;
  readonly chosenId: string | null;
  readonly choose: (robotId: string) => void;
  /** Whether it is rendered now even if it is out of sight. */
  readonly isDue: boolean;
}

/** Rows drawn only in sight (docs/internals/decisions.md, Rows out of sight wait their turn). */
class RobotBlock extends Component<BlockProps> {
  #isOutOfSight = false;
  /**
   * The browser reports it before it draws the rows. In a browser without this event the block counts as in
   * sight. Preact's types do not have the event, so it is spread.
   */
  readonly #sight = {
    onContentVisibilityAutoStateChange: ({ skipped }: ContentVisibilityAutoStateChangeEvent) => {
      this.#isOutOfSight = skipped;
      if (!skipped) this.forceUpdate();
    },
  };

  override shouldComponentUpdate({ listed, isSilent, chosenId, isDue }: BlockProps): boolean {
    const before = this.props;
    if (!this.#isOutOfSight || isDue || isSilent !== before.isSilent || chosenId !== before.chosenId)
      return true;
    return !areSameRobots(listed, before.listed);
  }

  override render({ listed, textsOf, isSilent, chosenId, choose }: BlockProps) {
    return (
      <div class="block" {...this.#sight}>
        {listed.map((each) => {
          const { robot } = each.known;
          const { robot_id: robotId } = robot;
          const row = { robot, shown: each.shown, ...textsOf(each), isChosen: robotId === chosenId };
          return <RobotRow key={robotId} {...row} isSilent={isSilent} choose={choose} />;
        })}
      </div>
    );
  }
}

/** @param round counts the renderings of the list */
export function inBlocks(
  rows: readonly ListedRobot[],
  round: number,
  props: Omit<BlockProps, "listed" | "isDue">,
) {
  const count = Math.ceil(rows.length / BLOCK_ROWS);
  return Array.from({ length: count }, (_, at) => (
    <RobotBlock
      key={`${at}`}
      {...props}
      listed={rows.slice(at * BLOCK_ROWS, (at + 1) * BLOCK_ROWS)}
      isDue={(at + round) % ROUNDS === 0}
    />
  ));
}

function areSameRobots(before: readonly ListedRobot[], now: readonly ListedRobot[]): boolean {
  if (before.length !== now.length) return false;
  return before.every(({ known }, at) => known.robot.robot_id === now[at]?.known.robot.robot_id);
}
