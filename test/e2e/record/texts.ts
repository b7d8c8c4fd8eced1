import { createHash } from "node:crypto";
import type { IPublishPacket } from "mqtt-packet";
import { readExposition } from "../../support/exposition.ts";

/** What was published until a step of the story was over. */
export interface Step {
  readonly name: string;
  /** The number of messages until then. */
  readonly until: number;
}

/** On these topics each message is an event or an answer: all are kept. Of a state, the last in a step. */
const each = /\/(event|reply)\//;

/** A slow machine may give a part a detail that it has not elsewhere. */
const isDetermined = (field: string) => !field.endsWith(".detail");

/** The messages by topic, each with the step in which it came; of the health, which fields it has had. */
export function mqttText(published: readonly IPublishPacket[], steps: readonly Step[], base: string): string {
  const topics = new Map<string, Array<{ readonly step: string; readonly line: string }>>();
  const health = new Set<string>();
  for (const [at, packet] of published.entries()) {
    if (packet.topic === `${base}/health`) {
      for (const field of fieldsOf(JSON.parse(packet.payload.toString()))) health.add(field);
      continue;
    }
    const step = steps.find(({ until }) => at < until)?.name ?? "";
    const topic = packet.topic.startsWith(`${base}/`) ? packet.topic.slice(base.length + 1) : packet.topic;
    const lines = topics.get(topic) ?? [];
    topics.set(topic, lines);
    // How old a value is at the end of a step depends on the machine.
    const line = topic.endsWith("/age_seconds") ? "<duration>" : lineOf(packet);
    if (!each.test(topic)) {
      if (lines.at(-1)?.step === step) lines.pop();
      if (lines.at(-1)?.line === line) continue;
    }
    lines.push({ step, line });
  }
  const ofHealth = [
    "health",
    ...[...health]
      .sort()
      .filter(isDetermined)
      .map((field) => `  ${field}`),
    "",
  ].join("\n");
  const others = Array.from(topics)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([topic, lines]) => [topic, ...lines.map(({ step, line }) => `  [${step}] ${line}`), ""].join("\n"));
  return [ofHealth, ...others].join("\n");
}

function lineOf({ qos, retain, properties, payload }: IPublishPacket): string {
  return `qos ${qos}${retain ? " retained" : ""} ${JSON.stringify(properties ?? {})} ${payload.toString()}`;
}

/** The names of an object's fields, with dots, for what has values of its own in each run. */
export function fieldsOf(value: unknown, path = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [path];
  if (Array.isArray(value)) return value.length === 0 ? [`${path}[]`] : fieldsOf(value[0], `${path}[]`);
  return Object.entries(value).flatMap(([name, field]) =>
    fieldsOf(field, path === "" ? name : `${path}.${name}`),
  );
}

/** The bytes of a JSON text, with a line for each member, so that a difference can be read. */
export function membersOf(json: string): string {
  return json.replace(/,(?=["{[])/g, ",\n");
}

/** A line for each node: its id, what it is, and a hash of all that is said of it. */
export function nodesText(xml: string): string {
  const nodes = xml.matchAll(/^ {2}<(UA\w+) ([^>]*)>[\s\S]*?^ {2}<\/\1>$/gm);
  return Array.from(nodes, ([whole, element = "", attributes = ""]) => {
    const of = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "-";
    return `${of("NodeId")} ${element.slice(2)} ${of("DataType")} ${hashOf(whole)}\n`;
  }).join("");
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** Metrics that count what happened, so that every run has the same values. */
const counted = /^fleetgate_(commands|mission_events)_total$|^fleetgate_(robots|alarms_active|holds|leases)$/;

/** Help, type and labels of the metrics with all values of each label, and then the values of some. */
export function metricsText(text: string): string {
  const { metrics, samples } = readExposition(text);
  const heads = Array.from(metrics, ([name, { type, help }]) => {
    const own = samples.filter((sample) => sample.name.replace(/_(bucket|sum|count)$/, "") === name);
    const labels = new Map<string, Set<string>>();
    for (const [label, value] of [...own, ...samples.filter((sample) => sample.name === name)].flatMap(
      (one) => Object.entries(one.labels),
    ))
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
    const lines = Array.from(labels, ([label, values]) => `  ${label}: ${[...values].sort().join(" ")}\n`);
    return `${name} (${type}) ${help}\n${name.startsWith("fleetgate_") ? lines.sort().join("") : ""}`;
  });
  const values = samples
    .filter(({ name, value }) => counted.test(name) && value !== 0)
    .map(({ name, labels, value }) => `${name} ${Object.values(labels).join(" ")} = ${value}\n`);
  return [...heads.sort(), "\n", ...values.sort()].join("");
}
