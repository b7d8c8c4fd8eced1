import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { SimulatedFaultStates } from "../../northbound/web/api/simulator.ts";
import { type Answer, get, put } from "../api.ts";
import { robotAddress } from "../route.ts";
import { type FaultRow, faultRows } from "../simulator/faults.ts";
import { ageMs, ageText, type Moment } from "../trust/time-text.ts";
import { usePage } from "./context.ts";
import { Link, Table, Word } from "./parts.tsx";

/** As often as the gateway's own ticks. */
const LOOK_MS = 1_000;

/** The present faults, and when the gateway reported them; null: it has not yet. */
interface Received {
  readonly states: SimulatedFaultStates;
  readonly receivedAt: Moment;
}

/** The faults of the simulated fleet service. */
export function Simulator() {
  const { store, now } = usePage();
  const received = useSignal<Received | null>(null);
  const problem = useSignal("");
  const said = useSignal("");
  const chosen = useSignal("");

  const take = (answer: Answer<SimulatedFaultStates>) => {
    problem.value = "problem" in answer ? answer.problem : "";
    if ("value" in answer) received.value = { states: answer.value, receivedAt: now() };
  };
  useEffect(() => {
    const over = new AbortController();
    const look = async () => {
      const answer = await get<SimulatedFaultStates>("/simulator/faults", over.signal);
      if (!over.signal.aborted) take(answer);
    };
    void look();
    const timer = setInterval(() => {
      if (!document.hidden) void look();
    }, LOOK_MS);
    return () => {
      clearInterval(timer);
      over.abort();
    };
  }, []);

  const robotIds = store.listing.value?.names ?? [];
  const chosenId = robotIds.includes(chosen.value) ? chosen.value : (robotIds[0] ?? null);
  const change = async ({ fault, robotId, active }: FaultRow) => {
    const isActive = active === null;
    const body = { active: isActive, ...(robotId === null ? {} : { robot_id: robotId }) };
    const answer = await put<SimulatedFaultStates>(`/simulator/faults/${fault.name}`, body);
    const name = robotId === null ? fault.label : `${fault.label}: ${robotId}`;
    said.value = "problem" in answer ? "" : `${name} – ${isActive ? "begun" : "ended"}.`;
    take(answer);
  };
  return (
    <>
      <h1>Simulator</h1>
      <p class="first">
        These are faults of the simulated fleet service of this demo. Nothing is wrong with the gateway, and
        no real robot is concerned.
      </p>
      <p>A fault lasts until you end it, or the demo ends. Watch what the other views make of it.</p>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Robot{" "}
          <select
            value={chosenId ?? ""}
            onChange={(event) => {
              chosen.value = event.currentTarget.value;
            }}
          >
            {robotIds.map((robotId) => (
              <option key={robotId} value={robotId}>
                {robotId}
              </option>
            ))}
          </select>
        </label>
      </form>
      <p class="says" role="status">
        {said.value}
      </p>
      {problem.value !== "" && <p class="warning">◆ The simulator does not answer: {problem.value}.</p>}
      {received.value === null ? (
        <p>Its faults are not known yet.</p>
      ) : (
        <FaultTable received={received.value} chosenId={chosenId} change={change} />
      )}
    </>
  );
}

function FaultTable(props: {
  readonly received: Received;
  readonly chosenId: string | null;
  readonly change: (row: FaultRow) => Promise<void>;
}) {
  const { received, chosenId, change } = props;
  return (
    <Table
      caption="Faults of the simulated service"
      isNamed
      columns={[
        "Fault",
        "Of",
        "State",
        "Switch",
        { name: "What it does", class: "wide" },
        { name: "Where to look", class: "wide" },
      ]}
      rows={faultRows(received.states.active, chosenId).map((row) => ({
        key: row.key,
        cells: [
          row.fault.label,
          row.robotId === null ? "the service" : <Link to={robotAddress(row.robotId)}>{row.robotId}</Link>,
          <State row={row} receivedAt={received.receivedAt} />,
          <button type="button" onClick={() => void change(row)}>
            {row.active === null ? "Begin" : "End"}
            <span class="unseen">
              {" "}
              {row.fault.label} {row.robotId}
            </span>
          </button>,
          row.fault.does,
          row.fault.look,
        ],
      }))}
    />
  );
}

function State({ row: { active }, receivedAt }: { readonly row: FaultRow; readonly receivedAt: Moment }) {
  const { store } = usePage();
  if (active === null) return <Word word="off" emphasis="normal" />;
  const { active_for_ms: forMs } = active;
  const lasts =
    forMs === null
      ? "did not begin here"
      : `for ${ageText(ageMs({ ageWhenSentMs: forMs, receivedAt }, store.now.value))}`;
  return <Word word={`active, ${lasts}`} emphasis="abnormal" />;
}
