import { useSignal } from "@preact/signals";
import type { Acknowledgement, Alarm } from "../../northbound/web/api/alarm.ts";
import { put } from "../api.ts";
import { sentence } from "../fleet/words.ts";
import type { Emphasis } from "../floor/scene.ts";
import { robotAddress } from "../route.ts";
import { Link, Table, Time, Word } from "./parts.tsx";

/** Alarms with what to do about them. */
export function AlarmTable({
  caption,
  alarms,
}: {
  readonly caption: string;
  readonly alarms: readonly Alarm[];
}) {
  return (
    <Table caption={caption} columns={["Priority", "Alarm", "Of", "Since", "State", "What to do"]}>
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
          </td>
          <td>
            <Subject alarm={alarm} />
          </td>
          <td>
            <Time iso={alarm.since} isDated />
          </td>
          <td>
            {stateText(alarm)}
            {alarm.acknowledged_by === null && <Acknowledge alarm={alarm} />}
          </td>
          <td>
            {alarm.advice} <small>Usual cause: {alarm.cause}.</small>
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The alarm itself says when it is acknowledged; here is only why it is not. */
function Acknowledge({ alarm: { id, code } }: { readonly alarm: Alarm }) {
  const problem = useSignal("");
  const acknowledge = async () => {
    const answer = await put<Acknowledgement>(`/alarms/${encodeURIComponent(id)}/acknowledgement`);
    problem.value = "problem" in answer ? `not acknowledged: ${answer.problem}` : "";
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

function Subject({ alarm }: { readonly alarm: Alarm }) {
  if (alarm.robot_id !== undefined) return <Link to={robotAddress(alarm.robot_id)}>{alarm.robot_id}</Link>;
  return <>{alarm.station ?? "the gateway"}</>;
}

function emphasisOf({ active, priority }: Alarm): Emphasis {
  if (!active) return "normal";
  return priority === "urgent" || priority === "high" ? "alarm" : "abnormal";
}

function stateText({ active, acknowledged_by: by }: Alarm): string {
  const state = active ? "active" : "returned";
  return by === null ? `${state}, unacknowledged` : `${state}, acknowledged by ${by}`;
}
