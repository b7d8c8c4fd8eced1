import { z } from "zod";
import type { OutboxOptions } from "../../delivery/outbox/options.ts";
import type {
  EmbeddedBrokerOptions,
  ExternalBrokerOptions,
  MqttOptions,
} from "../../northbound/mqtt/options.ts";
import type { SparkplugOptions } from "../../northbound/mqtt/sparkplug/options.ts";
import { storedKinds } from "../../northbound/mqtt/sparkplug/options.ts";
import type { Placement } from "../../northbound/mqtt/topic-templates.ts";
import type { Live, Now } from "../../platform/live.ts";
import { count, file, flag, listen, live, milliseconds, url } from "../fields.ts";
import { pathText } from "../finding.ts";
import { fileAt, type NamedFiles, pairAt } from "../named-files.ts";
import type { OpcUaSection } from "./opcua.ts";

const commandsSection = z
  .strictObject({
    enabled: flag(true, "Whether commands are taken from the broker at all."),
    brokerEnforcesClientNames: flag(
      false,
      "Set it to true only if the plant's broker lets a client write under clients/<its own name> only. Else that broker brings no commands.",
    ),
    requireExpiry: flag(true, "Whether a command that moves a robot needs expires_at, or MQTT 5 expiry."),
    clientRate: z
      .strictObject({
        perSecond: count(1, 10_000, 200, "Commands a second, on average."),
        burst: count(1, 100_000, 500, "Commands at once, after a rest."),
      })
      .prefault({})
      .describe("What one client may send. Beyond it, all but stops is refused (RATE_LIMITED)."),
  })
  .prefault({})
  .describe("Commands from the broker. Who may send what is said under rights.");

const outboxSection = z
  .strictObject({
    maxEvents: count(
      1,
      1_000_000,
      50_000,
      "Events of robots that wait, and as many of commands. Beyond it, the oldest of the robot or sender with most are dropped.",
    ),
    maxAgeMs: milliseconds(
      1_000,
      31_536_000_000,
      604_800_000,
      "An event that has waited longer, in running time of the gateway, is dropped.",
    ),
    replayRate: count(
      1,
      100_000,
      10_000,
      "Events a second after an outage, of those that have waited. What happens then does not wait for them.",
    ),
  })
  .prefault({})
  .describe("Events on the disk until the broker has them: the folder outbox under gateway.dataDir.");

const brokerSchemes = ["mqtt:", "mqtts:", "ws:", "wss:"];
const MOST_FALLBACKS = 8;

/** A name in the topics of Sparkplug. */
const sparkplugName = z.string().regex(/^[^/+#\0]{1,128}$/, {
  error: "use 1 to 128 characters, without /, + and #",
});

const sparkplugSection = z
  .strictObject({
    groupId: sparkplugName.describe("The group of the edge node, as the plant names it."),
    nodeId: sparkplugName
      .optional()
      .describe("The edge node; no other one in the group may have it. Default: <gateway id>."),
    primaryHost: sparkplugName
      .optional()
      .describe("The host application for which births and data wait. Default: they wait for none."),
    legacyState: flag(false, "The primary host publishes its state on STATE/<id>, as before Sparkplug 3.0."),
    commands: flag(
      false,
      "Whether hosts may send commands by Commands/Request. Their sender in rights is sparkplug:<groupId>.",
    ),
    json: flag(true, "Whether the JSON topics are published too, with their events and commands."),
  })
  .optional()
  .describe("Sparkplug B 3.0, on a connection of its own. Leave it out to switch it off.");

const placement = live(
  z
    .strictObject({
      robot: z
        .string()
        .min(1)
        .optional()
        .describe(
          "What a robot's topics begin with, as acme/munich/{robot}; with {alias}: its alias of opcua.robots, or else its id. Default: <base>/robots/{robot}.",
        ),
      station: z
        .string()
        .min(1)
        .optional()
        .describe(
          "What a station's topics begin with, as acme/munich/{place}/{station}; {place} is stations.<name>.place. Default: <base>/stations/{station}.",
        ),
    })
    .prefault({})
    .describe(
      "Where robots and stations stand in the topic tree of the plant. Whole topics, not under base.",
    ),
);

/** `mqtt:` the broker, what is published there, and how commands come from it. */
export const mqttSection = z
  .strictObject({
    broker: url(
      brokerSchemes,
      "embedded: a broker inside the gateway. Else mqtt://host:port, mqtts://host:port, or, over WebSocket, ws://host:port/path or wss://host:port/path.",
      ["embedded"],
    ),
    fallbackBrokers: z
      .array(url(brokerSchemes, "The URL of a broker."))
      .min(1)
      .max(MOST_FALLBACKS)
      .optional()
      .describe("Further brokers of the plant, tried in this order while those before them are away."),
    returnMs: milliseconds(
      1_000,
      86_400_000,
      60_000,
      "With fallbackBrokers: how long an earlier broker must have been reachable before the gateway goes back to it.",
    ),
    listen: listen(1883).optional(),
    users: z
      .record(
        z.string(),
        live(
          z.strictObject({
            password: file(
              "userPassword",
              "File of the user's password, as it is or as scrypt:<salt base64>:<hash base64>.",
            ),
          }),
        ),
      )
      .optional()
      .describe("Who may log in to the embedded broker, by name; it is the client's name in command topics."),
    anonymousLoopback: flag(
      false,
      "INSECURE, for a demo: programs of this machine need no password at the embedded broker.",
    ),
    certificate: live(
      file(
        "certificate",
        "File of the embedded broker's certificate; with it, it speaks TLS (PEM).",
      ).optional(),
      ["changed"],
    ),
    key: live(file("privateKey", "File of the key of certificate (PEM).").optional(), ["changed"]),
    username: z.string().min(1).optional().describe("User at the plant's broker."),
    password: file("password", "File of the user's password.").optional(),
    ca: live(file("certificate", "File of the CA to trust instead of the system's (PEM).").optional()),
    clientCertificate: live(
      file("certificate", "File of our own certificate for the plant's broker (PEM).").optional(),
    ),
    clientKey: live(file("privateKey", "File of the key of clientCertificate (PEM).").optional()),
    clientId: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe("Our MQTT client id. Default: fleetgate-<gateway id>."),
    protocolVersion: z
      .literal([4, 5])
      .optional()
      .describe("4 is MQTT 3.1.1. Default: 5 at the plant's broker; the embedded one speaks 4 only."),
    base: z
      .string()
      .regex(/^[^/+#\0](?:[^+#\0]*[^/+#\0])?$/, {
        error: "use a topic without + and #, and without / at its ends",
      })
      .optional()
      .describe("What every topic begins with. Default: fleetgate/<gateway id>."),
    placement,
    stateQos: z
      .literal([0, 1])
      .default(0)
      .describe("QoS of state, which is retained. Events and replies are QoS 1 always."),
    refreshMs: milliseconds(
      1_000,
      3_600_000,
      60_000,
      "With MQTT 5, state is published again after this time, and expires after three of them.",
    ),
    sparkplug: sparkplugSection,
    tags: flag(
      false,
      "Whether each value is published on a topic of its own too, for clients that cannot read JSON.",
    ),
    commands: commandsSection,
    outbox: outboxSection,
  })
  .describe("MQTT. Leave the section out to switch it off.");

export type MqttSection = z.output<typeof mqttSection>;

/** What the section and its files say, as the MQTT northbound wants it. */
export function mqttOptions(
  section: MqttSection,
  gatewayId: string,
  plant: Pick<Placement, "robots" | "stations">,
  files: NamedFiles,
): Now<MqttOptions> {
  const { clientRate: _intake, ...commands } = section.commands;
  return {
    broker: section.broker === "embedded" ? embedded(section, files) : external(section, files),
    protocolVersion: section.protocolVersion ?? (section.broker === "embedded" ? 4 : 5),
    base: section.base ?? `fleetgate/${gatewayId}`,
    gatewayId,
    clientId: section.clientId ?? `fleetgate-${gatewayId}`,
    placement: placementOf(section, plant),
    stateQos: section.stateQos,
    refreshMs: section.refreshMs,
    tags: section.tags,
    commands,
  };
}

/** The edge node of Sparkplug; null: it is off. */
export function sparkplugOptions(
  section: MqttSection | undefined,
  gatewayId: string,
  opcua: OpcUaSection | undefined,
): Now<SparkplugOptions> | null {
  if (section?.sparkplug === undefined) return null;
  const { groupId, nodeId = gatewayId, primaryHost = null, legacyState, commands, json } = section.sparkplug;
  const robots = Object.entries(opcua?.robots ?? {}).map(([robotId, { alias = null, number = null }]) => ({
    ...{ robotId, alias, number },
  }));
  return { groupId, nodeId, primaryHost, legacyState, commands, json, robots };
}

/** The queue of events for it, with the bounds of the other one; null: Sparkplug is off. */
export function sparkplugOutboxOptions(section: MqttSection | undefined): OutboxOptions | null {
  return section?.sparkplug === undefined ? null : { ...section.outbox, kinds: storedKinds };
}

/** The options of a running edge node: a reload adds robots. */
export function runningSparkplug(live: Live<Now<SparkplugOptions>>): SparkplugOptions {
  return { ...live.now(), robots: live.pick(({ robots }) => robots) };
}

/** The options of a running gateway, of which a reload changes some. */
export function runningMqtt(live: Live<Now<MqttOptions>>): MqttOptions {
  const { broker } = live.now();
  return {
    ...live.now(),
    broker: broker.kind === "embedded" ? runningEmbedded(broker, live) : runningExternal(broker, live),
    placement: live.pick(({ placement }) => placement),
  };
}

function runningEmbedded(
  first: Now<EmbeddedBrokerOptions>,
  live: Live<Now<MqttOptions>>,
): EmbeddedBrokerOptions {
  const broker = live.pick((mqtt) => (mqtt.broker.kind === "embedded" ? mqtt.broker : first));
  return { ...first, users: broker.pick(({ users }) => users), tls: broker.pick(({ tls }) => tls) };
}

function runningExternal(
  first: Now<ExternalBrokerOptions>,
  live: Live<Now<MqttOptions>>,
): ExternalBrokerOptions {
  const broker = live.pick((mqtt) => (mqtt.broker.kind === "external" ? mqtt.broker : first));
  return { ...first, tls: broker.pick(({ tls }) => tls), tlsPaths: broker.pick(({ tlsPaths }) => tlsPaths) };
}

/** Where robots and stations are, and which there are. */
export function placementOf(
  { placement: { robot, station } }: MqttSection,
  plant: Pick<Placement, "robots" | "stations">,
): Placement {
  return { robot: robot ?? null, station: station ?? null, ...plant };
}

function embedded(section: MqttSection, files: NamedFiles): Now<EmbeddedBrokerOptions> {
  const listening = section.listen ?? { host: "127.0.0.1", port: 1883 };
  return {
    kind: "embedded",
    host: listening.host,
    port: listening.port,
    anonymousLoopback: section.anonymousLoopback,
    users: Object.keys(section.users ?? {}).map((name) => ({
      name,
      password: fileAt(files, "mqtt", "users", name, "password")?.text ?? "",
    })),
    tls: pairAt(files, "mqtt"),
  };
}

function external(section: MqttSection, files: NamedFiles): Now<ExternalBrokerOptions> {
  const cert = text(files, "clientCertificate");
  const key = text(files, "clientKey");
  return {
    kind: "external",
    url: section.broker,
    setting: "mqtt.broker",
    fallbacks: (section.fallbackBrokers ?? []).map((url, index) => ({
      url,
      setting: pathText(["mqtt", "fallbackBrokers", index]),
    })),
    returnMs: section.returnMs,
    username: section.username ?? null,
    password: text(files, "password"),
    tls: { ca: text(files, "ca"), clientCert: cert !== null && key !== null ? { cert, key } : null },
    tlsPaths: {
      ca: path(files, "ca"),
      cert: path(files, "clientCertificate"),
      key: path(files, "clientKey"),
    },
  };
}

function text(files: NamedFiles, key: string): string | null {
  return fileAt(files, "mqtt", key)?.text ?? null;
}

function path(files: NamedFiles, key: string): string | null {
  return fileAt(files, "mqtt", key)?.path ?? null;
}
