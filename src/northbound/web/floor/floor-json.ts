import type { PlaceAges } from "../../../contracts/fleet-view.ts";
import type { Permits, Stations } from "../../../contracts/stations.ts";
import { holderName } from "../../../domain/hold.ts";
import { amrExceptionOf, isException } from "../../../domain/idle-reason.ts";
import { currentTask, waitsForConfirmation } from "../../../domain/mission.ts";
import { type Observed, type Stamp, sourceTimeOf } from "../../../domain/observed.ts";
import { type Conveyor, coordinateOf, type Presence, type RobotId } from "../../../domain/robot.ts";
import { alarmOf } from "../../../models/alarm.ts";
import { isoTime, jsonTime, timeText } from "../../../models/json-text.ts";
import {
  batteryOf,
  batteryText,
  conveyorOf,
  holdOf,
  missionOf,
  missionText,
  type TaskChainState,
} from "../../../models/robot.ts";
import { stationOf } from "../../../models/station.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Station } from "../api/floor.ts";
import type { Robot } from "../api/robot.ts";
import type { StationFacts } from "./floor.ts";
import type { Ages, RobotFacts, RobotKey } from "./robot-facts.ts";

/** Makes the JSON of a robot's keys. */
export interface RobotWriter {
  /** As text: a thousand robots change often, and to parse their text again would take half of the time. */
  keyText(facts: RobotFacts, key: RobotKey): string;
  whole(facts: RobotFacts): Robot;
}

export function createRobotWriter({
  ages,
  places,
  stations,
  clock,
}: {
  readonly ages: Ages;
  readonly places: Pick<PlaceAges, "placeAge">;
  readonly stations: Pick<Stations, "leaseOf">;
  readonly clock: Pick<Clock, "monotonicMs">;
}): RobotWriter {
  function aged<T, State>(observed: Observed<T>, stateOf: (value: T, stamp: Stamp) => State) {
    const { value, stamp, quality } = observed;
    return {
      quality,
      received_at: isoTime(stamp.receivedAtMs),
      age_ms: ages.of(stamp),
      source_time: isoTime(sourceTimeOf(stamp)),
      state: isShown(observed) ? stateOf(value, stamp) : null,
    };
  }

  /** The same as text. */
  function agedText<T>(
    observed: Observed<T> | undefined,
    stateOf: (value: T, stamp: Stamp) => string,
  ): string {
    if (observed === undefined) return "null";
    const { value, stamp, quality } = observed;
    const state = isShown(observed) ? stateOf(value, stamp) : "null";
    const sourceTime = sourceTimeOf(stamp);
    const source = sourceTime === null ? "null" : jsonTime(sourceTime);
    return `{"quality":"${quality}","received_at":${jsonTime(stamp.receivedAtMs)},"age_ms":${ages.of(stamp)},"source_time":${source},"state":${state}}`;
  }

  function place({ robotId, presence }: RobotFacts): Robot["place"] {
    if (presence === undefined) return null;
    const { value, stamp, quality } = presence;
    const age = places.placeAge(robotId);
    return {
      quality,
      amr_id: value.amrId,
      map_id: value.mapId,
      map_name: textIn(value, "map_name"),
      point: value.position,
      x: coordinateOf(value, "x"),
      y: coordinateOf(value, "y"),
      theta: coordinateOf(value, "theta"),
      received_at: timeText(stamp.receivedAtMs),
      age_ms: age === null ? ages.of(stamp) : Math.round(age.ageMs),
      listed: age?.isListed ?? false,
      unfinished_points: unfinishedPoints(value),
    };
  }

  function taskChain({ chain, presence }: RobotFacts): Robot["task_chain"] {
    if (chain === undefined) return null;
    const shown = aged(chain, ({ info }) => info as TaskChainState);
    const current = shown.state === null ? null : currentTask(chain.value);
    return {
      ...shown,
      current_task_index: current?.index ?? null,
      waits_for_confirmation: waitsForConfirmation(current, presence?.value.position ?? ""),
    };
  }

  function lease({ robotId }: RobotFacts): Robot["lease"] {
    const found = stations.leaseOf(robotId);
    if (found === null) return null;
    return { station: found.station, owner: holderName(found.owner), since: timeText(found.sinceMs) };
  }

  const writers: { readonly [Key in RobotKey]: (facts: RobotFacts) => Robot[Key] } = {
    family: ({ family }) => family,
    quality: ({ quality }) => quality,
    out_of_service: ({ isOutOfService }) => isOutOfService,
    idle: ({ idle: { reason, text, isNotReady }, standsSince }) => ({
      reason,
      text,
      since: timeText(standsSince.atMs),
      for_ms: Math.max(0, Math.round(clock.monotonicMs() - standsSince.monotonicMs)),
      not_ready: isNotReady,
    }),
    place,
    mission: ({ missions }) => (missions === undefined ? null : aged(missions, missionOf)),
    battery: ({ battery }) => (battery === undefined ? null : aged(battery, batteryOf)),
    task_chain: taskChain,
    conveyors: ({ conveyors }) =>
      listed([...conveyors.values()]).map((each) => ({
        index: each.value.index,
        ...aged(each, conveyorOf),
      })),
    exception,
    lease,
    hold: ({ hold }) => holdOf(hold),
    alarms: ({ alarms }) => alarms.map(alarmOf),
  };

  const texts: { readonly [Key in RobotKey]?: (facts: RobotFacts) => string } = {
    mission: ({ missions }) => agedText(missions, missionText),
    battery: ({ battery }) => agedText(battery, batteryText),
  };

  return {
    keyText: (facts, key) => texts[key]?.(facts) ?? JSON.stringify(writers[key](facts)),
    whole: (facts) => {
      const robot: Record<string, unknown> = { robot_id: facts.robotId };
      for (const [key, write] of Object.entries(writers)) robot[key] = write(facts);
      return robot as unknown as Robot;
    },
  };
}

/** Of a lost value nothing is shown. */
function isShown({ quality }: Observed<unknown>): boolean {
  return quality !== "lost" && quality !== "unknown";
}

function listed(conveyors: readonly Observed<Conveyor>[]): readonly Observed<Conveyor>[] {
  return conveyors.filter(({ isGone }) => isGone !== true).sort((a, b) => a.value.index - b.value.index);
}

function exception({ presence }: RobotFacts): Robot["exception"] {
  if (presence?.quality !== "good") return null;
  const found = amrExceptionOf(presence.value);
  if (!isException(found)) return null;
  return { texts: found.exception, codes: found.exceptionCodes, level: found.level };
}

function textIn({ info }: Presence, name: string): string {
  const value = info[name];
  return typeof value === "string" ? value : "";
}

/**
 * The elements of the list are not documented: a text, or an object with a `code`, counts as the code of a
 * point.
 */
function unfinishedPoints({ info }: Presence): readonly string[] | null {
  const route = info.un_finish_route;
  if (typeof route !== "object" || route === null) return null;
  const list: unknown = Reflect.get(route, "un_finished_vertexes");
  if (!Array.isArray(list)) return null;
  const codes = list.map((each: unknown) =>
    typeof each === "object" && each !== null ? Reflect.get(each, "code") : each,
  );
  return codes.every((code) => typeof code === "string" && code !== "") ? codes : null;
}

/** Makes the JSON of a station. `robots`: the robots that it may lease. */
export type StationWriter = (name: string, facts: StationFacts, robots: Iterable<RobotId>) => Station;

export function createStationWriter(
  permits: Pick<Permits, "permitOf">,
  stations: Pick<Stations, "leaseOf">,
  clock: Pick<Clock, "nowMs">,
): StationWriter {
  return (name, { shown, alarms }, robots) => {
    const permit = permits.permitOf(name);
    const leases = [...robots].flatMap((robotId) => {
      const lease = stations.leaseOf(robotId);
      if (lease?.station !== name) return [];
      const { owner, sinceMs } = lease;
      const for_ms = Math.max(0, Math.round(clock.nowMs() - sinceMs));
      return [{ robot_id: robotId, owner: holderName(owner), since: timeText(sinceMs), for_ms }];
    });
    return {
      ...stationOf(name, shown),
      permit: { required: permit.isRequired, given: permit.isGiven, reason: permit.reason },
      leases,
      alarms,
    };
  };
}
