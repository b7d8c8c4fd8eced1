import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Command } from "../../northbound/web/api/command.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { basisOf } from "../commanding/actions.ts";
import { operationText, sourceText } from "../fleet/command-words.ts";
import type { MapStore } from "../fleet/maps.ts";
import { say } from "../texts/texts.ts";
import { ageMs, agoText, elapsedMs, type Moment } from "../trust/time-text.ts";
import { useCommands } from "./command-log.tsx";
import { usePage } from "./context.ts";
import { gatewayNowMs, Says } from "./parts.tsx";
import { takeFocus } from "./take-focus.ts";

/** A second step lapses after this time. */
const LAPSE_MS = 15_000;
/** How recent the commands are that the second step names. */
const RECENT_MS = 120_000;
/** Of them. */
const MOST_NAMED = 5;

/** The first step of a user. */
export interface Intent {
  readonly label: string;
  /** What it does, as the end of a sentence. */
  readonly effect: string;
  /** The request, if the user has written it. */
  readonly request?: string;
  /** Its object, if it is not the robot alone. */
  readonly concerns?: string;
  /** Instead of its label and its robot, in the second step. */
  readonly title?: string;
  /** What must not change between the two steps, as text; absent: what `basisOf` has. */
  readonly basis?: (robot: Robot) => string;
  /** The robot that it concerns; null: none that the page knows. */
  readonly robotId: string | null;
  readonly send: () => void;
}

/** The first step, and the state at that time. */
interface FirstStep {
  readonly intent: Intent;
  readonly basis: string;
  readonly at: Moment;
}

/** The second step of every action that is no stop. */
export function useSecondStep() {
  const { store, now } = usePage();
  const first = useSignal<FirstStep | null>(null);
  const lapsed = useNotice();
  const robotOf = (robotId: string | null) => store.fleet.value?.robots.get(robotId ?? "")?.robot;
  useSignalEffect(() => {
    const step = first.value;
    if (step === null) return;
    const reason = lapseOf(step, robotOf(step.intent.robotId), store.isLive.value, store.now.value);
    if (reason !== null) end(reason);
  });
  /** Ends a step, with the reason. */
  function end(reason: string): void {
    const step = first.peek();
    if (step === null) return;
    first.value = null;
    lapsed.show(say("step.lapsed", { label: step.intent.label, reason }));
  }
  return {
    end,
    begin(intent: Intent) {
      lapsed.clear();
      first.value = { intent, basis: basisText(intent, robotOf(intent.robotId)), at: now() };
    },
    step: (
      <>
        {first.value !== null && (
          <SecondStep
            step={first.value}
            robot={robotOf(first.value.intent.robotId) ?? null}
            close={() => {
              first.value = null;
            }}
          />
        )}
        {lapsed.text !== "" && <p role="status">{lapsed.text}</p>}
      </>
    ),
  };
}

function basisText({ basis = basisOf }: Intent, robot: Robot | undefined): string {
  return robot === undefined ? "" : basis(robot);
}

/** Why a first step no longer counts; null: it does. */
function lapseOf(step: FirstStep, robot: Robot | undefined, isLive: boolean, now: Moment): string | null {
  if (!isLive) return say("step.notLive");
  if (basisText(step.intent, robot) !== step.basis) return say("step.stateChanged");
  return elapsedMs(step.at, now) >= LAPSE_MS ? say("step.timeOver", { count: LAPSE_MS / 1_000 }) : null;
}

/** Names the effect and its object. Enter does not send. */
function SecondStep(props: {
  readonly step: FirstStep;
  readonly robot: Robot | null;
  readonly close: () => void;
}) {
  const { store, maps } = usePage();
  const { robot, step, close } = props;
  const { intent } = step;
  const named = intent.concerns ?? robot?.robot_id;
  const leftMs = LAPSE_MS - elapsedMs(step.at, store.now.value);
  const silence = store.silence.value;
  const ofRobot = named === undefined ? intent.label : say("step.of", { label: intent.label, what: named });
  const shown = {
    title: <strong>{intent.title ?? ofRobot}</strong>,
    where: intent.concerns === undefined ? whereText(robot, maps) : "",
    effect: intent.effect,
  };
  const refuseEnter = (event: KeyboardEvent) => {
    if (event.key === "Enter") event.preventDefault();
  };
  const send = () => {
    close();
    intent.send();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
  };
  return (
    <div
      ref={useFocus(step)}
      class="second"
      role="alertdialog"
      tabIndex={-1}
      aria-label={say("step.second", { label: intent.label })}
      onKeyDown={onKey}
    >
      <p>
        {silence === null ? (
          <Says of="step.effect" {...shown} />
        ) : (
          <Says of="step.effectListed" {...shown} ago={agoText(ageMs(silence, store.now.value))} />
        )}
      </p>
      {robot !== null && <p>{robot.lease === null ? say("step.noLease") : leaseText(robot.lease)}</p>}
      {robot !== null && <Recent key={robot.robot_id} robotId={robot.robot_id} />}
      {intent.request !== undefined && <p class="id">{intent.request}</p>}
      <div class="line-up">
        <button type="button" class="primary" onKeyDown={refuseEnter} onClick={send}>
          {named === undefined ? intent.label : say("step.send", { label: intent.label, what: named })}
        </button>
        <button type="button" onClick={close}>
          {say("step.doNotSend")}
        </button>
        <small aria-hidden="true">
          {say("step.lapses", { seconds: Math.max(0, Math.ceil(leftMs / 1_000)) })}
        </small>
      </div>
    </div>
  );
}

/**
 * The step has the focus from the moment it is drawn (a key pressed at once goes to it), and then gives it
 * back. It is not modal: *Pause* is in reach meanwhile.
 */
function useFocus(step: FirstStep) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const giveBack = takeFocus(box.current);
    // On a small screen it would begin below the visible part, and lapse there.
    box.current?.scrollIntoView({ block: "nearest" });
    return giveBack;
  }, [step]);
  return box;
}

function leaseText({ station, owner }: NonNullable<Robot["lease"]>): string {
  return say("step.lease", { station, owner });
}

function whereText(robot: Robot | null, maps: MapStore): string {
  if (robot === null) return say("step.noRobot");
  const { place } = robot;
  if (place === null) return say("step.noPlace");
  return place.point === ""
    ? say("step.onMap", { map: place.map_name })
    : say("step.at", { place: maps.nameOf(place.map_id, place.point) });
}

/** What anybody has sent to a robot lately, also before the page was opened. */
function Recent({ robotId }: { readonly robotId: string }) {
  const { store } = usePage();
  const { remembered, problem, isRead } = useCommands(robotId);
  const nowMs = gatewayNowMs(store) ?? 0;
  const isRecent = ({ robot_id: id, accepted_at: at, final_at: end }: Command) =>
    id === robotId && nowMs - Date.parse(at ?? end ?? "") < RECENT_MS;
  const recent = [...remembered.values()].filter(isRecent).slice(-MOST_NAMED);
  const commands = recent.map((each) =>
    say("step.recentBy", { command: operationText(each), source: sourceText(each) }),
  );
  return (
    <>
      {problem !== "" && <p class="warning">{say("log.problem", { problem })}</p>}
      {commands.length > 0 && <p>{say("step.recent", { commands: commands.join(", ") })}</p>}
      {!isRead && <p>{say("step.recentNotRead")}</p>}
      {isRead && problem === "" && commands.length === 0 && <p>{say("step.recentNone")}</p>}
    </>
  );
}

/** So long a notice stays at least. */
const NOTICE_MS = 30_000;

/**
 * A notice of what was not done. It goes with the next one, and by itself: what it speaks of may be over.
 *
 * @param isOf whether it still speaks of what is now; absent: nobody knows
 */
export function useNotice(isOf: () => boolean = () => false) {
  const { store, now } = usePage();
  const notice = useSignal<{ readonly text: string; readonly at: Moment } | null>(null);
  useSignalEffect(() => {
    const shown = notice.value;
    if (shown === null || elapsedMs(shown.at, store.now.value) < NOTICE_MS || isOf()) return;
    notice.value = null;
  });
  return {
    /** Empty: there is none. */
    text: notice.value?.text ?? "",
    show(text: string): void {
      notice.value = { text, at: now() };
    },
    clear(): void {
      notice.value = null;
    },
  };
}
