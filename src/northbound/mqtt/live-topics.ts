import type { MqttOptions } from "./options.ts";
import { createTopics, type Topics } from "./topics.ts";

type TopicOptions = Pick<MqttOptions, "base" | "placement">;

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
  let known = { ...options };
  let now = createTopics(known.base, known.placement);
  const topics = {} as Topics;
  for (const name of Object.keys(now) as (keyof Topics)[]) {
    Object.defineProperty(topics, name, { enumerable: true, get: () => now[name] });
  }
  return {
    topics,
    follow() {
      const [before, was] = [known, now];
      known = { ...options };
      if (topicRules(before) === topicRules(known)) return { isMoved: false, left: [] };
      now = createTopics(known.base, known.placement);
      const names = new Set(known.placement.stations.map(({ name }) => name));
      const gone = before.placement.stations.filter(({ name }) => !names.has(name));
      return {
        isMoved: usedRules(before, known) !== usedRules(known, before),
        left: gone.flatMap(({ name }) => [was.station(name), was.stationAlarms(name)]),
      };
    },
  };
}

/** All that decides on topics, as a text. */
export function topicRules({ base, placement }: TopicOptions): string {
  const { robot, station, stations } = placement;
  return JSON.stringify([base, robot, station, stations, aliasesOf(placement)]);
}

/** What decides on the topics of robots and stations that both have. */
function usedRules(options: TopicOptions, other: TopicOptions): string {
  const names = new Set(other.placement.stations.map(({ name }) => name));
  const stations = options.placement.stations.filter(({ name }) => names.has(name));
  const ids = new Set(other.placement.robots.map(({ robotId }) => robotId));
  const robots = options.placement.robots.filter(({ robotId }) => ids.has(robotId));
  const places = options.placement.station?.includes("{place}") === true ? stations : [];
  return topicRules({ ...options, placement: { ...options.placement, stations: places, robots } });
}

/** Only where they are in topics. */
function aliasesOf({ robot, robots }: TopicOptions["placement"]) {
  return robot?.includes("{alias}") === true ? robots.filter(({ alias }) => alias !== null) : [];
}
