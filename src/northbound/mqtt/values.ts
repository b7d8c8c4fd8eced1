import type { StateChange } from "../../domain/change.ts";
import type { Observed } from "../../domain/observed.ts";
import type { Quality } from "../../domain/quality.ts";
import { alarmsPayload } from "./alarm-payload.ts";
import { batteryState, conveyorState, envelope, holdPayload, mapPayload, missionState } from "./payloads.ts";
import type { PublishState, RemoveTopic } from "./publish.ts";
import { createRobotInfos } from "./robot-infos.ts";
import { stationPayload } from "./station-payload.ts";
import type { TagWriter } from "./tags.ts";
import type { PlacedRobot } from "./topic-templates.ts";
import type { Topics } from "./topics.ts";

/** Shows state changes on one connection. */
export interface ValueWriter {
  write(change: StateChange): void;
  /** Publishes what the changes written until now say together. */
  flush(): void;
  /** Publishes what changes with time. To be called once a second. */
  tick(): void;
  /** Says of every robot that nobody watches it any more, before the gateway leaves. */
  sayOffline(): void;
}

/** What a value writer needs. `tags` is null when the flat topics are off. */
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
 * A writer for one connection. It starts knowing nothing of what the broker has
 * retained, so the first change of each topic is always published, and a robot
 * never heard of takes away what an earlier gateway may have left there.
 */
export function createValueWriter(parts: ValueParts): ValueWriter {
  const { topics, sessionId, remove, tags } = parts;
  /** Of the change that is being written. */
  let mark: string | null | undefined;
  const publish: PublishState = (topic, payload) => parts.publish(topic, payload, mark);
  const { say, removeStation } = createWholeTexts(publish, remove);
  const availabilities = new Map<string, string>();
  /** By the number that the online list gives them: task chains know no other name of a robot. */
  const robotIds = new Map<number, string>();
  const infos = createRobotInfos(parts);

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
          const state = missionState(observed.value, observed.stamp);
          show(topics.robot(robotId).mission, robotId, observed, state);
          break;
        }
        case "battery": {
          const { observed, robotId } = change;
          const state = batteryState(observed.value, observed.stamp);
          show(topics.robot(robotId).battery, robotId, observed, state);
          break;
        }
        case "conveyor": {
          const { observed, robotId } = change;
          const topic = topics.robot(robotId).conveyor(observed.value.index);
          show(topic, robotId, observed, conveyorState(observed.value));
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

/** What was said last on topics whose text tells all there is to tell. */
function createWholeTexts(publish: PublishState, remove: RemoveTopic) {
  const said = new Map<string, string>();
  /** The topics of each station, which the configuration does not tell any more when it is gone. */
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

/** A task chain has a look of its own (leftover-chains.ts): there are too many to keep a record of. */
function markOf(change: StateChange, topics: Topics): string | null | undefined {
  if ("robotId" in change) return topics.robot(change.robotId).info;
  if (change.kind === "task_chain" || change.kind === "task_chain_evicted") return null;
  return "station" in change ? undefined : topics.status;
}

type WholeChange = Extract<
  StateChange,
  { readonly kind: "hold" | "hold_all" | "robot_alarms" | "station_alarms" | "alarms" | "station" }
>;

/** The topic and the text of what tells all there is to tell. */
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

/** The bare text of an availability topic; nothing for a robot never heard of. */
function availabilityText(quality: Quality): string {
  return quality === "unknown" ? "" : quality;
}
