import { bareTexts, channels, messageSchemas } from "../.build/northbound/mqtt/models/messages.js";
import { topicTemplates } from "../.build/northbound/mqtt/topic-templates.js";

const parameters = {
  gateway: "gateway.id of the configuration.",
  robot: "The robot's id, percent-encoded where a level cannot carry it.",
  index: "The index of a conveyor.",
  chain: "The number of a task chain.",
  map: "The number of a map.",
  station: "The name of a station in the configuration.",
  kind: "The kind of the event.",
  tag: "A group and a name, as battery/charge_percent.",
  client: "The client's name, for which the broker vouches.",
  operation: "An operation or an act of docs/commands.md.",
  id: "The id of the request.",
};

/** The AsyncAPI 3 document of the gateway: its default topics and their messages. */
export function asyncApiDocument(version, examples) {
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Fleetgate",
      version,
      description:
        "What the gateway publishes over MQTT, and what it takes. These are the default topics: mqtt.base and mqtt.placement of the configuration may change them. docs/mqtt.md says what the values mean.",
    },
    defaultContentType: "application/json",
    servers: {
      plant: {
        host: "broker.example.com:8883",
        protocol: "secure-mqtt",
        description: "The broker of the plant, or the one inside the gateway.",
      },
    },
    channels: Object.fromEntries(channels.map((channel) => [channel.template, channelOf(channel)])),
    operations: Object.fromEntries(channels.map((channel) => [operationName(channel), operationOf(channel)])),
    components: { messages: messages(examples), schemas: schemas() },
  };
}

/** The named schemas as parts of one document. */
function schemas() {
  return Object.fromEntries(
    Object.entries(messageSchemas()).map(([name, { $schema: _draft, ...schema }]) => [name, schema]),
  );
}

function messages(examples) {
  const found = {};
  for (const { messages: models, summary } of channels) {
    for (const name of Object.keys(models)) {
      const shown = examples.filter((example) => example.message === name);
      found[name] ??= {
        name,
        summary,
        contentType: bareTexts.includes(name) ? "text/plain" : "application/json",
        payload: { $ref: `#/components/schemas/${name}` },
        examples: shown.map(({ topic, payload }) => ({
          name: topic,
          payload: bareTexts.includes(name) ? payload : JSON.parse(payload),
        })),
      };
    }
  }
  return found;
}

function channelOf({ template, summary, messages: models }) {
  const address = `fleetgate/{gateway}/${topicTemplates[template]}`;
  const names = Array.from(address.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
  return {
    address,
    summary,
    parameters: Object.fromEntries(names.map((name) => [name, { description: parameters[name] ?? "" }])),
    messages: Object.fromEntries(
      Object.keys(models).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
  };
}

function operationName({ template, from }) {
  return `${from === "gateway" ? "publish" : "take"}_${template}`;
}

function operationOf(channel) {
  const { template, summary, from, isRetained, qos } = channel;
  return {
    action: from === "gateway" ? "send" : "receive",
    channel: { $ref: `#/channels/${template}` },
    summary,
    bindings: { mqtt: { ...(qos === null ? {} : { qos }), retain: isRetained, bindingVersion: "0.2.0" } },
    ...(from === "client" ? { reply: { channel: { $ref: "#/channels/reply" } } } : {}),
  };
}
