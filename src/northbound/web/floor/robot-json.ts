import type { PlaceAges } from "../../../contracts/fleet-view.ts";
import type { Stations } from "../../../contracts/stations.ts";
import { alarmJson } from "../../../domain/alarm-json.ts";
import { amrExceptionOf, isException } from "../../../domain/amr-exception.ts";
import { codeText } from "../../../domain/coded.ts";
import { holderName } from "../../../domain/hold.ts";
import { type Observed, sourceTimeOf } from "../../../domain/observed.ts";
import { coordinateOf, type Presence } from "../../../domain/presence.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Alarm } from "../api/alarm.ts";
import type { Hold, Robot } from "../api/robot.ts";
import type { Ages } from "./ages.ts";
import { queueJson } from "./mission-json.ts";
import type { RobotFacts, RobotKey } from "./robot-facts.ts";
import { chainJson } from "./task-chain-json.ts";
import { timeText, timeTextOrNull } from "./time-text.ts";

export interface RobotJsonParts {
  readonly ages: Ages;
  readonly places: Pick<PlaceAges, "placeAge">;
  readonly stations: Pick<Stations, "leaseOf">;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Makes the JSON of a robot's keys. */
export interface RobotWriter {
  key<Key extends RobotKey>(facts: RobotFacts, key: Key): Robot[Key];
  whole(facts: RobotFacts): Robot;
}

export function createRobotWriter({ ages, places, stations, clock }: RobotJsonParts): RobotWriter {
  /** A lost value is null. */
  function envelope<T, State>({ value, stamp, quality }: Observed<T>, state: (value: T) => State) {
    const isShown = quality !== "lost" && quality !== "unknown";
    return {
      quality,
      received_at: timeText(stamp.receivedAtMs),
      age_ms: ages.of(stamp),
      source_time: timeTextOrNull(sourceTimeOf(stamp)),
      state: isShown ? state(value) : null,
    };
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

  function lease({ robotId }: RobotFacts): Robot["lease"] {
    const found = stations.leaseOf(robotId);
    if (found === null) return null;
    return { station: found.station, owner: holderName(found.owner), since: timeText(found.sinceMs) };
  }

  const writers: { readonly [Key in RobotKey]: (facts: RobotFacts) => Robot[Key] } = {
    family: ({ family }) => family,
    quality: ({ quality }) => quality,
    out_of_service: ({ isOutOfService }) => isOutOfService,
    standing: ({ standing: { reason, text, isNotReady }, standsSince }) => ({
      reason,
      text,
      since: timeText(standsSince.atMs),
      for_ms: Math.max(0, Math.round(clock.monotonicMs() - standsSince.monotonicMs)),
      not_ready: isNotReady,
    }),
    place,
    missions: ({ missions }) => (missions === undefined ? null : envelope(missions, queueJson)),
    battery: ({ battery }) =>
      battery === undefined
        ? null
        : (envelope(battery, ({ chargePercent, state, chargeMethod }) => ({
            charge_percent: chargePercent,
            state: codeText(state),
            charge_method: codeText(chargeMethod),
          })) as Robot["battery"]),
    task_chain: ({ chain, presence }) =>
      chain === undefined
        ? null
        : envelope(chain, (value) => chainJson(value, presence?.value.position ?? "")),
    conveyors: ({ conveyors }) => conveyorsJson([...conveyors.values()], envelope),
    exception,
    lease,
    hold: ({ hold }) => holdJson(hold),
    alarms: ({ alarms }) => alarms.map((each) => alarmJson(each) as unknown as Alarm),
  };

  return {
    key: (facts, key) => writers[key](facts),
    whole: (facts) => {
      const robot: Record<string, unknown> = { robot_id: facts.robotId };
      for (const [key, write] of Object.entries(writers)) robot[key] = write(facts);
      return robot as unknown as Robot;
    },
  };
}

export function holdJson({ isHeld, by, isStored }: RobotFacts["hold"]): Hold {
  return { held: isHeld, by, stored: isStored };
}

type Envelope = <T, State>(observed: Observed<T>, state: (value: T) => State) => object;

/** A message lists all conveyors: one that an earlier message had, and the last has not, is gone. */
function conveyorsJson(conveyors: readonly RobotConveyor[], envelope: Envelope): Robot["conveyors"] {
  const newestMs = Math.max(...conveyors.map(({ stamp }) => stamp.receivedAtMs));
  return conveyors
    .filter(({ quality, stamp }) => quality !== "lost" || stamp.receivedAtMs === newestMs)
    .sort((a, b) => a.value.index - b.value.index)
    .map((observed) => ({
      index: observed.value.index,
      ...envelope(observed, ({ operation, payload, health, installation }) => ({
        operation_state: codeText(operation),
        payload_state: codeText(payload),
        health_state: codeText(health),
        installation_state: codeText(installation),
      })),
    })) as unknown as Robot["conveyors"];
}

type RobotConveyor = RobotFacts["conveyors"] extends Map<number, infer Each> ? Each : never;

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
