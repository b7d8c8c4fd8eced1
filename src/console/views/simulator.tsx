import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { SimulatedFaultStates } from "../../northbound/web/api/simulator.ts";
import { type Answer, get, put } from "../api.ts";
import { robotAddress } from "../route.ts";
import { type FaultRow, faultRows } from "../simulator/faults.ts";
import { say } from "../texts/texts.ts";
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
    const label = say(`fault.${fault.name}`);
    const name = robotId === null ? label : say("simulator.ofRobot", { fault: label, robot: robotId });
    said.value =
      "problem" in answer ? "" : say(isActive ? "simulator.begun" : "simulator.ended", { fault: name });
    take(answer);
  };
  return (
    <>
      <h1>{say("rail.simulator")}</h1>
      <p class="first">{say("simulator.text")}</p>
      <p>{say("simulator.lasts")}</p>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          {say("log.robot")}{" "}
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
      {problem.value !== "" && <p class="warning">{say("simulator.problem", { problem: problem.value })}</p>}
      {received.value === null ? (
        <p>{say("simulator.notKnown")}</p>
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
      caption={say("simulator.faults")}
      isNamed
      columns={[
        say("simulator.fault"),
        { name: say("tags.ofWhat"), class: "fixed" },
        say("log.state"),
        say("simulator.switch"),
        { name: say("simulator.does"), class: "wide" },
        { name: say("simulator.look"), class: "wide" },
      ]}
      rows={faultRows(received.states.active, chosenId).map((row) => ({
        key: row.key,
        cells: [
          say(`fault.${row.fault.name}`),
          row.robotId === null ? (
            say("simulator.service")
          ) : (
            <Link to={robotAddress(row.robotId)}>{row.robotId}</Link>
          ),
          <State row={row} receivedAt={received.receivedAt} />,
          <button type="button" onClick={() => void change(row)}>
            {say(row.active === null ? "simulator.begin" : "simulator.end")}
            <span class="unseen">
              {" "}
              {say(`fault.${row.fault.name}`)} {row.robotId}
            </span>
          </button>,
          say(`fault.${row.fault.name}Does`),
          say(`fault.${row.fault.name}Look`),
        ],
      }))}
    />
  );
}

function State({ row: { active }, receivedAt }: { readonly row: FaultRow; readonly receivedAt: Moment }) {
  const { store } = usePage();
  if (active === null) return <Word word={say("simulator.off")} emphasis="normal" />;
  const { active_for_ms: forMs } = active;
  const lasts =
    forMs === null
      ? say("simulator.elsewhere")
      : say("simulator.active", {
          age: ageText(ageMs({ ageWhenSentMs: forMs, receivedAt }, store.now.value), "age.daysAgo"),
        });
  return <Word word={lasts} emphasis="abnormal" />;
}
