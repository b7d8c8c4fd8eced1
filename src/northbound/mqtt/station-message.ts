import type { IPublishPacket } from "mqtt";
import type { Stations } from "../../contracts/stations.ts";
import { quoted } from "../../domain/clip.ts";
import type { Source } from "../../domain/command.ts";
import { ending, type Outcome, refusal } from "../../domain/outcome.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import {
  type Answer,
  answerProblem,
  bytesOf,
  type MessageShape,
  own,
  readName,
  readObject,
  replyTo,
} from "./message.ts";
import type { StationTopic, Topics } from "./topics.ts";

/** The acts of a client on a station's leases of robots. */
const actions = ["ask", "beat", "release", "override"] as const;
type Action = (typeof actions)[number];

const aboutRobot: MessageShape = {
  kind: "lease",
  fields: ["id", "robot_id"],
  example: '{"id","robot_id"}',
};
const ofNoRobot: MessageShape = {
  kind: "heartbeat",
  fields: ["id", "counter"],
  example: '{"id","counter"}',
};

/** Whether the counter of a client's heartbeat for a station has changed. The first one has not. */
export type HeartbeatCounters = (station: string, client: string, counter: number) => boolean;

/** Clients that send heartbeats: more than there are stations. */
const MOST_COUNTERS = 10_000;

export function createHeartbeatCounters(): HeartbeatCounters {
  const counters = new BoundedMap<string, number>(MOST_COUNTERS);
  return (station, client, counter) => {
    const key = `${station}/${client}`;
    const before = counters.get(key);
    counters.set(key, counter);
    return before !== undefined && before !== counter;
  };
}

/**
 * Handles a client's message for a station: it asks for a robot, releases it, ends another's lease, or sends
 * a heartbeat. It may be repeated at will, so it needs neither a record nor an expiry.
 */
export function takeStationMessage(
  parts: {
    readonly topics: Topics;
    readonly stations: Stations;
    readonly hasChanged: HeartbeatCounters;
  },
  topic: StationTopic,
  packet: IPublishPacket,
): Answer | Promise<Answer> {
  const { topics, stations } = parts;
  const action = actions.find((name) => name === topic.action);
  const read = readStationMessage(bytesOf(packet), action);
  const asking = { client: topic.client, operation: `${topic.station}/${topic.action}` };
  const to = replyTo(topics, asking, packet, read.id);
  const robotId = read.ok && read.robotId !== "" ? read.robotId : null;
  const refused = (code: "RETAINED" | "MALFORMED" | "UNKNOWN_OPERATION", message: string): Answer => ({
    to,
    outcome: refusal(code, message),
    robotId,
  });
  if (packet.retain) return refused("RETAINED", "commands must not be retained");
  if (action === undefined)
    return refused(
      "UNKNOWN_OPERATION",
      `a station has ${actions.join(", ")}, and not ${quoted(topic.action)}`,
    );
  if (!read.ok) return refused("MALFORMED", read.reason);
  const cannotAnswer = answerProblem(topics, topic.client, packet);
  if (cannotAnswer !== null) return refused("MALFORMED", cannotAnswer);
  const source: Source = { protocol: "mqtt", name: topic.client };
  if (stations.leased(topic.station, source) === null)
    return refused("MALFORMED", `there is no station ${quoted(topic.station)}`);
  const answer = (outcome: Outcome | null): Answer => {
    return { to, outcome: outcome ?? done(stations.leased(topic.station, source) ?? []), robotId };
  };
  const isAlive = read.counter !== null && parts.hasChanged(topic.station, topic.client, read.counter);
  const outcome = perform(stations, action, topic.station, source, read.robotId, isAlive);
  return outcome instanceof Promise ? outcome.then(answer) : answer(outcome);
}

/** Null: it is done. */
function perform(
  stations: Stations,
  action: Action,
  station: string,
  source: Source,
  robotId: string,
  isAlive: boolean,
): Outcome | null | Promise<Outcome | null> {
  switch (action) {
    case "ask":
      return stations.ask(station, source, robotId);
    case "release":
      return stations.release(station, source, robotId);
    case "override":
      return stations.override(source, robotId);
    case "beat":
      if (isAlive) stations.heartbeat(station, source);
      return null;
  }
}

/** With the client's present leases: a lease that has ended by itself is missing there. */
function done(leased: readonly string[]): Outcome {
  return { ...ending("succeeded", "OK", "", true), responseJson: JSON.stringify({ leased }) };
}

type ReadStationMessage =
  | {
      readonly ok: true;
      readonly id: string | null;
      readonly robotId: string;
      /** Of a heartbeat; null in every other message. */
      readonly counter: number | null;
    }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

function readStationMessage(payload: Uint8Array, action: Action | undefined): ReadStationMessage {
  const read = readObject(payload, action === "beat" ? ofNoRobot : aboutRobot);
  if (!read.ok) return read;
  const { id, object } = read;
  if (action === "beat") {
    const counter = own(object, "counter");
    if (typeof counter === "number" && Number.isSafeInteger(counter)) {
      return { ok: true, id, robotId: "", counter };
    }
    const reason = "counter: write a whole number that is another one in each heartbeat of a running program";
    return { ok: false, id, reason };
  }
  const robot = readName(object, "robot_id");
  return robot.ok ? { ok: true, id, robotId: robot.name, counter: null } : { ...robot, id };
}
