import { useSignal } from "@preact/signals";
import type { AlarmView } from "../../models/alarm.ts";
import {
  type AlarmGroup,
  alarmEmphasis,
  concernedText,
  groupCount,
  groupNames,
  groupsOf,
  subjectName,
  worstOf,
} from "../fleet/alarms.ts";
import { alarmManualAddress, robotAddress } from "../route.ts";
import { say, word } from "../texts/texts.ts";
import { Handling, useWhyNot } from "./alarm-handling.tsx";
import { useAlarmTexts } from "./alarm-texts.ts";
import { usePage } from "./context.ts";
import { Ago, Link, Says, Word } from "./parts.tsx";
import { useSecondStep } from "./second-step.tsx";

/** Which alarms are chosen, to acknowledge them at once. */
interface Choice {
  readonly chosen: ReadonlySet<string>;
  readonly choose: (ids: readonly string[], isChosen: boolean) => void;
}

/** Alarms with their usual cause and advice. Several of one code are one card. */
export function AlarmList(props: {
  readonly title: string;
  readonly alarms: readonly AlarmView[];
  readonly choice?: Choice;
  /** Absent: a group cannot be acknowledged as one. */
  readonly acknowledgeGroup?: (group: AlarmGroup) => void;
}) {
  const { title, alarms, choice, acknowledgeGroup } = props;
  return (
    <section class="stack" aria-label={title}>
      <h2>{title}</h2>
      <ul class="alarms">
        {groupsOf(alarms).map((group) =>
          group.length === 1 ? (
            <Alarm key={group[0].id} alarm={group[0]} choice={choice} />
          ) : (
            <Group key={group[0].code} group={group} choice={choice} acknowledge={acknowledgeGroup} />
          ),
        )}
      </ul>
    </section>
  );
}

/** Alarms of one code as one card; a press shows each of them. */
function Group(props: {
  readonly group: AlarmGroup;
  readonly choice: Choice | undefined;
  readonly acknowledge: ((group: AlarmGroup) => void) | undefined;
}) {
  const { group, choice, acknowledge } = props;
  const isOpen = useSignal(false);
  const { whyNot } = useWhyNot();
  const worst = worstOf(group);
  const [first, ...others] = group.filter((alarm) => whyNot(alarm) === null);
  const returned = group.filter(({ active }) => !active).length;
  return (
    <li class={`alert ${alarmEmphasis(worst)}`}>
      <div class="heading">
        <span class="line-up">
          <Tick alarms={group} subject={groupCount(group)} choice={choice} />
          <Word word={word(worst.priority)} emphasis={alarmEmphasis(worst)} />
          <strong>{word(worst.code)}</strong>
          <span>{groupCount(group)}</span>
        </span>
        <span class="line-up">
          <button
            type="button"
            aria-expanded={isOpen.value}
            onClick={() => {
              isOpen.value = !isOpen.peek();
            }}
          >
            {say(isOpen.value ? "alarms.hideEach" : "alarms.showEach")}
            <span class="unseen"> {word(worst.code)}</span>
          </button>
          {acknowledge !== undefined && first !== undefined && (
            <button type="button" onClick={() => acknowledge([first, ...others])}>
              {say("alarms.acknowledgeMany", { count: others.length + 1 })}
              <span class="unseen"> {word(worst.code)}</span>
            </button>
          )}
        </span>
      </div>
      <p>
        {groupNames(group)}
        {returned > 0 && <> {say("alarms.groupReturned", { count: returned })}</>}
      </p>
      <Advice alarm={worst} />
      {isOpen.value && (
        <ul class="each">
          {group.map((alarm) => (
            <li key={alarm.id} class="stack">
              <div class="heading">
                <span class="line-up">
                  <Subject alarm={alarm} />
                  <Since alarm={alarm} />
                </span>
                <Handling alarm={alarm} />
              </div>
              <Found alarm={alarm} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Chooses all of these alarms that the user may acknowledge. */
function Tick(props: {
  readonly alarms: AlarmGroup;
  readonly subject: string;
  readonly choice: Choice | undefined;
}) {
  const { alarms, subject, choice } = props;
  const { whyNot } = useWhyNot();
  const ids = alarms.filter((alarm) => whyNot(alarm) === null).map(({ id }) => id);
  if (choice === undefined || ids.length === 0) return null;
  return (
    <label class="tick">
      <input
        type="checkbox"
        aria-label={say("alarms.choose", { alarm: word(alarms[0].code), subject })}
        checked={ids.every((id) => choice.chosen.has(id))}
        onChange={({ currentTarget }) => choice.choose(ids, currentTarget.checked)}
      />
    </label>
  );
}

function Alarm({ alarm, choice }: { readonly alarm: AlarmView; readonly choice: Choice | undefined }) {
  const { begin, step } = useSecondStep();
  return (
    <li class={`alert ${alarmEmphasis(alarm)}`}>
      <div class="heading">
        <span class="line-up">
          <Tick alarms={[alarm]} subject={subjectName(alarm)} choice={choice} />
          <Word word={word(alarm.priority)} emphasis={alarmEmphasis(alarm)} />
          <strong>{word(alarm.code)}</strong>
          <Subject alarm={alarm} />
          <Since alarm={alarm} />
        </span>
        <Handling alarm={alarm} begin={begin} />
      </div>
      {step}
      <Found alarm={alarm} />
      <Advice alarm={alarm} />
    </li>
  );
}

function Since({ alarm }: { readonly alarm: AlarmView }) {
  return (
    <small>
      <Ago iso={alarm.since} />
    </small>
  );
}

/** What the gateway has found, and what somebody has written about it. */
function Found({ alarm }: { readonly alarm: AlarmView }) {
  const { active, occurrences, comment, commented_by: user } = alarm;
  // What it says of now was true until it returned.
  const text = active ? alarm.text : say("alarms.last", { text: alarm.text });
  return (
    <>
      <p>
        {occurrences > 1 ? say("alarms.times", { text, count: occurrences }) : text}
        <Concerned alarm={alarm} />
      </p>
      {comment !== null && user !== null && <p>{say("alarms.comment", { comment, user })}</p>}
    </>
  );
}

/** What robots do meanwhile, what to do, and the usual cause. */
function Advice({ alarm }: { readonly alarm: AlarmView }) {
  const texts = useAlarmTexts(alarm);
  if (texts === null) return null;
  const { cause, advice, robots } = texts;
  return (
    <>
      {alarm.active && <p>{say("alarms.robots", { robots })}</p>}
      <p>
        <Says of="alarms.toDo" heading={<strong>{say("alarms.whatToDo")}</strong>} advice={advice} />{" "}
        <small>{say("alarms.cause", { cause })}</small>{" "}
        <a href={alarmManualAddress(alarm.code)}>
          {say("manual.more")}
          <span class="unseen"> {word(alarm.code)}</span>
        </a>
      </p>
    </>
  );
}

function Subject({ alarm }: { readonly alarm: AlarmView }) {
  const name = subjectName(alarm);
  return alarm.robot_id === undefined ? name : <Link to={robotAddress(alarm.robot_id)}>{name}</Link>;
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
