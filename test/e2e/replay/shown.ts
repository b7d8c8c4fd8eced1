import type { MqttEar, Received } from "../mqtt-ear.ts";

/** What a plant sees of a fleet over MQTT, without what is another each time. */
export interface Shown {
  /** The last `state` of each topic of a robot that has one. */
  readonly states: Readonly<Record<string, unknown>>;
  /** The transitions of missions and conveyors of each robot, in order. */
  readonly events: Readonly<Record<string, readonly string[]>>;
}

const STATE = /^robots\/[^/]+\/(mission|battery|conveyors?(\/\d+)?|presence)$/;
const EVENT = /^robots\/([^/]+)\/event\/(mission|conveyor)$/;

export function shownBy(mqtt: Pick<MqttEar, "received">): Shown {
  const states: Record<string, unknown> = {};
  const events: Record<string, string[]> = {};
  for (const { topic, text } of mqtt.received.entries) {
    if (STATE.test(topic) && text !== "") states[topic] = JSON.parse(text).state;
    const [, robotId, kind] = EVENT.exec(topic) ?? [];
    if (robotId === undefined || kind === undefined) continue;
    const list = events[`${robotId} ${kind}`] ?? [];
    events[`${robotId} ${kind}`] = list;
    list.push(eventText(text));
  }
  return { states: sorted(states), events: sorted(events) };
}

/** Whether a message shows this state on this topic. */
export function shows({ topic, text }: Received, wanted: string, state: unknown): boolean {
  return topic === wanted && text !== "" && JSON.stringify(JSON.parse(text).state) === JSON.stringify(state);
}

function eventText(text: string): string {
  const { mission_id: missionId, from, to, index } = JSON.parse(text);
  const show = (side: unknown) => (typeof side === "string" ? side : JSON.stringify(side));
  return `${missionId ?? `conveyor ${index}`}: ${show(from)} -> ${show(to)}`;
}

function sorted<T>(object: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
