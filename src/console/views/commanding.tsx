import { useSignal } from "@preact/signals";
import type { Holders } from "../../northbound/web/api/hold.ts";
import type { Rights } from "../../northbound/web/api/rights.ts";
import type { Pause as PausePlan, Robot } from "../../northbound/web/api/robot.ts";
import { get, put } from "../api.ts";
import { actionsOf } from "../commanding/actions.ts";
import { isUnderWay } from "../commanding/asked.ts";
import { type HoldAction, holdActions } from "../commanding/holds.ts";
import type { KnownRobot } from "../fleet/fleet.ts";
import { sendAddress } from "../route.ts";
import { AskedList } from "./asked-list.tsx";
import { usePage } from "./context.ts";
import { Link } from "./parts.tsx";
import { type Intent, useSecondStep } from "./second-step.tsx";
import { isAllowed, useRights } from "./use-rights.ts";

/** A user who must stop a robot learns soon that this page cannot. */
const PAUSE_MS = 2_000;

/** The actions on a robot: a stop by one click, all others by two. */
export function Commanding({ known }: { readonly known: KnownRobot }) {
  const { robot } = known;
  const { rights, problem } = useRights(robot.robot_id);
  const own = rights.value;
  return (
    <section class="commanding" aria-label={`Commands to ${robot.robot_id}`}>
      {own?.robot == null ? (
        <Pause robotId={robot.robot_id} />
      ) : (
        <p>You may not command this robot: {own.robot}.</p>
      )}
      {own !== null && own.robot === null && <Actions robot={robot} rights={own} />}
      {problem.value !== "" && <p class="warning">◆ What you may send is not known: {problem.value}.</p>}
      <AskedList robot={robot} />
    </section>
  );
}

/** The actions that the robot's state and the user's rights allow, each with a second step. */
function Actions({ robot, rights }: { readonly robot: Robot; readonly rights: Rights }) {
  const { store, ask } = usePage();
  const { robot_id: robotId } = robot;
  const { begin, step } = useSecondStep();
  const { intents: holds, problem } = useHolds(robot, rights);
  const commands = actionsOf(robot)
    .filter(({ moves, wanted }) => isAllowed(rights, wanted.operation) && !(moves && rights.moves !== null))
    .map(
      ({ label, effect, wanted }): Intent => ({
        label,
        effect,
        robotId,
        send: () => ask(robotId, label, wanted),
      }),
    );
  return (
    <>
      {[...commands, ...holds].map((intent) => (
        <button
          type="button"
          key={`${intent.label} ${intent.concerns}`}
          disabled={!store.isLive.value}
          onClick={() => begin(intent)}
        >
          {intent.label}
          {intent.concerns !== undefined && ` on ${intent.concerns}`}…
        </button>
      ))}
      <Link to={sendAddress(null, robotId)}>Another command…</Link>
      {rights.moves !== null && <p>You may stop it, and not move it: {rights.moves}.</p>}
      {problem !== "" && <p role="status">{problem}</p>}
      {step}
    </>
  );
}

/** A hold is a level: the same again changes nothing. */
function useHolds(robot: Robot, rights: Rights) {
  const problem = useSignal("");
  const set = async ({ label, path, body }: HoldAction) => {
    problem.value = "";
    const answer = await put<Holders>(path, body);
    if ("problem" in answer) problem.value = `${label}: not known to be taken: ${answer.problem}. Try again.`;
  };
  const intents = holdActions(robot, rights).map(
    (action): Intent => ({
      ...action,
      robotId: robot.robot_id,
      send: () => void set(action),
    }),
  );
  return { intents, problem: problem.value };
}

/**
 * One click, in a fixed place, also while the values are not live. The gateway decides what stops the robot:
 * its mission, its task chain, or both (docs/decisions.md, A pause asks the gateway what to send).
 */
function Pause({ robotId }: { readonly robotId: string }) {
  const { ask, asked } = usePage();
  const problem = useSignal("");
  const isBegun = useSignal(false);
  const label = `Pause ${robotId}`;
  const isAsked = asked.all.value.some((each) => each.label === label && isUnderWay(each));
  const pause = async () => {
    // A double click is one command.
    if (isBegun.peek()) return;
    isBegun.value = true;
    problem.value = "";
    const path = `/robots/${encodeURIComponent(robotId)}/pause`;
    const answer = await get<PausePlan>(path, undefined, PAUSE_MS);
    if ("problem" in answer) problem.value = `nothing was sent: ${answer.problem}. Press again`;
    else if (answer.value.commands.length === 0)
      problem.value = "nothing was sent: neither a mission nor a task chain is known to be under way";
    else for (const wanted of answer.value.commands) ask(robotId, label, wanted, answer.value.tick);
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
