import { useSignal } from "@preact/signals";
import type { Station } from "../../northbound/web/api/floor.ts";
import type { EndedLease } from "../../northbound/web/api/robot.ts";
import { remove } from "../api.ts";
import { stationEmphasis } from "../fleet/alarms.ts";
import { byName } from "../fleet/list.ts";
import {
  conveyorsText,
  isSaidEmpty,
  nobodyComesText,
  nobodyHereText,
  stepText,
} from "../fleet/station-words.ts";
import { doubted } from "../fleet/words.ts";
import { robotAddress, stationTagsAddress } from "../route.ts";
import { numberText, say, word } from "../texts/texts.ts";
import { usePage } from "./context.ts";
import { Ago, Empty, Icon, Link, Says, Time, Word } from "./parts.tsx";
import { useSecondStep } from "./second-step.tsx";

/** The stations of the plant: who is there, who comes, and who has a robot leased. */
export function Stations() {
  const { store } = usePage();
  const stations = [...(store.fleet.value?.stations.values() ?? [])];
  stations.sort((a, b) => byName(a.station, b.station));
  return (
    <>
      <h1>{say("rail.stations")}</h1>
      {stations.length === 0 ? (
        <Empty icon="stations" title={say("stations.none")}>
          <p>
            <Says of="stations.noneText" setting={<span class="id">stations</span>} />
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
                word={say("alarms.number", { count: alarms })}
                emphasis={stationEmphasis(station, store.fleet.value?.alarms.alarms ?? [])}
              />
            </Link>
          )}
          <Word
            word={isSilent ? say("reason.last", { word: word(quality) }) : word(quality)}
            emphasis={quality === "good" ? "normal" : "abnormal"}
          />
        </span>
      </div>
      <p class="first">
        {isSilent && state.valid ? say("stations.silent", { step: stepText(station) }) : stepText(station)}
      </p>
      <dl class={isSilent ? "facts unconfirmed" : "facts"}>
        {!isSaidEmpty(station, isSilent) && (
          <>
            <dt>{say("stations.here")}</dt>
            <dd>
              <Here station={station} isSilent={isSilent} />
            </dd>
          </>
        )}
        <dt>{say("stations.next")}</dt>
        <dd>
          <Next station={station} isSilent={isSilent} />
        </dd>
        <dt>{say("stations.conveyors")}</dt>
        <dd>{conveyorsText(station, isSilent)}</dd>
        <dt>{say("stations.permit")}</dt>
        <dd>{permitText(permit)}</dd>
        <dt>{say("stations.cycles")}</dt>
        <dd>
          <Says
            of="stations.cyclesOf"
            cycles={counters.cycles}
            aborted={counters.aborted}
            ago={<Time iso={counters.since} isDated />}
          />
        </dd>
        <dt>{say("stations.lastCycle")}</dt>
        <dd>
          {counters.cycles === 0
            ? say("stations.noCycle")
            : say("stations.cycleOf", {
                cycle: numberText(counters.cycle_last_s),
                waiting: numberText(counters.waiting_last_s),
              })}
        </dd>
        <dt>{say("facts.tags")}</dt>
        <dd>
          <Link to={stationTagsAddress(name)}>{say("facts.allTags", { of: name })}</Link>
        </dd>
      </dl>
      <Leases station={station} />
    </section>
  );
}

interface SeenProps {
  readonly station: Station;
  readonly isSilent: boolean;
}

function Here({ station, isSilent }: SeenProps) {
  const { robot_here: here, robots_here: count } = station.state;
  if (here === null) return <>{nobodyHereText(station, isSilent)}</>;
  const link = <Link to={robotAddress(here)}>{here}</Link>;
  const robot = count > 1 ? <Says of="stations.more" robot={link} count={count - 1} /> : link;
  return isSilent ? <Says of="reason.last" word={robot} /> : robot;
}

function Next({ station, isSilent }: SeenProps) {
  const { next_robot: next, next_robot_goals_before: goals, next_robot_quality: quality } = station.state;
  if (next === null) return <>{nobodyComesText(station, isSilent)}</>;
  const robot = <Link to={robotAddress(next)}>{next}</Link>;
  const shown = (
    <>
      {goals === null && robot}
      {goals === 0 && <Says of="stations.straight" robot={robot} />}
      {goals !== null && goals > 0 && <Says of="stations.after" robot={robot} count={goals} />}
      {doubted("", quality)}
    </>
  );
  return isSilent ? <Says of="reason.last" word={shown} /> : shown;
}

function permitText({ required, given, reason }: Station["permit"]): string {
  if (!required) return say("stations.noPermit");
  if (given) return say("stations.given");
  return reason === "" ? say("stations.notGiven") : say("stations.notGivenFor", { reason });
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
    if ("value" in answer) problem.value = "";
    else {
      const key = answer.mayBeDone ? "stations.mayBeEnded" : "stations.notEnded";
      problem.value = say(key, { problem: answer.problem });
    }
  };
  if (leases.length === 0) return <p class="muted">{say("stations.noLease")}</p>;
  return (
    <>
      <ul class="alarms">
        {leases.map(({ robot_id: robotId, owner, since }) => (
          <li key={robotId} class="alert">
            <div class="heading">
              <span>
                <Says
                  of="stations.leaseOf"
                  robot={<Link to={robotAddress(robotId)}>{robotId}</Link>}
                  owner={owner}
                  ago={<Ago iso={since} />}
                />
              </span>
              {mayEnd && (
                <button
                  type="button"
                  onClick={() =>
                    begin({
                      label: say("stations.endLease"),
                      effect: say("stations.endEffect", { owner }),
                      robotId,
                      send: () => void end(robotId),
                    })
                  }
                >
                  <Icon name="cancel" />
                  {say("commanding.first", { label: say("stations.endLease") })}
                  <span class="unseen"> {say("stations.endLeaseOf", { robot: robotId })}</span>
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
