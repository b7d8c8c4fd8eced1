import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { sourceText } from "../fleet/command-words.ts";
import { type ExceptionName, exceptions, hasWords, type ListedRobot, type Listing } from "../fleet/list.ts";
import { isPaused } from "../fleet/pauses.ts";
import { currentGoalText, whyText, xyText } from "../fleet/words.ts";
import { doubtOf, type FloorRobot, type FloorState } from "../floor/scene.ts";
import { say } from "../texts/texts.ts";
import type { Moment } from "../trust/time-text.ts";
import { usePauses } from "./command-log.tsx";
import { usePage } from "./context.ts";
import { Empty, Icon, Link, Says } from "./parts.tsx";
import { inBlocks } from "./robot-block.tsx";
import { showIn } from "./robot-row.tsx";

const chips: readonly ExceptionName[] = ["alarm", "paused", "offline", "low", "idle"];

interface ListProps {
  readonly listing: Listing;
  readonly floor: FloorState;
  readonly now: Moment;
  readonly chosenId: string | null;
  readonly choose: (robotId: string) => void;
}

/** The robots in words, what needs somebody first: also for the keyboard and for screen readers. */
export function RobotList(props: ListProps) {
  const { listing, floor, now, chosenId, choose } = props;
  const { store, maps } = usePage();
  const search = useSignal("");
  const chip = useSignal<ExceptionName | null>(null);
  const round = useRef(0);
  round.current += 1;
  const { robots: all } = listing;
  const isSilent = store.silence.value !== null;
  const onFloor = new Map(floor.robots.map((robot) => [robot.robotId, robot]));
  const nameOf = ({ point, map_id: mapId }: NonNullable<Robot["place"]>) => maps.nameOf(mapId, point);
  const placeOf = ({ known: { robot } }: ListedRobot) =>
    placeText(robot, onFloor.get(robot.robot_id), floor, now, nameOf);
  const pauseOf = usePauses(all.some(({ known: { robot } }) => isPaused(robot)));
  const whyOf = ({ known: { robot } }: ListedRobot) => {
    const pause = isPaused(robot) ? pauseOf(robot) : null;
    const text = whyText(robot);
    return pause === null ? text : say("list.pausedBy", { text, source: sourceText(pause) });
  };
  const { value: name } = chip;
  const wanted = all.filter(
    (listed) =>
      (name === null || exceptions[name](listed)) &&
      (search.value.trim() === "" || hasWords(search.value, textsOf(listed, whyOf(listed), placeOf(listed)))),
  );
  return (
    <section class="list" aria-label={say("list")}>
      <div class="list-head">
        <label class="search">
          <span class="unseen">{say("list.search")}</span>
          <Icon name="search" />
          <input
            type="search"
            placeholder={say("list.searchFor")}
            value={search.value}
            onInput={({ currentTarget }) => {
              search.value = currentTarget.value;
            }}
          />
        </label>
        <Chips
          counts={listing.exceptions}
          chosen={name}
          choose={(next) => {
            chip.value = next;
          }}
        />
        <p class="count">{countText(listing, wanted.length, isSilent)}</p>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: in a ul nothing may lie between the list and its rows */}
      <div
        ref={useChosenInSight()}
        class="robots"
        role="list"
        aria-label={say("list.robots")}
        data-chosen={chosenId ?? ""}
      >
        {inBlocks(wanted, round.current, {
          textsOf: (listed) => ({ why: whyOf(listed), place: placeOf(listed) }),
          isSilent,
          chosenId,
          choose,
        })}
      </div>
      {wanted.length === 0 && <Nobody isFleetEmpty={all.length === 0} />}
    </section>
  );
}

/** The exceptions that there are: one press leaves their robots. */
function Chips(props: {
  readonly counts: Listing["exceptions"];
  readonly chosen: ExceptionName | null;
  readonly choose: (name: ExceptionName | null) => void;
}) {
  const { counts, chosen, choose } = props;
  const shown = chips.filter((name) => counts[name] > 0 || name === chosen);
  if (shown.length === 0) return null;
  return (
    <fieldset class="chips">
      <legend class="unseen">{say("list.exceptions")}</legend>
      {shown.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === chosen}
          onClick={() => choose(name === chosen ? null : name)}
        >
          {say(`list.${name}`)} <span class="number">{counts[name]}</span>
        </button>
      ))}
    </fieldset>
  );
}

function Nobody({ isFleetEmpty }: { readonly isFleetEmpty: boolean }) {
  if (!isFleetEmpty) return <Empty icon="search" title={say("list.none")} />;
  return (
    <Empty icon="robot" title={say("list.noFleet")}>
      <p>
        <Says
          of="list.noFleetText"
          setting={<span class="id">fleet.robots</span>}
          connections={<Link to="/connections">{say("rail.connections")}</Link>}
        />
      </p>
    </Empty>
  );
}

/** The chosen row stays in sight when what stands above the list grows. */
function useChosenInSight() {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const shown = list.current;
    if (shown === null) return;
    const resized = new ResizeObserver(() => {
      const row = shown.querySelector(".chosen");
      if (row !== null) showIn(shown, row);
    });
    resized.observe(shown);
    return () => resized.disconnect();
  }, []);
  return list;
}

function textsOf({ known: { robot }, shown }: ListedRobot, why: string, place: string): readonly string[] {
  return [
    robot.robot_id,
    robot.family,
    shown.word,
    why,
    place,
    currentGoalText(robot),
    robot.place?.map_name ?? "",
  ];
}

function placeText(
  { place }: Robot,
  onFloor: FloorRobot | undefined,
  { isLive, pollMs }: FloorState,
  now: Moment,
  nameOf: (place: NonNullable<Robot["place"]>) => string,
): string {
  if (place === null || onFloor === undefined || pollMs === null) return say("place.notKnown");
  const doubt = doubtOf(onFloor, isLive, pollMs, now);
  const where = pointText(place, nameOf);
  return doubt === null ? where : say("doubted", { text: where, quality: doubt });
}

function pointText(
  place: NonNullable<Robot["place"]>,
  nameOf: (place: NonNullable<Robot["place"]>) => string,
): string {
  const { point, x, y } = place;
  if (point !== "") return say("place.at", { place: nameOf(place) });
  return x === null || y === null ? say("place.notKnown") : xyText(x, y);
}

function countText({ robots: all, good, unusual }: Listing, found: number, isSilent: boolean): string {
  const count = all.length;
  const counted = isSilent
    ? unusual === 0
      ? say("list.countSilent", { count })
      : say("list.countSilentUnusual", { count, unusual })
    : unusual === 0
      ? say("list.count", { count, good })
      : say("list.countUnusual", { count, good, unusual });
  return found === count ? counted : say("list.found", { found, counted });
}
