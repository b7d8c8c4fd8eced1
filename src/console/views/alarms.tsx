import { useSignal } from "@preact/signals";
import type { AlarmView } from "../../models/alarm.ts";
import type { Acknowledgement } from "../../northbound/web/api/alarm.ts";
import { put } from "../api.ts";
import {
  alarmCounts,
  alarmEmphasis,
  alarmState,
  concernedText,
  sentence,
  whyNotAcknowledged,
} from "../fleet/words.ts";
import { robotAddress } from "../route.ts";
import { usePage } from "./context.ts";
import { Icon } from "./icons.tsx";
import { Ago, Empty, Link, TimeZone, Word } from "./parts.tsx";
import { useSecondStep } from "./second-step.tsx";

/** All alarms: what nobody has acknowledged comes first. */
export function Alarms() {
  const { store } = usePage();
  const listed = store.fleet.value?.alarms ?? { count: 0, alarms: [] };
  const { count, alarms } = listed;
  const open = alarms.filter(({ acknowledged_by: by }) => by === null);
  const seen = alarms.filter(({ acknowledged_by: by }) => by !== null);
  return (
    <>
      <div class="heading">
        <div>
          <h1>Alarms</h1>
          <TimeZone />
        </div>
        {count > 0 && <p>{alarmCounts(alarms)}.</p>}
      </div>
      {count === 0 && (
        <Empty icon="check" title="No alarm stands.">
          <p>What needs somebody will be listed here, with its usual cause and what to do.</p>
        </Empty>
      )}
      {count > alarms.length && (
        <p class="warning">
          {count} alarms stand. The {alarms.length} most urgent are listed.
        </p>
      )}
      {open.length > 0 && <OpenAlarms alarms={open} />}
      {seen.length > 0 && <AlarmList title="Acknowledged" alarms={seen} />}
    </>
  );
}

/** Alarms that nobody has acknowledged: one by one, or several at once by a second step. */
function OpenAlarms({ alarms }: { readonly alarms: readonly AlarmView[] }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const problem = useSignal("");
  const { begin, step } = useSecondStep();
  const { whyNot } = useWhyNot();
  const mine = alarms.filter((alarm) => whyNot(alarm) === null);
  const marked = mine.filter(({ id }) => chosen.value.has(id));
  const toggle = (id: string) => {
    const next = new Set(chosen.peek());
    if (!next.delete(id)) next.add(id);
    chosen.value = next;
  };
  const send = async () => {
    const answers = await Promise.all(marked.map(({ id }) => acknowledged(id)));
    problem.value = answers.find((answer) => answer !== "") ?? "";
    chosen.value = new Set();
  };
  const isAll = marked.length === mine.length;
  return (
    <>
      {mine.length > 1 && (
        <div class="line-up">
          <button
            type="button"
            onClick={() => {
              chosen.value = new Set(isAll ? [] : mine.map(({ id }) => id));
            }}
          >
            {isAll ? "Choose none" : `Choose all ${mine.length}`}
          </button>
          <button
            type="button"
            disabled={marked.length === 0}
            onClick={() =>
              begin({
                label: "Acknowledge",
                concerns: marked.length === 1 ? "1 alarm" : `${marked.length} alarms`,
                effect: "the list says in your name that somebody looks after them",
                robotId: null,
                send: () => void send(),
              })
            }
          >
            <Icon name="check" />
            Acknowledge {marked.length}…
          </button>
          {problem.value !== "" && (
            <span class="wrong" role="status">
              {problem.value}
            </span>
          )}
        </div>
      )}
      {step}
      <AlarmList
        title="Unacknowledged"
        alarms={alarms}
        {...(mine.length > 1 ? { choice: { chosen: chosen.value, toggle } } : {})}
      />
    </>
  );
}

interface Choice {
  readonly chosen: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
}

/** Alarms with their usual cause and advice. */
export function AlarmList(props: {
  readonly title: string;
  readonly alarms: readonly AlarmView[];
  readonly choice?: Choice;
}) {
  const { title, alarms, choice } = props;
  return (
    <section class="stack" aria-label={title}>
      <h2>{title}</h2>
      <ul class="alarms">
        {alarms.map((alarm) => (
          <Alarm key={alarm.id} alarm={alarm} choice={choice} />
        ))}
      </ul>
    </section>
  );
}

function Alarm({ alarm, choice }: { readonly alarm: AlarmView; readonly choice: Choice | undefined }) {
  const { whyNot } = useWhyNot();
  const isOpen = alarm.acknowledged_by === null;
  return (
    <li class={`alert ${alarmEmphasis(alarm)}`}>
      <div class="heading">
        <span class="line-up">
          {choice !== undefined && whyNot(alarm) === null && (
            <input
              type="checkbox"
              aria-label={`Choose ${sentence(alarm.code)} of ${alarm.robot_id ?? alarm.station ?? "the gateway"}`}
              checked={choice.chosen.has(alarm.id)}
              onChange={() => choice.toggle(alarm.id)}
            />
          )}
          <Word word={alarm.priority} emphasis={alarmEmphasis(alarm)} />
          <strong>{sentence(alarm.code)}</strong>
          <Subject alarm={alarm} />
          <small>
            <Ago iso={alarm.since} />
          </small>
        </span>
        <span class="line-up">
          <State alarm={alarm} />
          {isOpen && <Acknowledge alarm={alarm} />}
        </span>
      </div>
      <p>
        {alarm.text}
        {alarm.occurrences > 1 && ` (${alarm.occurrences} times)`}
        <Concerned alarm={alarm} />
      </p>
      <p>
        <strong>What to do:</strong> {alarm.advice} <small>Usual cause: {alarm.cause}.</small>
      </p>
    </li>
  );
}

/** Why this user may not acknowledge an alarm. */
function useWhyNot() {
  const { session } = usePage();
  const user = session.value;
  return { whyNot: (alarm: AlarmView) => (user.state === "user" ? whyNotAcknowledged(alarm, user) : null) };
}

/** Resolves with an empty text, or why not. */
async function acknowledged(id: string): Promise<string> {
  const answer = await put<Acknowledgement>(`/alarms/${encodeURIComponent(id)}/acknowledgement`);
  return "problem" in answer ? `not acknowledged: ${answer.problem}` : "";
}

/** An acknowledged alarm shows that itself; this shows only why it is not acknowledged. */
function Acknowledge({ alarm }: { readonly alarm: AlarmView }) {
  const { id, code } = alarm;
  const problem = useSignal("");
  const { whyNot } = useWhyNot();
  const reason = whyNot(alarm);
  if (reason !== null) return <small> ({reason})</small>;
  const acknowledge = async () => {
    problem.value = await acknowledged(id);
  };
  return (
    <>
      {" "}
      <button type="button" onClick={() => void acknowledge()}>
        Acknowledge<span class="unseen"> {sentence(code)}</span>
      </button>
      {problem.value !== "" && <span role="status"> {problem.value}</span>}
    </>
  );
}

function Subject({ alarm }: { readonly alarm: AlarmView }) {
  if (alarm.robot_id !== undefined) return <Link to={robotAddress(alarm.robot_id)}>{alarm.robot_id}</Link>;
  return <>{alarm.station ?? "the gateway"}</>;
}

function State({ alarm }: { readonly alarm: AlarmView }) {
  const { acknowledged_by: by, acknowledged_at: at, returned_at: returned } = alarm;
  return (
    <small>
      {alarmState(alarm)}
      {by !== null && (
        <>
          {" "}
          by {by} <Ago iso={at} />
        </>
      )}
      {returned !== null && (
        <>
          {" "}
          (returned <Ago iso={returned} />)
        </>
      )}
    </small>
  );
}

function Concerned({ alarm }: { readonly alarm: AlarmView }) {
  const { store } = usePage();
  const known = [...(store.fleet.value?.robots.values() ?? [])];
  const text = concernedText(
    alarm,
    known.map(({ robot }) => robot),
  );
  return text === "" ? null : <> ({text})</>;
}
