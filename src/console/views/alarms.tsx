import { useSignal } from "@preact/signals";
import type { AlarmView } from "../../models/alarm.ts";
import type { Acknowledgement } from "../../northbound/web/api/alarm.ts";
import { put } from "../api.ts";
import { alarmCounts, alarmState, concernedText, sentence, whyNotAcknowledged } from "../fleet/words.ts";
import type { Emphasis } from "../floor/scene.ts";
import { robotAddress } from "../route.ts";
import { usePage } from "./context.ts";
import { Link, Table, Time, Word } from "./parts.tsx";

/** All alarms. */
export function Alarms() {
  const { store } = usePage();
  const listed = store.fleet.value?.alarms ?? { count: 0, alarms: [] };
  const { count, alarms } = listed;
  return (
    <>
      <h1>Alarms</h1>
      {count === 0 && <p>No alarm stands.</p>}
      {count > alarms.length && (
        <p>
          {count} alarms stand. The {alarms.length} most urgent are listed.
        </p>
      )}
      {count > 0 && <p>{alarmCounts(alarms)}.</p>}
      {count > 0 && <AlarmTable caption="Alarms that stand, the most urgent first" alarms={alarms} />}
    </>
  );
}

/** Alarms with their advice. */
export function AlarmTable({
  caption,
  alarms,
}: {
  readonly caption: string;
  readonly alarms: readonly AlarmView[];
}) {
  return (
    <Table caption={caption} columns={["Priority", "Alarm", "State", "Of", "Since", "What to do"]}>
      {alarms.map((alarm) => (
        <tr key={alarm.id}>
          <td>
            <Word word={alarm.priority} emphasis={emphasisOf(alarm)} />
          </td>
          <td>
            <strong>{sentence(alarm.code)}</strong>
            <br />
            {alarm.text}
            {alarm.occurrences > 1 && ` (${alarm.occurrences} times)`}
            <Concerned alarm={alarm} />
          </td>
          <td>
            <State alarm={alarm} />
            {alarm.acknowledged_by === null && <Acknowledge alarm={alarm} />}
          </td>
          <td>
            <Subject alarm={alarm} />
          </td>
          <td>
            <Time iso={alarm.since} isDated />
          </td>
          <td>
            {alarm.advice} <small>Usual cause: {alarm.cause}.</small>
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** An acknowledged alarm shows that itself; this shows only why it is not acknowledged. */
function Acknowledge({ alarm }: { readonly alarm: AlarmView }) {
  const { id, code } = alarm;
  const { session } = usePage();
  const problem = useSignal("");
  const acknowledge = async () => {
    const answer = await put<Acknowledgement>(`/alarms/${encodeURIComponent(id)}/acknowledgement`);
    problem.value = "problem" in answer ? `not acknowledged: ${answer.problem}` : "";
  };
  const user = session.value;
  const whyNot = user.state === "user" ? whyNotAcknowledged(alarm, user) : null;
  if (whyNot !== null) return <small> ({whyNot})</small>;
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

function emphasisOf({ active, priority }: AlarmView): Emphasis {
  if (!active) return "normal";
  return priority === "urgent" || priority === "high" ? "alarm" : "abnormal";
}

function State({ alarm }: { readonly alarm: AlarmView }) {
  const { acknowledged_by: by, acknowledged_at: at, returned_at: returned } = alarm;
  return (
    <>
      <Word {...alarmState(alarm)} />
      {by !== null && (
        <>
          {" "}
          by {by} at <Time iso={at} isDated />
        </>
      )}
      {returned !== null && (
        <>
          {" "}
          (returned at <Time iso={returned} isDated />)
        </>
      )}
    </>
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
