import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { channels, examplesOn, messageSchemas } from "../../../src/northbound/mqtt/models/messages.ts";
import { topicTemplates } from "../../../src/northbound/mqtt/topic-templates.ts";
import { isJsonObject } from "../../../src/platform/json.ts";
import { readJson } from "../../../src/platform/strict-json.ts";
import { messageFaults } from "../../support/message-schemas.ts";
import { type ExamplesGateway, examplesBase, publishExamples } from "./examples-harness.ts";

const examples = examplesOn(readFileSync("docs/mqtt-reference.md", "utf8"));
let gateway: ExamplesGateway;
beforeAll(async () => {
  gateway = await publishExamples();
});
afterAll(() => gateway.close());

const ofClients = new Set(
  channels.filter(({ from }) => from === "client").flatMap(({ messages }) => Object.keys(messages)),
);

describe("the examples of docs/mqtt-reference.md", () => {
  it("are what the gateway publishes, and takes", async () => {
    for (const { topic, payload } of examples.filter(({ message }) => ofClients.has(message ?? ""))) {
      await gateway.client.client.publishAsync(`${examplesBase}/${topic}`, payload, { qos: 1 });
      const { id } = JSON.parse(payload);
      const reply = await gateway.client.receive((each) => each.topic.endsWith(`/reply/${id}`));
      expect(JSON.parse(reply.text), payload).toMatchObject({ outcome: "succeeded" });
    }
    for (const { topic, payload } of examples.filter(({ message }) => !ofClients.has(message ?? ""))) {
      const received = await gateway.client.receive((each) => each.topic === `${examplesBase}/${topic}`);
      expect(received.text, topic).toBe(payload);
    }
  });

  it("have no key twice", () => {
    for (const { payload } of examples.filter(({ payload }) => payload.startsWith("{")))
      expect(readJson(payload), payload).toMatchObject({ ok: true });
  });

  it("show every message once at least", () => {
    const shown = new Set(examples.map(({ message }) => message));
    expect([...shown].sort()).toEqual(Object.keys(messageSchemas()).sort());
  });

  it("have the schemas of their topics, as all that the gateway publishes", () => {
    for (const { topic, payload } of examples) expect(messageFaults(topic, payload)).toEqual([]);
    expect(gateway.client.received.length).toBeGreaterThan(50);
    for (const { topic, text } of gateway.client.received)
      expect(messageFaults(topic.slice(examplesBase.length + 1), text)).toEqual([]);
  });
});

it.each([
  ["robots/r1/mission", '{"robot_id":"r1"}'],
  ["robots/r1/availability", "unknown"],
  ["status", '{"state":"online","session_id":"s","gateway_id":"g","at":"yesterday"}'],
  ["clients/c/command/HoldAll", '{"id":"1","hold":"yes"}'],
  ["clients/c/command/GetMap", '{"id":"1","requests":{}}'],
  ["robots/r1/event/other", "{}"],
])("a message that is not as described is found: %s %s", (topic, text) => {
  expect(messageFaults(topic, text)).not.toEqual([]);
});

describe("what is generated (else run: node scripts/mqtt-doc.mjs)", () => {
  it("config/schemas has the schema of every message", async () => {
    const schemas = messageSchemas();
    const names = await readdir("config/schemas");
    expect(names.sort()).toEqual(
      Object.keys(schemas)
        .map((name) => `${name}.json`)
        .sort(),
    );
    for (const [name, schema] of Object.entries(schemas)) {
      const kept: unknown = JSON.parse(await readFile(`config/schemas/${name}.json`, "utf8"));
      expect(kept, name).toEqual(JSON.parse(JSON.stringify(schema)));
    }
  });

  it("config/asyncapi.json describes every topic, and every reference leads somewhere", async () => {
    const document: unknown = JSON.parse(await readFile("config/asyncapi.json", "utf8"));
    const { version } = JSON.parse(await readFile("package.json", "utf8"));
    expect(document).toMatchObject({ asyncapi: "3.0.0", info: { title: "Fleetgate", version } });
    const described = document as {
      channels: Record<string, { address: string; parameters: object; messages: object }>;
      operations: Record<string, { action: string; channel: { $ref: string } }>;
    };
    const addresses = Object.values(described.channels).map(({ address }) => address);
    expect(addresses).toEqual(
      Object.values(topicTemplates).map((template) => `fleetgate/{gateway}/${template}`),
    );
    for (const { address, parameters } of Object.values(described.channels))
      for (const name of Object.keys(parameters)) expect(address).toContain(`{${name}}`);
    const references = referencesOf(document);
    expect(references.length).toBeGreaterThan(60);
    for (const reference of references) expect(resolve(document, reference), reference).toBeDefined();
    const used = Object.values(described.operations).map(({ channel }) => channel.$ref);
    expect(used.sort()).toEqual(
      Object.keys(described.channels)
        .map((name) => `#/channels/${name}`)
        .sort(),
    );
  });
});

function referencesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  if (!isJsonObject(value)) return [];
  return typeof value.$ref === "string" ? [value.$ref] : Object.values(value).flatMap(referencesOf);
}

function resolve(document: unknown, reference: string): unknown {
  const [, ...steps] = reference.split("/");
  return steps.reduce((at: unknown, step) => (isJsonObject(at) ? at[step] : undefined), document);
}
