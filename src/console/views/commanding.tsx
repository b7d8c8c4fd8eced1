import { useSignal, useSignalEffect } from "@preact/signals";
import type { Command } from "../../northbound/web/api/command.ts";
import type { Pause as PausePlan, Robot } from "../../northbound/web/api/robot.ts";
import { get } from "../api.ts";
import { type Action, actionsOf, basisOf } from "../commanding/actions.ts";
import { type Asked, hasEnded } from "../commanding/asked.ts";
import { commandKey, type Fleet, type KnownRobot } from "../fleet/fleet.ts";
import { sentence } from "../fleet/words.ts";
import { elapsedMs, type Moment } from "../trust/moment.ts";
import { timeOfDay } from "../trust/time-text.ts";
import { sourceText } from "./command-log.tsx";
import { usePage } from "./context.ts";

/** A second step that nobody takes within this time lapses. */
const LAPSE_MS = 15_000;
/** Commands of others that the second step names. */
const RECENT_MS = 120_000;

/** Of them. */
const MOST_NAMED = 5;

/** The first step that was taken, and what was true then. */
interface FirstStep {
  readonly action: Action;
  readonly basis: string;
  readonly at: Moment;
}

/** What may be asked of a robot: a stop by one click, all else by two. */
export function Commanding({ known }: { readonly known: KnownRobot }) {
  const { store, ask, now } = usePage();
  const { robot } = known;
  const { robot_id: robotId } = robot;
  const first = useSignal<FirstStep | null>(null);
  const lapsed = useSignal("");
  useSignalEffect(() => {
    const step = first.value;
    const shown = store.fleet.value?.robots.get(robotId)?.robot;
    if (step === null) return;
    const reason = lapseOf(step, shown, store.isLive.value, store.now.value);
    if (reason === null) return;
    first.value = null;
    lapsed.value = `${step.action.label}: not sent, because ${reason}.`;
  });
  const begin = (action: Action) => {
    lapsed.value = "";
    first.value = { action, basis: basisOf(robot), at: now() };
  };
  const send = (action: Action) => {
    first.value = null;
    ask(robotId, action.label, action.wanted);
  };
  return (
    <section class="commanding" aria-label={`Commands to ${robotId}`}>
      <Pause robotId={robotId} />
      {actionsOf(robot).map((action) => (
        <button type="button" key={action.label} disabled={!store.isLive.value} onClick={() => begin(action)}>
          {action.label}…
        </button>
      ))}
      {first.value !== null && (
        <SecondStep
          robot={robot}
          step={first.value}
          send={send}
          leave={() => {
            first.value = null;
          }}
        />
      )}
      {lapsed.value !== "" && <p role="status">{lapsed.value}</p>}
      <AskedList robot={robot} />
    </section>
  );
}

/** Why a first step counts no more; null: it does. */
function lapseOf(step: FirstStep, robot: Robot | undefined, isLive: boolean, now: Moment): string | null {
  if (!isLive) return "the values are not live";
  if (robot === undefined || basisOf(robot) !== step.basis) return "the robot's state has changed";
  return elapsedMs(step.at, now) >= LAPSE_MS ? "15 s have passed" : null;
}

/**
 * One click, in a fixed place. The gateway says what stops the robot: its mission, its task chain, or both.
 */
function Pause({ robotId }: { readonly robotId: string }) {
  const { ask, asked } = usePage();
  const problem = useSignal("");
  const isBegun = useSignal(false);
  const label = `Pause ${robotId}`;
  const isAsked = asked.all.value.some((each) => each.label === label && !hasEnded(each));
  const pause = async () => {
    // A double click is one command.
    if (isBegun.peek()) return;
    isBegun.value = true;
    problem.value = "";
    const answer = await get<PausePlan>(`/robots/${encodeURIComponent(robotId)}/pause`);
    if ("problem" in answer) problem.value = answer.problem;
    else if (answer.value.commands.length === 0)
      problem.value = "nothing was sent: neither a mission nor a task chain is under way";
    else for (const wanted of answer.value.commands) ask(robotId, label, wanted);
    isBegun.value = false;
  };
  return (
    <p>
      <button type="button" class="pause" disabled={isAsked || isBegun.value} onClick={() => void pause()}>
        {label}
      </button>{" "}
      <strong>Not an emergency stop.</strong>
      {problem.value !== "" && <span role="status"> {problem.value}</span>}
    </p>
  );
}

/** Names what would happen, and to what. Enter does not send. */
function SecondStep(props: {
  readonly robot: Robot;
  readonly step: FirstStep;
  readonly send: (action: Action) => void;
  readonly leave: () => void;
}) {
  const { store } = usePage();
  const { robot, step } = props;
  const { action } = step;
  const leftMs = LAPSE_MS - elapsedMs(step.at, store.now.value);
  const others = recentOf(robot.robot_id, store.fleet.value?.recent ?? [], store.now.value);
  const refuseEnter = (event: KeyboardEvent) => {
    if (event.key === "Enter") event.preventDefault();
  };
  return (
    <div class="second" role="alertdialog" aria-label={`${action.label}: second step`}>
      <p>
        <strong>
          {action.label}: {robot.robot_id}
        </strong>
        , {placeText(robot)}. Effect: {action.effect}.
      </p>
      <p>{robot.lease === null ? "No station has a lease on it." : leaseText(robot.lease)}</p>
      {others.length > 0 && (
        <p>
          In the last two minutes:{" "}
          {others.map((each) => `${each.operation} by ${sourceText(each)}`).join(", ")}.
        </p>
      )}
      <button type="button" onKeyDown={refuseEnter} onClick={() => props.send(action)}>
        {action.label} {robot.robot_id}
      </button>{" "}
      <button type="button" onClick={props.leave}>
        Do not send
      </button>{" "}
      <span aria-hidden="true">lapses in {Math.max(0, Math.ceil(leftMs / 1_000))} s</span>
    </div>
  );
}

function leaseText({ station, owner }: NonNullable<Robot["lease"]>): string {
  return `Station ${station} has a lease on it (${owner}).`;
}

function placeText({ place }: Robot): string {
  if (place === null) return "whose place is not known";
  return place.point === "" ? `on map ${place.map_name}` : `at ${place.point}`;
}

function recentOf(robotId: string, heard: Fleet["recent"], now: Moment): readonly Command[] {
  const recent = heard.filter(
    ({ command, heardAt }) => command.robot_id === robotId && elapsedMs(heardAt, now) < RECENT_MS,
  );
  const newest = new Map(recent.map(({ command }) => [commandKey(command), command]));
  return [...newest.values()].slice(-MOST_NAMED);
}

/** Asked, taken and standing: each from its own source. */
function AskedList({ robot }: { readonly robot: Robot }) {
  const { asked } = usePage();
  const own = asked.all.value.filter((each) => each.robotId === robot.robot_id).slice(-5);
  if (own.length === 0) return null;
  return (
    <ul aria-label="Asked from this browser">
      {own.reverse().map((each) => (
        <li key={each.id}>
          {timeOfDay(each.askedAtMs)} {each.label}: {knownText(each)}
        </li>
      ))}
      <li>Robot: {robot.standing.text === "" ? "moves" : robot.standing.text}</li>
    </ul>
  );
}

function knownText({ known }: Asked): string {
  switch (known.state) {
    case "asked":
      return `asked${known.problem === "" ? "" : `, ${known.problem}`}`;
    case "taken":
      return known.stage === "received" ? "asked" : `taken (${known.stage})`;
    case "final":
      return `${sentence(known.outcome)}${known.message === "" ? "" : `: ${known.message}`}`;
    case "refused":
      return `not taken: ${known.reason}`;
  }
}
