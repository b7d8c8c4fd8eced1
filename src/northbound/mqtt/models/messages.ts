import { z } from "zod";
import { ACT_TEXT_CHARACTERS, type ActRule, acts, isActName } from "../../../domain/acts.ts";
import { eventModels as events } from "../../../models/event.ts";
import { time } from "../../../models/parts.ts";
import { commandFields, requestId as id, replyModel } from "../../../models/reply.ts";
import { type TopicName, topicTemplates, topicTexts } from "../topic-templates.ts";
import * as state from "./state.ts";

const command = z.strictObject({
  id,
  expires_at: time
    .or(z.iso.datetime({ offset: true }))
    .optional()
    .describe("By the gateway machine's clock."),
  ...commandFields,
});

const actId = id.describe("For the reply; without it there is none.").optional();
const fieldModels = {
  text: z.string().min(1).max(ACT_TEXT_CHARACTERS),
  boolean: z.boolean(),
  integer: z.int(),
} as const;

/** The acts that clients may publish, each with its fields. */
const act = z.union(
  Object.entries<ActRule>(acts).flatMap(([name, { text, only, fields }]) => {
    if (only !== undefined) return [];
    const models = Object.entries(fields).map(([field, rule]) => {
      const model = fieldModels[rule.type].describe(rule.text);
      return [field, rule.isOptional === true ? model.optional() : model] as const;
    });
    return [z.strictObject({ id: actId, ...Object.fromEntries(models) }).describe(`${name}: ${text}.`)];
  }),
);

/** The messages on the topics of one template. */
export interface Channel {
  readonly template: TopicName;
  readonly summary: string;
  readonly from: "gateway" | "client";
  readonly isRetained: boolean;
  /** Null: mqtt.stateQos of the configuration, 0 unless it says 1. */
  readonly qos: 0 | 1 | null;
  /** The models of its messages, by the names of their schemas. */
  readonly messages: Readonly<Record<string, z.ZodType>>;
}

/** A channel of retained state. */
function stateChannel(summary: string, name: string, model: z.ZodType): Omit<Channel, "template"> {
  return { summary, from: "gateway", isRetained: true, qos: null, messages: { [name]: model } };
}

/** A channel of events and replies. */
function eventChannel(summary: string, messages: Channel["messages"]): Omit<Channel, "template"> {
  return { summary, from: "gateway", isRetained: false, qos: 1, messages };
}

const ofRobots = {
  event_mission: events.mission,
  event_conveyor: events.conveyor,
  event_battery: events.battery,
  event_alarm: events.alarm,
  event_command: events.command,
  event_lease: events.lease,
  event_hold: events.hold,
  event_dropped: events.dropped,
};
const ofNoRobot = {
  event_alarm: events.alarm,
  event_command: events.command,
  event_hold: events.hold,
  event_dropped: events.dropped,
};

const byTemplate: Readonly<Record<TopicName, Omit<Channel, "template">>> = {
  status: {
    ...stateChannel(topicTexts.status.en, "status", state.status),
    qos: 1,
  },
  health: { ...stateChannel(topicTexts.health.en, "health", state.health), qos: 0 },
  member: {
    ...stateChannel(topicTexts.member.en, "member", state.member),
    qos: 1,
  },
  robots: stateChannel(topicTexts.robots.en, "robots", state.robots),
  info: stateChannel(topicTexts.info.en, "info", state.info),
  availability: stateChannel(topicTexts.availability.en, "availability", state.availability),
  mission: stateChannel(topicTexts.mission.en, "mission", state.mission),
  battery: stateChannel(topicTexts.battery.en, "battery", state.battery),
  conveyor: stateChannel(topicTexts.conveyor.en, "conveyor", state.conveyor),
  presence: stateChannel(topicTexts.presence.en, "presence", state.presence),
  taskChain: stateChannel(topicTexts.taskChain.en, "task_chain", state.taskChain),
  map: stateChannel(topicTexts.map.en, "map", state.map),
  hold: stateChannel(topicTexts.hold.en, "hold", state.hold),
  holdAll: stateChannel(topicTexts.holdAll.en, "hold_all", state.holdAll),
  stationState: stateChannel(topicTexts.stationState.en, "station", state.station),
  robotAlarms: stateChannel(topicTexts.robotAlarms.en, "robot_alarms", state.robotAlarms),
  stationAlarms: stateChannel(topicTexts.stationAlarms.en, "station_alarms", state.stationAlarms),
  alarms: stateChannel(topicTexts.alarms.en, "alarms", state.alarms),
  event: eventChannel("What happened to a robot; the kind is in the topic.", ofRobots),
  gatewayEvent: eventChannel("What happened, but to no single robot.", ofNoRobot),
  tag: stateChannel("One bare value a topic, with mqtt.tags: true.", "tag", state.tag),
  command: {
    summary: "A command or an act; the operation or the act is in the topic.",
    from: "client",
    isRetained: false,
    qos: 1,
    messages: { command, act },
  },
  reply: eventChannel("The outcome of a command, or the answer to another request.", {
    reply: replyModel,
  }),
};

/** Every channel there is. */
export const channels: readonly Channel[] = (Object.keys(topicTemplates) as TopicName[]).map((template) => ({
  template,
  ...byTemplate[template],
}));

const patterns = channels.map((channel) => ({
  channel,
  pattern: new RegExp(
    `^${topicTemplates[channel.template].replace("{tag}", ".+").replace(/\{\w+\}/g, "[^/]+")}$`,
  ),
}));

/** The name of the schema of what is published on a topic under the base; null: there is none. */
export function messageOf(topic: string): string | null {
  const found = patterns.find(({ pattern }) => pattern.test(topic));
  if (found === undefined) return null;
  const names = Object.keys(found.channel.messages);
  const level = topic.split("/").at(-1) ?? "";
  const command = isActName(level) ? "act" : "command";
  const isOf = (name: string) => name === `event_${level}` || name === command;
  return names.length === 1 ? (names[0] ?? null) : (names.find(isOf) ?? null);
}

/** Messages that are bare text. */
export const bareTexts: readonly string[] = ["availability", "tag"];

/**
 * The JSON schemas of all messages, by their names. A later version may add fields to what the gateway
 * publishes; what it accepts from clients is strict.
 */
export function messageSchemas(): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const schemas: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const { from, messages } of channels) {
    for (const [name, model] of Object.entries(messages)) {
      const schema = z.toJSONSchema(model, {
        target: "draft-7",
        reused: "inline",
        override({ jsonSchema }) {
          if (from === "gateway" && jsonSchema.additionalProperties === false)
            delete jsonSchema.additionalProperties;
        },
      });
      schemas[name] = { ...schema, title: `Fleetgate, MQTT: ${name}` };
    }
  }
  return schemas;
}

/** A message as the gateway publishes or accepts it, under its base. */
interface Example {
  /** The name of its schema. */
  readonly message: string | null;
  readonly topic: string;
  readonly payload: string;
}

const BEGIN = "<!-- scripts/mqtt-doc.mjs reads from here on. -->";
const END = "<!-- scripts/mqtt-doc.mjs reads up to here. -->";

/**
 * The examples of docs/mqtt-reference.md, each a line with the topic and a line with the message. A test
 * publishes them.
 */
export function examplesOn(page: string): readonly Example[] {
  const text = page.slice(page.indexOf(BEGIN), page.indexOf(END));
  return Array.from(text.matchAll(/^ {4}(\S+)\n {4}(.+)$/gm), ([, topic = "", payload = ""]) => ({
    message: messageOf(topic),
    topic,
    payload,
  }));
}
