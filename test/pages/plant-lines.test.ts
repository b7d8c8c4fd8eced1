import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { haveMosquittoSub } from "../e2e/mosquitto-sub.ts";
import { haveMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { messageFaults } from "../support/message-schemas.ts";
import { expectationOf } from "./expectations.ts";
import { commandLines, topics } from "./page.ts";
import { openPlantShell, PAGES, type PlantClient, type PlantShell } from "./plant-shell.ts";
import { type Started, subscribed, tellingSubscription } from "./shell.ts";

const old: PlantClient = { version: "mqttv311", user: "hmi" };
const five: PlantClient = { version: "mqttv5", user: "mes" };
const BASE = "fleetgate/plant1/";
const OTHER = "cart-03";

const lines = PAGES.flatMap(commandLines).filter(({ line }) => line.startsWith("mosquitto_"));
const demoLines = lines.filter(({ line }) => line.includes("-h 127.0.0.1"));
const plantLines = lines.filter(({ line }) => line.includes("-h broker.example.com"));

/** Only bounds drop events. */
const notSeen = new Set(["robots/<id>/event/dropped", "event/dropped"]);
/** What the MQTT 5 line of the page prints: topic, correlation data, and the answer. */
const ANSWERED = /^fleetgate\/plant1\/clients\/mes\/answers line-3 \{"id":"50","outcome":"succeeded"/;

/** Under the client's own name. */
const kinds = [
  "command/CreateMission",
  "command/Hold",
  "command/HoldAll",
  "command/LeaseRobot",
  "command/Heartbeat",
  "command/ReleaseRobot",
  "command/OverrideLease",
  "command/AcknowledgeAlarm",
  "command/SetOutOfService",
];

let plant: PlantShell;
/** What the followers have heard. */
const seen: Array<ReturnType<typeof messageIn>> = [];
/** A message as `mosquitto_sub -v` prints it: its topic under the base, and its text. */
function messageIn(printed: string): { readonly topic: string; readonly text: string } {
  const end = printed.indexOf(" ");
  const text = printed.slice(end + 1);
  return { topic: printed.slice(BASE.length, end), text: text === "(null)" ? "" : text };
}

/** Starts a line that follows topics; resolves when it is subscribed. */
async function followLine(line: string, client: PlantClient): Promise<Started> {
  const started = plant.start(tellingSubscription(line), client);
  await subscribed(started);
  return started;
}

/** Resolves with what follows everything, when robots are good. */
async function follow(client: PlantClient): Promise<Started["out"]> {
  const { out } = await followLine("mosquitto_sub -h 127.0.0.1 -q 1 -v -t 'fleetgate/demo/#'", client);
  for (const robot of ["cart-01", OTHER])
    await out.first(robot, (printed) => printed === `${BASE}robots/${robot}/availability good`);
  return out;
}

/** The text of the first message on a topic that a test accepts. */
async function heardOn(out: Started["out"], topic: string, is: RegExp, from = 0): Promise<string> {
  const fits = (printed: string) => printed.startsWith(`${BASE}${topic} `) && is.test(printed);
  return messageIn(await out.first(`${topic} ${is}`, fits, from)).text;
}

/** Keeps the messages that a follower has heard. */
function note(out: Started["out"]): void {
  seen.push(...out.entries.filter((printed) => printed.startsWith(BASE)).map(messageIn));
}

/** Runs a line that ends, and checks its exit code and what it has printed. */
async function run(line: string, client: PlantClient, prints: RegExp): Promise<void> {
  const started = plant.start(line, client);
  const ended = await started.ended;
  const printed = started.out.entries.join("\n");
  expect({ line, code: ended, printed, complaint: started.complaint() }).toEqual({
    line,
    code: 0,
    printed: expect.stringMatching(prints),
    complaint: "",
  });
}

/** What a line of the page needs before it, that its reader sees on the screen. */
async function ready(line: string, out: Started["out"], alarmOf: string): Promise<string> {
  if (line.includes("/LeaseRobot "))
    await heardOn(out, "robots/cart-01/mission", /"destination_id":"Station A"/);
  if (line.includes("MISSION_ID")) {
    const event = await heardOn(out, "robots/cart-01/event/mission", /"to":"STATE_PAUSED"/);
    return line.replace("MISSION_ID", JSON.parse(event).mission_id);
  }
  if (!line.includes("ALARM_ID")) return line;
  const standing = JSON.parse(await heardOn(out, alarmOf, /"count":[1-9]/));
  return line.replace("ALARM_ID", standing.alarms.at(-1).id);
}

describe.runIf(haveMosquitto && haveMosquittoSub)("the lines of the MQTT pages, at a mosquitto", () => {
  beforeAll(async () => {
    plant = await openPlantShell([old.user, five.user]);
  });
  afterAll(() => plant.close());

  test("are all run, and send every kind of message", () => {
    expect([...demoLines, ...plantLines].length).toBe(lines.length);
    const published = demoLines.map(
      ({ line }) => /^mosquitto_pub .* -t \S+\/clients\/hmi\/(\S+)/.exec(line)?.[1],
    );
    expect(kinds.filter((kind) => !published.includes(kind))).toEqual([]);
  });

  test.each([old, five])("print what the page says over $version", async (client) => {
    const { control } = plant;
    control.happen({ kind: "conveyor-payload", robotId: OTHER, index: 1, loaded: client === old });
    control.happen({ kind: "conveyor-health", robotId: OTHER, index: 1, ok: false });
    const out = await follow(client);
    const alarmOf = client === old ? `robots/${OTHER}/alarms` : "alarms";
    const followed: Array<readonly [Started, RegExp]> = [];
    for (const { page, line } of demoLines) {
      const expectation = expectationOf({ page, line });
      const from = out.entries.length;
      if (expectation.kind === "follows") followed.push([await followLine(line, client), expectation.prints]);
      else if (expectation.kind !== "ends") throw new Error(`nothing says what this prints: ${line}`);
      else if (line.includes("-V mqttv311") && client === five) continue;
      else await run(await ready(line, out, alarmOf), client, expectation.prints);
      const [, id] = / -m '\{"id":"([^"]+)"/.exec(line) ?? [];
      if (id === undefined) continue;
      const reply = await heardOn(out, `clients/${client.user}/reply/${id}`, /./, from);
      expect(JSON.parse(reply), line).toMatchObject({ id, outcome: "succeeded", code: "OK" });
    }
    for (const [started, prints] of followed) {
      await started.out.first(`${prints}`, (text) => prints.test(text));
      await started.stop();
    }
    // The hold has ended it: the next client finds the robot free.
    await heardOn(out, "robots/cart-01/event/mission", /"to":"STATE_CANCELED"/);
    note(out);
  });

  test("reach the broker of the page with TLS, user and password", async () => {
    for (const { line } of plantLines) {
      if (line.startsWith("mosquitto_rr")) await run(line, five, ANSWERED);
      else await run(`${line} -C 1`, old, /^fleetgate\/plant1\/robots\/cart-0\d\/mission \{/);
    }
  });

  test("name what every message of MQTT 5 is answered with", async () => {
    const rr = plantLines.find(({ line }) => line.startsWith("mosquitto_rr"))?.line ?? "";
    for (const [topic, fields] of [
      ["command/Hold", ',"robot_id":"cart-01","hold":false'],
      ["command/Heartbeat", ',"station":"dock","counter":3'],
      ["command/SetOutOfService", ',"robot_id":"cart-01","out_of_service":false'],
    ] as const) {
      const line = rr.replace("command/GetOnlineRobots", topic).replace(',"request":{}', fields);
      await run(line, five, ANSWERED);
    }
  });

  test("and a few more make every topic of the pages carry what its schema says", async () => {
    const out = await follow(old);
    const send = (operation: string, request: unknown) => {
      const text = JSON.stringify({ id: operation, expires_in_ms: 10_000, request });
      const topic = `fleetgate/demo/clients/hmi/command/${operation}`;
      return run(`mosquitto_pub -h 127.0.0.1 -q 1 -t ${topic} -m '${text}'`, old, /^$/);
    };
    const tasks = [{ taskType: "TASK_TYPE_LOAD", mapId: 1, endPointCode: "ST-A" }];
    await send("AddTaskChain", { taskChain: { areaId: 1, amrId: 102 }, tasks });
    await send("GetMap", { mapId: 1 });
    await send("DeleteWebhook", { id: "w-1" });
    plant.control.happen({ kind: "wired", robotId: OTHER, plugged: true });
    const isShown = (topic: string) => topic !== "robots/<id>" && !notSeen.has(topic);
    const listed = PAGES.flatMap(topics).filter(isShown);
    expect(listed.length).toBeGreaterThan(25);
    for (const topic of listed) {
      const pattern = new RegExp(`^${topic.replace(/<[^>]+>/g, "[^/]+").replace("…", ".+")}$`);
      if (seen.some((message) => pattern.test(message.topic))) continue;
      await out.first(topic, (printed) => printed.startsWith(BASE) && pattern.test(messageIn(printed).topic));
    }
    note(out);
    for (const { topic, text } of seen) expect(messageFaults(topic, text)).toEqual([]);
  });
});
