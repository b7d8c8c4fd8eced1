import { useSignal } from "@preact/signals";
import type { AlarmView } from "../../models/alarm.ts";
import type { Acknowledgement } from "../../northbound/web/api/alarm.ts";
import { put } from "../api.ts";
import { alarmCounts, alarmEmphasis, alarmState, concernedText, whyNotAcknowledged } from "../fleet/words.ts";
import { alarmManualAddress, robotAddress } from "../route.ts";
import { alarmTexts, say, word } from "../texts/texts.ts";
import { usePage } from "./context.ts";
import { Ago, Empty, Icon, Link, Says, TimeZone, Word } from "./parts.tsx";
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
          <h1>{say("rail.alarms")}</h1>
          <TimeZone />
        </div>
        {/* Of those that are not listed nothing is known but their number. */}
        {count > 0 && count === alarms.length && (
          <p>{say("alarms.summary", { counts: alarmCounts(alarms) })}</p>
        )}
      </div>
      {count === 0 && (
        <Empty icon="check" title={say("alarms.none")}>
          <p>{say("alarms.noneText")}</p>
        </Empty>
      )}
      {count > alarms.length && (
        <p class="warning">{say("alarms.many", { all: count, listed: alarms.length })}</p>
      )}
      {open.length > 0 && <OpenAlarms alarms={open} />}
      {seen.length > 0 && <AlarmList title={say("alarms.seen")} alarms={seen} />}
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
            {isAll ? say("alarms.chooseNone") : say("alarms.chooseAll", { count: mine.length })}
          </button>
          <button
            type="button"
            disabled={marked.length === 0}
            onClick={() =>
              begin({
                label: say("alarms.acknowledge"),
                concerns: say("alarms.number", { count: marked.length }),
                effect: say("alarms.effect"),
                robotId: null,
                send: () => void send(),
              })
            }
          >
            <Icon name="check" />
            {marked.length === 0
              ? say("commanding.first", { label: say("alarms.acknowledge") })
              : say("alarms.acknowledgeMany", { count: marked.length })}
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
        title={say("alarms.open")}
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
  const { cause, advice, robots } = alarmTexts(alarm);
  return (
    <li class={`alert ${alarmEmphasis(alarm)}`}>
      <div class="heading">
        <span class="line-up">
          {choice !== undefined && whyNot(alarm) === null && (
            <label class="tick">
              <input
                type="checkbox"
                aria-label={say("alarms.choose", {
                  alarm: word(alarm.code),
                  subject: alarm.robot_id ?? alarm.station ?? say("alarms.ofGateway"),
                })}
                checked={choice.chosen.has(alarm.id)}
                onChange={() => choice.toggle(alarm.id)}
              />
            </label>
          )}
          <Word word={word(alarm.priority)} emphasis={alarmEmphasis(alarm)} />
          <strong>{word(alarm.code)}</strong>
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
        {alarm.occurrences > 1
          ? say("alarms.times", { text: alarm.text, count: alarm.occurrences })
          : alarm.text}
        <Concerned alarm={alarm} />
      </p>
      {alarm.comment !== null && alarm.commented_by !== null && (
        <p>{say("alarms.comment", { comment: alarm.comment, user: alarm.commented_by })}</p>
      )}
      <p>{say("alarms.robots", { robots })}</p>
      <p>
        <Says of="alarms.toDo" heading={<strong>{say("alarms.whatToDo")}</strong>} advice={advice} />{" "}
        <small>{say("alarms.cause", { cause })}</small>{" "}
        <a href={alarmManualAddress(alarm.code)}>
          {say("manual.more")}
          <span class="unseen"> {word(alarm.code)}</span>
        </a>
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
  return "problem" in answer ? say("alarms.failed", { problem: answer.problem }) : "";
}

/** An acknowledged alarm shows that itself; this shows only why it is not acknowledged. */
function Acknowledge({ alarm }: { readonly alarm: AlarmView }) {
  const { id, code } = alarm;
  const problem = useSignal("");
  const { whyNot } = useWhyNot();
  const reason = whyNot(alarm);
  if (reason !== null) return <small> {say("alarms.whyNot", { reason })}</small>;
  const acknowledge = async () => {
    problem.value = await acknowledged(id);
  };
  return (
    <>
      {" "}
      <button type="button" onClick={() => void acknowledge()}>
        {say("alarms.acknowledge")}
        <span class="unseen"> {word(code)}</span>
      </button>
      {problem.value !== "" && <span role="status"> {problem.value}</span>}
    </>
  );
}

function Subject({ alarm }: { readonly alarm: AlarmView }) {
  if (alarm.robot_id !== undefined) return <Link to={robotAddress(alarm.robot_id)}>{alarm.robot_id}</Link>;
  return <>{alarm.station ?? say("alarms.gateway")}</>;
}

function State({ alarm }: { readonly alarm: AlarmView }) {
  const { acknowledged_by: by, acknowledged_at: at, returned_at: returned } = alarm;
  const seen =
    by === null ? (
      alarmState(alarm)
    ) : (
      <Says of="alarms.seenBy" state={alarmState(alarm)} user={by} ago={<Ago iso={at} />} />
    );
  return (
    <small>
      {returned === null ? seen : <Says of="alarms.returnedAt" state={seen} ago={<Ago iso={returned} />} />}
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
  return text === "" ? null : <> {say("alarms.about", { text })}</>;
}
