import { useLayoutEffect, useRef } from "preact/hooks";
import type { AlarmView } from "../../models/alarm.ts";
import { alarmEmphasis } from "../fleet/alarms.ts";
import type { KnownRobot } from "../fleet/fleet.ts";
import { wordOf } from "../fleet/words.ts";
import { robotAddress } from "../route.ts";
import { say, word } from "../texts/texts.ts";
import { useAlarmTexts } from "./alarm-texts.ts";
import { Commanding } from "./commanding.tsx";
import { usePage } from "./context.ts";
import { FirstLine } from "./first-line.tsx";
import type { Press } from "./go-to.tsx";
import { Icon, Link, Word } from "./parts.tsx";
import { MainFacts } from "./robot-facts.tsx";
import { takeFocus } from "./take-focus.ts";

/** The robot that is chosen on the floor: why it stands, what it has to do, and what can be done. */
export function ChosenRobot(props: {
  readonly known: KnownRobot;
  readonly press: Press;
  /** It was chosen here, and not by the address that was opened. */
  readonly takesFocus: boolean;
  readonly close: () => void;
}) {
  const { store } = usePage();
  const { known, press, takesFocus, close } = props;
  const { robot } = known;
  const silence = store.silence.value;
  const area = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => (takesFocus ? takeFocus(area.current, heading.current) : undefined), []);
  const active = robot.alarms.filter((alarm) => alarm.active);
  return (
    <section ref={area} class="chosen-robot" aria-label={say("chosen", { robot: robot.robot_id })}>
      <div class="heading">
        <h2 ref={heading} tabIndex={-1}>
          {robot.robot_id}
        </h2>
        <Word {...wordOf(robot, silence !== null)} />
        <span class="line-up">
          <Link class="button" to={robotAddress(robot.robot_id)}>
            {say("chosen.details")}
            <span class="unseen"> {say("chosen.of", { robot: robot.robot_id })}</span>
          </Link>
          <button type="button" class="quiet icon-only" onClick={close}>
            <Icon name="cancel" />
            <span class="unseen">{say("chosen.close")}</span>
          </button>
        </span>
      </div>
      <FirstLine known={known} />
      <MainFacts known={known} silence={silence} />
      {active.map((alarm) => (
        <ActiveAlarm key={alarm.id} alarm={alarm} />
      ))}
      <Commanding known={known} press={press} />
    </section>
  );
}

function ActiveAlarm({ alarm }: { readonly alarm: AlarmView }) {
  const texts = useAlarmTexts(alarm);
  return (
    <div class={`alert ${alarmEmphasis(alarm)}`}>
      <strong>{say("alarm.text", { name: word(alarm.code), text: alarm.text })}</strong>
      {texts !== null && (
        <>
          <span>{texts.advice}</span>
          <small>{say("alarms.robots", { robots: texts.robots })}</small>
        </>
      )}
    </div>
  );
}
