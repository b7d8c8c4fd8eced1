import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { goToBasisOf, whyNotStarted } from "../commanding/actions.ts";
import { byName, hasWords } from "../fleet/list.ts";
import { pointName } from "../fleet/maps.ts";
import { say } from "../texts/texts.ts";
import { usePage } from "./context.ts";
import { Icon } from "./parts.tsx";
import type { Intent } from "./second-step.tsx";
import { takeFocus } from "./take-focus.ts";
import { useCheck } from "./use-rights.ts";

export interface Press {
  /** Takes the name of a point that is pressed on the robot's map; null: nobody takes it now. */
  current: ((name: string) => void) | null;
}

/** The element that says why starts are refused now. */
export const WHY_NOT = "why-not-started";

/** Of the list below the field: what is not in it is found by more letters. */
const MOST_OFFERED = 50;

/** A mission to one place, for a robot of any family. */
function missionTo(robotId: string, destinationId: string) {
  return {
    operation: "CreateMission",
    request: { robotId, mission: { baseMission: { navigateMission: { goal: { destinationId } } } } },
  };
}

/** Sends a robot to a place: chosen from a list with search, or pressed on the map. */
export function GoTo(props: {
  readonly robot: Robot;
  readonly press: Press | undefined;
  readonly going: ReturnType<typeof useGoTo>;
}) {
  const { store } = usePage();
  const { robot, press } = props;
  const { problem, goTo, forget } = props.going;
  const isOpen = useSignal(false);
  const isRefused = whyNotStarted(robot) !== null;
  useEffect(() => {
    if (press === undefined) return;
    press.current = (name) => void goTo(name);
    return () => {
      press.current = null;
    };
  });
  useEffect(() => forget, []);
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen.value && !isRefused}
        aria-describedby={isRefused ? WHY_NOT : undefined}
        disabled={!store.isLive.value || isRefused}
        onClick={() => {
          isOpen.value = !isOpen.peek();
        }}
      >
        <Icon name="goTo" />
        {say("goTo")}
      </button>
      {isOpen.value && !isRefused && (
        <Picker
          robot={robot}
          hasMap={press !== undefined}
          pick={(name) => {
            isOpen.value = false;
            if (name !== null) void goTo(name);
          }}
        />
      )}
      {problem !== null && (
        <p class="wrong" role="alert">
          {say("goTo.notSent", { problem: problem.text })}
        </p>
      )}
    </>
  );
}

/** Asks the gateway first: what it refuses never becomes a second step. */
export function useGoTo(robot: Robot, begin: (intent: Intent) => void) {
  const { ask } = usePage();
  const { problem, check, forget } = useCheck();
  const { robot_id: robotId } = robot;
  // What was wrong may not be any more.
  useEffect(forget, [goToBasisOf(robot)]);
  const goTo = async (name: string) => {
    const wanted = missionTo(robotId, name);
    if ((await check(wanted)) === null) return;
    const label = say("goTo.place", { place: name });
    begin({
      label,
      title: say("goTo.title", { robot: robotId, place: name }),
      effect: say("goTo.effect"),
      basis: goToBasisOf,
      robotId,
      send: () => ask(robotId, label, wanted),
    });
  };
  return { problem, goTo, forget };
}

/** A field with a list below it: arrow keys choose, Enter takes, Escape closes. */
function Picker(props: {
  readonly robot: Robot;
  /** A place may be pressed on the map, too. */
  readonly hasMap: boolean;
  readonly pick: (name: string | null) => void;
}) {
  const { robot, hasMap, pick } = props;
  const text = useSignal("");
  const at = useSignal(0);
  const area = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  // A place that is clicked has the focus, and goes with the list.
  useLayoutEffect(() => takeFocus(area.current, field.current), []);
  const known = useDestinations(robot);
  // On a small screen it would begin behind the stop. It grows when the places are known.
  useLayoutEffect(() => area.current?.scrollIntoView({ block: "nearest" }), [known === null]);
  const offered = (known ?? []).filter((name) => hasWords(text.value, [name]));
  const shown = offered.slice(0, MOST_OFFERED);
  const chosen = Math.min(at.value, shown.length - 1);
  useSignalEffect(() => {
    list.current?.children[at.value]?.scrollIntoView({ block: "nearest" });
  });
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") pick(null);
    else if (event.key === "Enter") pick(shown[chosen] ?? null);
    else if (step !== undefined) at.value = Math.max(0, Math.min(shown.length - 1, chosen + step));
    else return;
    event.preventDefault();
  };
  return (
    <div ref={area} class="picker stack">
      <label class="search">
        <span class="unseen">{say("goTo.destination")}</span>
        <Icon name="search" />
        <input
          ref={field}
          role="combobox"
          aria-expanded="true"
          aria-controls="destinations"
          aria-activedescendant={shown.length === 0 ? undefined : `destination-${chosen}`}
          autocomplete="off"
          placeholder={say("goTo.destination")}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={onKey}
        />
      </label>
      <div
        ref={list}
        id="destinations"
        class="goal-list"
        role="listbox"
        aria-label={say("goTo.destinations")}
        tabIndex={-1}
      >
        {shown.map((name, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={name}
            id={`destination-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => pick(name)}
          >
            {name}
          </div>
        ))}
      </div>
      {offered.length > shown.length && (
        <small>{say("goTo.more", { shown: shown.length, all: offered.length })}</small>
      )}
      {offered.length === 0 && <small>{say(known === null ? "goTo.notKnown" : "goTo.none")}</small>}
      {hasMap && <small>{say("goTo.press")}</small>}
    </div>
  );
}

/** The places of the robot's map, by the names that missions use; null: they are not known. */
function useDestinations({ place }: Robot): readonly string[] | null {
  const { maps } = usePage();
  const points = maps.known.value.get(place?.map_id ?? -1)?.map?.points ?? null;
  return points && [...new Set(points.map(pointName))].sort(byName);
}
