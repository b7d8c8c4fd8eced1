import { useSignal } from "@preact/signals";
import type { AlarmView } from "../../models/alarm.ts";
import type { Acknowledgement } from "../../northbound/web/api/alarm.ts";
import { put } from "../api.ts";
import { alarmState, endsByAcknowledgement, subjectName, whyNotAcknowledged } from "../fleet/alarms.ts";
import { say, word } from "../texts/texts.ts";
import { usePage } from "./context.ts";
import { Ago, Says } from "./parts.tsx";
import type { Intent } from "./second-step.tsx";

interface HandlingProps {
  readonly alarm: AlarmView;
  /** Begins a second step; absent: it needs none, for its card holds alarms that stay in the list. */
  readonly begin?: ((intent: Intent) => void) | undefined;
}

/** Whether somebody looks after it, and the button for that. */
export function Handling({ alarm, begin }: HandlingProps) {
  return (
    <span class="line-up">
      <State alarm={alarm} />
      {alarm.acknowledged_by === null && <Acknowledge alarm={alarm} begin={begin} />}
    </span>
  );
}

/** Why this user may not acknowledge an alarm. */
export function useWhyNot() {
  const { session } = usePage();
  const user = session.value;
  return { whyNot: (alarm: AlarmView) => (user.state === "user" ? whyNotAcknowledged(alarm, user) : null) };
}

/** Resolves with an empty text, or why not. */
export async function acknowledged(id: string): Promise<string> {
  const answer = await put<Acknowledgement>(`/alarms/${encodeURIComponent(id)}/acknowledgement`);
  if ("value" in answer) return "";
  return say(answer.mayBeDone ? "alarms.mayBeDone" : "alarms.failed", { problem: answer.problem });
}

/** An acknowledged alarm shows that itself; this shows only why it is not acknowledged. */
function Acknowledge({ alarm, begin }: HandlingProps) {
  const { id, code, robot_id: robotId = null } = alarm;
  const problem = useSignal("");
  const { whyNot } = useWhyNot();
  const reason = whyNot(alarm);
  if (reason !== null) return <small> {say("alarms.whyNot", { reason })}</small>;
  const acknowledge = async () => {
    problem.value = await acknowledged(id);
  };
  const label = say("alarms.acknowledge");
  const second = begin !== undefined && endsByAcknowledgement(alarm) ? begin : null;
  const press = () => {
    if (second === null) return void acknowledge();
    const intent = {
      label,
      title: say("alarms.acknowledgeLast", { alarm: word(code), robot: subjectName(alarm) }),
    };
    // What the robot does meanwhile changes nothing: somebody has looked.
    second({
      ...intent,
      effect: say("alarms.lastEffect"),
      robotId,
      basis: () => id,
      send: () => void acknowledge(),
    });
  };
  return (
    <>
      {" "}
      <button type="button" onClick={press}>
        {second === null ? label : say("commanding.first", { label })}
        <span class="unseen"> {word(code)}</span>
      </button>
      {problem.value !== "" && <span role="status"> {problem.value}</span>}
    </>
  );
}

function State({ alarm }: { readonly alarm: AlarmView }) {
  const { store } = usePage();
  const { acknowledged_by: by, acknowledged_at: at, returned_at: returned } = alarm;
  const state = store.isLive.value ? alarmState(alarm) : say("reason.last", { word: alarmState(alarm) });
  const seen =
    by === null ? state : <Says of="alarms.seenBy" state={state} user={by} ago={<Ago iso={at} />} />;
  return (
    <small>
      {returned === null ? seen : <Says of="alarms.returnedAt" state={seen} ago={<Ago iso={returned} />} />}
    </small>
  );
}
