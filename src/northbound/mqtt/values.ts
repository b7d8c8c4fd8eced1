import type { StateChange } from "../../domain/change.ts";
import type { HoldState } from "../../domain/hold.ts";
import type { Observed, Quality } from "../../domain/observed.ts";
import type { VisibleStation } from "../../domain/station-visits.ts";
import type { FleetMap } from "../../domain/update.ts";
import { alarmOf, MOST_ALARMS } from "../../models/alarm.ts";
import { jsonText, jsonTime } from "../../models/json-text.ts";
import { batteryText, conveyorText, holdOf, missionText } from "../../models/robot.ts";
import { stationOf } from "../../models/station.ts";
import type { Mark, PublishState, RemoveTopic } from "./message.ts";
import { createRobotInfos } from "./robot-infos.ts";
import type { TagWriter } from "./tags.ts";
import type { PlacedRobot } from "./topic-templates.ts";
import type { Topics } from "./topics.ts";

/** Publishes state changes on one connection. */
export interface ValueWriter {
  write(change: StateChange): void;
  /** Publishes the combined result of the changes written until now. */
  flush(): void;
  /** Publishes what changes with time. Call it once a second. */
  tick(): void;
  /** Publishes before the gateway leaves that every robot is offline. */
  sayOffline(): void;
}

/** The dependencies of a value writer. `tags` is null if the flat topics are off. */
export interface ValueParts {
  readonly topics: Topics;
  readonly sessionId: string;
  readonly publish: PublishState;
  readonly remove: RemoveTopic;
  readonly tags: TagWriter | null;
  /** The robots that the configuration names now. */
  readonly robots: () => readonly PlacedRobot[];
}

/**
 * A writer for one connection. At its start it does not know what the broker has retained. So the first
 * change of each topic is always published, and a robot that was never seen clears what an earlier gateway
 * may have left there.
 */
export function createValueWriter(parts: ValueParts): ValueWriter {
  const { topics, sessionId, remove, tags } = parts;
  /** Of the change that is being written. */
  let mark: Mark;
  const publish: PublishState = (topic, payload) => parts.publish(topic, payload, mark);
  const { say, removeStation } = createWholeTexts(publish, remove);
  const availabilities = new Map<string, string>();
  /** By the number of the online list: task chains know no other name of a robot. */
  const robotIds = new Map<number, string>();
  const infos = createRobotInfos(topics, parts.robots, sessionId, parts.publish);

  const show = (topic: string, robotId: string | null, observed: Observed<unknown>, state: string) => {
    const payload =
      observed.quality === "unknown"
        ? ""
        : envelope(robotId, observed.quality, observed.stamp.receivedAtMs, sessionId, state);
    publish(topic, payload);
  };

  return {
    write(change) {
      mark = markOf(change, topics);
      switch (change.kind) {
        case "robot": {
          const { availability } = topics.robot(change.robotId);
          availabilities.set(availability, availabilityText(change.quality));
          say(change, availability, availabilityText(change.quality));
          break;
        }
        case "mission": {
          const { observed, robotId } = change;
          const state = missionText(observed.value, observed.stamp);
          show(topics.robot(robotId).mission, robotId, observed, state);
          break;
        }
        case "battery": {
          const { observed, robotId } = change;
          const state = batteryText(observed.value, observed.stamp);
          show(topics.robot(robotId).battery, robotId, observed, state);
          break;
        }
        case "conveyor": {
          const { observed, robotId } = change;
          const topic = topics.robot(robotId).conveyor(observed.value.index);
          show(topic, robotId, observed, conveyorText(observed.value));
          break;
        }
        case "presence": {
          const { observed, robotId } = change;
          robotIds.set(observed.value.amrId, robotId);
          show(topics.robot(robotId).presence, robotId, observed, JSON.stringify(observed.value.info));
          break;
        }
        case "station":
        case "station_alarms":
        case "hold":
        case "hold_all":
        case "robot_alarms":
        case "alarms":
          say(change, ...wholeText(change, topics, sessionId));
          break;
        case "task_chain": {
          const { observed, chainId } = change;
          const robotId = robotIds.get(observed.value.amrId) ?? null;
          show(topics.taskChain(chainId), robotId, observed, JSON.stringify(observed.value.info));
          break;
        }
        case "map":
          publish(topics.map(change.mapId), mapPayload(change.mapId, change.map, sessionId));
          break;
        case "station_removed":
          removeStation(change.station);
          break;
        case "task_chain_evicted":
          remove(topics.taskChain(change.chainId));
          break;
      }
      infos.note(change);
      tags?.write(change);
    },
    flush: infos.flush,
    tick() {
      infos.tick();
      tags?.tick();
    },
    sayOffline() {
      for (const [topic, text] of availabilities)
        if (text === "good" || text === "stale") publish(topic, "offline");
    },
  };
}

/** The last text on topics whose text is the whole state. */
function createWholeTexts(publish: PublishState, remove: RemoveTopic) {
  const said = new Map<string, string>();
  /** The topics of each station, because the configuration no longer has them when the station is gone. */
  const ofStations = new Map<string, Set<string>>();
  return {
    say(change: StateChange, topic: string, text: string): void {
      if (said.get(topic) === text) return;
      said.set(topic, text);
      publish(topic, text);
      if (!("station" in change)) return;
      ofStations.set(change.station, (ofStations.get(change.station) ?? new Set()).add(topic));
    },
    removeStation(station: string): void {
      for (const topic of ofStations.get(station) ?? []) {
        said.delete(topic);
        remove(topic);
      }
      ofStations.delete(station);
    },
  };
}

/** leftover-topics.ts finds task chains: there are too many of them for the record. */
function markOf(change: StateChange, topics: Topics): Mark {
  if ("robotId" in change) return topics.robot(change.robotId).info;
  if (change.kind === "task_chain" || change.kind === "task_chain_evicted") return null;
  return "station" in change ? undefined : topics.status;
}

type WholeChange = Extract<
  StateChange,
  { readonly kind: "hold" | "hold_all" | "robot_alarms" | "station_alarms" | "alarms" | "station" }
>;

/** The topic and the text of a value whose text is the whole state. */
function wholeText(change: WholeChange, topics: Topics, sessionId: string): [topic: string, text: string] {
  switch (change.kind) {
    case "hold":
      return [topics.robot(change.robotId).hold, holdPayload(change.robotId, change.hold, sessionId)];
    case "hold_all":
      return [topics.holdAll, holdPayload(null, change.hold, sessionId)];
    case "robot_alarms":
      return [topics.robot(change.robotId).alarms, alarmsPayload(change, sessionId)];
    case "station_alarms":
      return [topics.stationAlarms(change.station), alarmsPayload(change, sessionId)];
    case "alarms":
      return [topics.alarms, alarmsPayload(change, sessionId)];
    case "station":
      return [topics.station(change.station), stationPayload(change.station, change.shown, sessionId)];
  }
}

/** The bare text of an availability topic; empty for a robot that was never seen. */
function availabilityText(quality: Quality): string {
  return quality === "unknown" ? "" : quality;
}

/**
 * The envelope of every state topic. `robotId` is null for a task chain whose robot is not known. A lost
 * value has the state null.
 */
export function envelope(
  robotId: string | null,
  quality: Quality,
  receivedAtMs: number,
  sessionId: string,
  state: string,
): string {
  const robot = robotId === null ? "null" : jsonText(robotId);
  return `{"robot_id":${robot},"quality":"${quality}","received_at":${jsonTime(receivedAtMs)},"session_id":${jsonText(sessionId)},"state":${quality === "lost" ? "null" : state}}`;
}

/** A map of the last GetMap, for `maps/<id>`; empty for one that is gone. */
function mapPayload(mapId: number, map: FleetMap | null, sessionId: string): string {
  if (map === null) return "";
  const { readAtMs, json, bytes } = map;
  return `{"map_id":${mapId},"read_at":${jsonTime(readAtMs)},"bytes":${bytes},"session_id":${jsonText(sessionId)},"state":${json ?? "null"}}`;
}

/** The hold on a robot, or (null) on all robots: for `robots/<id>/hold` and `hold`. */
function holdPayload(robotId: string | null, hold: HoldState, sessionId: string): string {
  const robot = robotId === null ? {} : { robot_id: robotId };
  return JSON.stringify({ ...robot, ...holdOf(hold), session_id: sessionId });
}

/** For `stations/<station>`. */
function stationPayload(station: string, shown: VisibleStation, sessionId: string): string {
  const { state, ...named } = stationOf(station, shown);
  return JSON.stringify({ ...named, session_id: sessionId, state });
}

type AlarmsChange = Extract<StateChange, { readonly kind: "robot_alarms" | "station_alarms" | "alarms" }>;

/** The alarms for `robots/<id>/alarms`, `stations/<name>/alarms` and `alarms`, the most urgent first. */
function alarmsPayload(change: AlarmsChange, sessionId: string): string {
  const { alarms } = change;
  return JSON.stringify({
    ...whose(change),
    count: alarms.length,
    highest_severity: alarms[0]?.severity ?? 0,
    alarms: alarms.slice(0, MOST_ALARMS).map(alarmOf),
    session_id: sessionId,
  });
}

function whose(change: AlarmsChange): Readonly<Record<string, unknown>> {
  switch (change.kind) {
    case "robot_alarms":
      return { robot_id: change.robotId, out_of_service: change.isOutOfService };
    case "station_alarms":
      return { station: change.station };
    case "alarms":
      return {};
  }
}
