import { useSignal } from "@preact/signals";
import type { Holders, Pause as PausePlan, Robot } from "../../northbound/web/api/robot.ts";
import type { Rights } from "../../northbound/web/api/session.ts";
import { get, put } from "../api.ts";
import {
  type Action,
  actionsOf,
  basisOf,
  type HoldAction,
  holdActions,
  missionUnderWay,
  whyNotStarted,
} from "../commanding/actions.ts";
import { isUnderWay } from "../commanding/asked.ts";
import type { KnownRobot } from "../fleet/fleet.ts";
import { sendAddress } from "../route.ts";
import { say } from "../texts/texts.ts";
import { AskedList } from "./asked-list.tsx";
import { usePage } from "./context.ts";
import { GoTo, type Press, useGoTo, WHY_NOT } from "./go-to.tsx";
import { Icon, Link } from "./parts.tsx";
import { type Intent, useNotice, useSecondStep } from "./second-step.tsx";
import { isAllowed, useRights } from "./use-rights.ts";

/** A user who must stop a robot learns soon that this page cannot. */
const PAUSE_MS = 2_000;

/** The actions on a robot: a stop by one click, all others by two. */
export function Commanding(props: { readonly known: KnownRobot; readonly press?: Press }) {
  const { known, press } = props;
  const { robot } = known;
  const { rights, problem } = useRights(robot.robot_id);
  const own = rights.value;
  return (
    <section class="commanding" aria-label={say("commanding", { robot: robot.robot_id })}>
      {own?.robot == null ? (
        <Pause robotId={robot.robot_id} />
      ) : (
        <p class="says">{say("commanding.refused", { reason: own.robot })}</p>
      )}
      {own !== null && own.robot === null && <Actions robot={robot} rights={own} press={press} />}
      {problem.value !== "" && (
        <p class="warning">{say("commanding.notKnown", { problem: problem.value })}</p>
      )}
      <AskedList robot={robot} />
    </section>
  );
}

/** The actions that the robot's state and the user's rights allow, each with a second step. */
function Actions(props: {
  readonly robot: Robot;
  readonly rights: Rights;
  readonly press: Press | undefined;
}) {
  const { robot, rights, press } = props;
  const { store, ask } = usePage();
  const { robot_id: robotId } = robot;
  const { begin, step } = useSecondStep();
  const going = useGoTo(robot, begin);
  const { intents: holds, problem } = useHolds(robot, rights);
  const commands = actionsOf(robot)
    .filter(({ moves, wanted }) => isAllowed(rights, wanted.operation) && !(moves && rights.moves !== null))
    .map(
      ({ label, icon, effect, moves, wanted }): ButtonIntent => ({
        label,
        icon,
        effect,
        moves,
        robotId,
        send: () => ask(robotId, label, wanted),
      }),
    );
  const mayMove = rights.moves === null;
  const mayGo = mayMove && missionUnderWay(robot) === null && isAllowed(rights, "CreateMission");
  const whyNot = whyNotStarted(robot);
  const isStartShown = mayGo || commands.some(({ moves }) => moves);
  return (
    <>
      <div class="line-up">
        {mayGo && <GoTo robot={robot} press={press} going={going} />}
        {[...commands, ...holds].map((intent) => (
          <button
            type="button"
            key={`${intent.label} ${intent.concerns}`}
            disabled={!store.isLive.value || (intent.moves && whyNot !== null)}
            aria-describedby={intent.moves && whyNot !== null ? WHY_NOT : undefined}
            onClick={() => {
              going.forget();
              begin(intent);
            }}
          >
            <Icon name={intent.icon} />
            {intent.concerns === undefined
              ? say("commanding.first", { label: intent.label })
              : say("commanding.firstOn", { label: intent.label, what: intent.concerns })}
          </button>
        ))}
        {mayMove && robot.conveyors.length > 0 && isAllowed(rights, "ControlConveyor") && (
          <Link class="button" to={sendAddress("ControlConveyor", robotId)}>
            <Icon name="conveyor" />
            {say("commanding.conveyor")}
          </Link>
        )}
        <Link class="button quiet" to={sendAddress(null, robotId)}>
          <Icon name="expert" />
          {say("commanding.expert")}
        </Link>
      </div>
      {isStartShown && whyNot !== null && (
        <p id={WHY_NOT} class="says">
          {say("commanding.notNow", { reason: whyNot })}
        </p>
      )}
      {step}
      {rights.moves !== null && <p class="says">{say("commanding.stopsOnly", { reason: rights.moves })}</p>}
      {problem !== "" && (
        <p class="warning" role="status">
          {problem}
        </p>
      )}
    </>
  );
}

/** Of a button. */
type ButtonIntent = Intent & Pick<Action, "icon" | "moves">;

/** A hold is a level: the same again changes nothing. */
function useHolds(robot: Robot, rights: Rights) {
  const problem = useNotice();
  const set = async ({ label, path, body }: HoldAction) => {
    problem.clear();
    const answer = await put<Holders>(path, body);
    if ("problem" in answer) problem.show(say("hold.notTaken", { label, problem: answer.problem }));
  };
  const intents = holdActions(robot, rights).map(
    (action): ButtonIntent => ({
      ...action,
      icon: "hold",
      moves: false,
      robotId: robot.robot_id,
      // A hold of the user's own means the same whatever the robot does.
      basis: action.body.hold ? () => "" : basisOf,
      send: () => void set(action),
    }),
  );
  return { intents, problem: problem.text };
}

/**
 * One click, in a fixed place, also while the values are not live. The gateway decides what stops the robot:
 * its mission, its task chain, or both (docs/internals/decisions.md, A pause asks the gateway what to send).
 */
function Pause({ robotId }: { readonly robotId: string }) {
  const { ask, asked, store } = usePage();
  const problem = useNotice(() => {
    const reason = store.fleet.value?.robots.get(robotId)?.robot.idle.reason;
    return reason === "MOVING" || reason === "UNKNOWN";
  });
  const isBegun = useSignal(false);
  const label = say("pause", { robot: robotId });
  const isAsked = asked.all.value.some((each) => each.label === label && isUnderWay(each));
  const pause = async () => {
    // A double click is one command.
    if (isBegun.peek()) return;
    isBegun.value = true;
    problem.clear();
    const path = `/robots/${encodeURIComponent(robotId)}/pause`;
    const answer = await get<PausePlan>(path, undefined, PAUSE_MS);
    if ("problem" in answer) problem.show(say("pause.notSent", { problem: answer.problem }));
    else if (answer.value.commands.length === 0) problem.show(say("pause.nothing"));
    else for (const wanted of answer.value.commands) ask(robotId, label, wanted, answer.value.tick);
    isBegun.value = false;
  };
  return (
    <div class="stop">
      <button type="button" class="pause" disabled={isAsked || isBegun.value} onClick={() => void pause()}>
        <Icon name="pause" />
        {label}
      </button>{" "}
      <small>{say("pause.noStop")}</small>
      {problem.text !== "" && (
        <span class="wrong" role="status">
          {" "}
          {problem.text}
        </span>
      )}
    </div>
  );
}
