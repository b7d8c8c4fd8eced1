import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { examplesOn } from "../../src/northbound/mqtt/models/messages.ts";
import { createLive } from "../../src/platform/live.ts";
import { createConfigFolder, minimal } from "../config/config-folder.ts";
import { newLink } from "../northbound/mqtt/link-harness.ts";
import { haveMosquitto, startMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { external, listen, missionChange, mqttOptions } from "../northbound/mqtt/mqtt-harness.ts";
import { blockOf, codeBlocks } from "./page.ts";
import { PAGES } from "./plant-shell.ts";

const untested = "the page says that it is untested";

/** What each block of the page is, by its beginning, and what holds it to the gateway. */
const rows: ReadonlyArray<readonly [RegExp, { file: string; has: string } | string]> = [
  [/^mosquitto_/, { file: "test/pages/plant-lines.test.ts", has: "flatMap(commandLines)" }],
  [/^user fleetgate/, { file: "test/pages/plant-shell.ts", has: 'blockOf(PAGES, "user fleetgate")' }],
  [/^mqtt:/, "loaded here"],
  [/^\{"/, "compared here"],
  [/^topic readwrite acme/, "used here"],
  [/^\{allow/, untested],
  [/^<role>/, untested],
];

const cleanups: Array<() => PromiseLike<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("each block of the page has its row, and each row its block", () => {
  const blocks = PAGES.flatMap(codeBlocks);
  const rowOf = (block: string) => rows.find(([beginning]) => beginning.test(block));
  expect(blocks.filter((block) => rowOf(block) === undefined)).toEqual([]);
  expect(rows.filter((row) => !blocks.some((block) => rowOf(block) === row))).toEqual([]);
  for (const [, what] of rows)
    if (typeof what !== "string") expect(readFileSync(what.file, "utf8")).toContain(what.has);
});

test("each message of the page has the fields of a published one", () => {
  const fieldsOf = (text: string) => Object.keys(JSON.parse(text)).sort().join();
  const known = examplesOn(readFileSync("docs/mqtt-reference.md", "utf8")).filter(({ payload }) =>
    payload.startsWith("{"),
  );
  const shapes = new Set(known.map(({ payload }) => fieldsOf(payload)));
  const messages = PAGES.flatMap(codeBlocks).filter((block) => block.startsWith('{"'));
  expect(messages.length).toBeGreaterThan(6);
  for (const message of messages)
    expect([...shapes], message).toContain(fieldsOf(message.replaceAll("{…}", "{}")));
});

/** A configuration of the page, with what it leaves to its reader. */
const completed = (block: string) =>
  minimal +
  block
    .replace("…", "destinations: [Dock 3]")
    .replace(/^mqtt:\n(?! {2}broker)/, "mqtt:\n  broker: mqtts://broker.example.com\n");

test("each configuration of the page loads", async () => {
  const folder = await createConfigFolder();
  cleanups.push(() => folder[Symbol.asyncDispose]());
  const blocks = PAGES.flatMap(codeBlocks).filter((block) => block.startsWith("mqtt:"));
  expect(blocks.length).toBeGreaterThan(1);
  for (const block of blocks) expect(await folder.load(completed(block)), block).toMatchObject({ ok: true });
});

test.runIf(haveMosquitto)(
  "the rules for the tree of a plant let the gateway write, and clients read",
  async () => {
    const folder = await createConfigFolder();
    cleanups.push(() => folder[Symbol.asyncDispose]());
    const config = await folder.config(completed(blockOf(PAGES, "mqtt:\n  base:")));
    const [write, read] = blockOf(PAGES, "topic readwrite acme").split("\n\n");
    const usual = blockOf(PAGES, "user fleetgate").replaceAll("fleetgate/plant1", "acme/munich/fleetgate");
    const rules = `${usual.replace(/(?<=^topic .*\n)/m, `${write}\n`)}\n${read}`;
    const broker = await startMosquitto({ rules, users: ["fleetgate", "hmi"] });
    cleanups.push(() => broker.stop());
    if (config.mqtt === null) throw new Error("the page's block has no section mqtt");
    const { base } = config.mqtt;
    const placement = createLive(config.mqtt.placement);
    const login = { ...external(broker.url), username: "fleetgate", password: "fleetgate" };
    const hmi = await listen(broker.url, { username: "hmi", password: "hmi" }, "acme/#");
    cleanups.push(() => hmi.client.endAsync(true));
    const options = mqttOptions({ broker: login, protocolVersion: 5, stateQos: 1, base, placement });
    const connection = await newLink({ options }).connect(new AbortController().signal);
    cleanups.push(() => connection[Symbol.asyncDispose]());
    const alarms = { kind: "station_alarms", station: "dock", alarms: [] } as const;
    await connection.write({ changes: [missionChange("robot-17"), alarms], events: [] });
    await hmi.receive(({ topic }) => topic === "acme/munich/amr/robot-17/mission");
    await hmi.receive(({ topic }) => topic === "acme/munich/assembly/line3/cell7/dock/alarms");
  },
);
