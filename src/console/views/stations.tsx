import { useSignal } from "@preact/signals";
import type { AlarmView } from "../../models/alarm.ts";
import type { Station } from "../../northbound/web/api/floor.ts";
import type { EndedLease } from "../../northbound/web/api/hold.ts";
import { remove } from "../api.ts";
import { byName } from "../fleet/list.ts";
import { alarmEmphasis } from "../fleet/words.ts";
import type { Emphasis } from "../floor/scene.ts";
import { robotAddress } from "../route.ts";
import { usePage } from "./context.ts";
import { Icon } from "./icons.tsx";
import { Ago, Empty, Link, Word } from "./parts.tsx";
import { useSecondStep } from "./second-step.tsx";

/** The stations of the plant: who is there, who comes, and who has a robot leased. */
export function Stations() {
  const { store } = usePage();
  const stations = [...(store.fleet.value?.stations.values() ?? [])];
  stations.sort((a, b) => byName(a.station, b.station));
  return (
    <>
      <h1>Stations</h1>
      {stations.length === 0 ? (
        <Empty icon="stations" title="There is no station.">
          <p>
            A station is a place where a machine hands over goods. Section <span class="id">stations</span> of
            the configuration names them.
          </p>
        </Empty>
      ) : (
        <div class="columns even">
          {stations.map((station) => (
            <StationCard key={station.station} station={station} />
          ))}
        </div>
      )}
    </>
  );
}

function StationCard({ station }: { readonly station: Station }) {
  const { store } = usePage();
  const { station: name, quality, state, permit, alarms } = station;
  const { counters } = state;
  const isSilent = store.silence.value !== null;
  return (
    <section class="card" aria-label={name}>
      <div class="heading">
        <h2>{name}</h2>
        <span class="line-up">
          {alarms > 0 && (
            <Link to="/alarms">
              <Word
                word={alarms === 1 ? "1 alarm" : `${alarms} alarms`}
                emphasis={gravest(name, store.fleet.value?.alarms.alarms)}
              />
            </Link>
          )}
          <Word
            word={isSilent ? `last: ${quality}` : quality}
            emphasis={quality === "good" ? "normal" : "abnormal"}
          />
        </span>
      </div>
      <p class="first">
        {isSilent && state.valid && "Nothing known now. Last: "}
        {stepText(station)}
      </p>
      <dl class={isSilent ? "facts unconfirmed" : "facts"}>
        <dt>Here</dt>
        <dd>
          {state.robot_here === null ? (
            "nobody"
          ) : (
            <Link to={robotAddress(state.robot_here)}>{state.robot_here}</Link>
          )}
          {state.robots_here > 1 && ` and ${state.robots_here - 1} more`}
        </dd>
        <dt>Next</dt>
        <dd>
          {state.next_robot === null ? (
            "nobody is known to come"
          ) : (
            <Link to={robotAddress(state.next_robot)}>{state.next_robot}</Link>
          )}
          {state.next_robot !== null && ` ${beforeText(state.next_robot_goals_before)}`}
          {state.next_robot_quality !== "good" && ` (${state.next_robot_quality})`}
        </dd>
        <dt>Conveyors</dt>
        <dd>
          {state.conveyors.length === 0
            ? "none"
            : state.conveyors
                .map(
                  ({ index, loaded, rolling }) =>
                    `${index}: ${loaded ? "loaded" : "empty"}, ${rolling ? "rolls" : "stands"}`,
                )
                .join("; ")}
        </dd>
        <dt>Permit</dt>
        <dd>{permitText(permit)}</dd>
        <dt>Cycles</dt>
        <dd>
          {counters.cycles}, {counters.aborted} aborted, since <Ago iso={counters.since} />
        </dd>
        <dt>Last cycle</dt>
        <dd>
          {counters.cycles === 0
            ? "none yet"
            : `${counters.cycle_last_s.toFixed(0)} s, of which ${counters.waiting_last_s.toFixed(0)} s waiting`}
        </dd>
      </dl>
      <Leases station={station} />
    </section>
  );
}

/** The colour of a station's alarms is that of its gravest one. The least urgent ones may not be listed. */
function gravest(station: string, alarms: readonly AlarmView[] = []): Emphasis {
  const own = alarms.filter((alarm) => alarm.station === station).map(alarmEmphasis);
  if (own.length === 0) return "abnormal";
  return own.find((each) => each === "alarm") ?? own.find((each) => each === "abnormal") ?? "normal";
}

/** The step of the handshake that the station is in. */
function stepText({ state, leases }: Station): string {
  if (!state.valid) return "What is there is not known now.";
  const here = state.robot_here;
  if (here === null) return state.next_robot === null ? "Nobody is there." : `${state.next_robot} comes.`;
  if (!state.arrived) return `${here} is at the place, and has not arrived yet.`;
  if (state.conveyors.some(({ rolling }) => rolling)) return `${here} hands over: its conveyor rolls.`;
  return leases.some((lease) => lease.robot_id === here)
    ? `${here} has arrived, and is leased.`
    : `${here} has arrived. No station has a lease on it.`;
}

function beforeText(goals: number | null): string {
  if (goals === null) return "";
  if (goals === 0) return "comes straight here";
  return goals === 1 ? "after 1 other goal" : `after ${goals} other goals`;
}

function permitText({ required, given, reason }: Station["permit"]): string {
  if (!required) return "none is asked for";
  return given ? "given" : `not given${reason === "" ? "" : `: ${reason}`}`;
}

/** Who has which robot to itself; an engineer can end that. The gateway decides who is one. */
function Leases({ station: { leases } }: { readonly station: Station }) {
  const { session } = usePage();
  const problem = useSignal("");
  const { begin, step } = useSecondStep();
  const user = session.value;
  const mayEnd = user.state === "open" || (user.state === "user" && user.role === "engineer");
  const end = async (robotId: string) => {
    const answer = await remove<EndedLease>(`/robots/${encodeURIComponent(robotId)}/lease`);
    problem.value = "problem" in answer ? `The lease was not ended: ${answer.problem}` : "";
  };
  if (leases.length === 0) return <p class="muted">No lease.</p>;
  return (
    <>
      <ul class="alarms">
        {leases.map(({ robot_id: robotId, owner, since }) => (
          <li key={robotId} class="alert">
            <div class="heading">
              <span>
                <Link to={robotAddress(robotId)}>{robotId}</Link> leased by {owner}, <Ago iso={since} />
              </span>
              {mayEnd && (
                <button
                  type="button"
                  onClick={() =>
                    begin({
                      label: "End lease",
                      effect: `${owner} loses the robot, and is not asked. Others may command it then`,
                      robotId,
                      send: () => void end(robotId),
                    })
                  }
                >
                  <Icon name="cancel" />
                  End lease…<span class="unseen"> of {robotId}</span>
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {step}
      {problem.value !== "" && (
        <p class="wrong" role="status">
          {problem.value}
        </p>
      )}
    </>
  );
}
