import type { Now } from "../../platform/live.ts";
import type { MqttOptions } from "./options.ts";
import { createTopics, type Topics } from "./topics.ts";

type TopicOptions = Pick<MqttOptions, "base" | "placement">;
type TopicValues = Now<TopicOptions>;

/** What another configuration does to the topics of the gateway. */
export interface TopicsMove {
  /** Topics that are in use have moved. */
  readonly isMoved: boolean;
  /** The topics of stations that are gone. */
  readonly left: readonly string[];
}

/** Topics that follow the configuration. */
export interface LiveTopics {
  /** Those of this moment: no part of it is to be kept. */
  readonly topics: Topics;
  /** To be called when the configuration may have others. */
  follow(): TopicsMove;
}

/** @param options whose placement a reload changes */
export function createLiveTopics(options: TopicOptions): LiveTopics {
  let known = valuesOf(options);
  let now = make(known);
  const topics = {} as Topics;
  for (const name of Object.keys(now) as (keyof Topics)[]) {
    Object.defineProperty(topics, name, { enumerable: true, get: () => now[name] });
  }
  return {
    topics,
    follow() {
      const [before, was] = [known, now];
      known = valuesOf(options);
      if (rulesOf(before) === rulesOf(known)) return { isMoved: false, left: [] };
      now = make(known);
      const names = new Set(known.placement.stations.map(({ name }) => name));
      const gone = before.placement.stations.filter(({ name }) => !names.has(name));
      return {
        isMoved: usedRules(before, known) !== usedRules(known, before),
        left: gone.flatMap(({ name }) => [was.station(name), was.stationAlarms(name)]),
      };
    },
  };
}

/** All that decides on topics now, as a text. */
export function topicRules(options: TopicOptions): string {
  return rulesOf(valuesOf(options));
}

function valuesOf({ base, placement }: TopicOptions): TopicValues {
  return { base, placement: placement.now() };
}

function rulesOf({ base, placement }: TopicValues): string {
  const { robot, station, stations } = placement;
  return JSON.stringify([base, robot, station, stations, aliasesOf(placement)]);
}

function make({ base, placement }: TopicValues): Topics {
  return createTopics(base, placement);
}

/** What decides on the topics of robots and stations that both have. */
function usedRules(options: TopicValues, other: TopicValues): string {
  const names = new Set(other.placement.stations.map(({ name }) => name));
  const stations = options.placement.stations.filter(({ name }) => names.has(name));
  const ids = new Set(other.placement.robots.map(({ robotId }) => robotId));
  const robots = options.placement.robots.filter(({ robotId }) => ids.has(robotId));
  const places = options.placement.station?.includes("{place}") === true ? stations : [];
  return rulesOf({ ...options, placement: { ...options.placement, stations: places, robots } });
}

/** Only where they are in topics. */
function aliasesOf({ robot, robots }: TopicValues["placement"]) {
  return robot?.includes("{alias}") === true ? robots.filter(({ alias }) => alias !== null) : [];
}
