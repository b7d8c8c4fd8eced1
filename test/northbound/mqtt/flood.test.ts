import { afterEach, beforeEach, expect, test } from "vitest";
import { createFanOut, type FanOut } from "../../../src/delivery/fan-out.ts";
import { createLinkRunner } from "../../../src/delivery/link-runner.ts";
import { type Command, commandId } from "../../../src/domain/command.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import { refusal } from "../../../src/domain/outcome.ts";
import type { MqttLink } from "../../../src/northbound/mqtt/link.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createFakeState } from "../../delivery/fake-state.ts";
import { createChronicle } from "../../support/chronicle.ts";
import { newBroker, newLink } from "./link-harness.ts";
import { base, done, type Listener, listen, recordingCommander, start } from "./mqtt-harness.ts";
import { createValve, type Valve } from "./valve.ts";

const FLOOD = 100;
const ROOM = 20;
const cleanups: Array<() => Promise<unknown> | unknown> = [];
const taken = createChronicle<Command>((command) => commandId(command));
let valve: Valve;
let client: Listener;
let fanOut: FanOut;
let link: MqttLink;

/**
 * The way of commands and events over a real broker, with room for few of them. Guests may do nothing but
 * flood.
 */
beforeEach(async () => {
  const broker = newBroker();
  cleanups.push(await start(broker));
  valve = createValve(broker.open);
  client = await listen(`mqtt://127.0.0.1:${broker.port()}`);
  cleanups.push(() => client.client.endAsync(true));
  fanOut = createFanOut({ state: createFakeState(), clock: systemClock, log: silentLog });
  const commander = recordingCommander(async (command) => {
    const isGuest = command.source.name.startsWith("guest");
    const outcome = isGuest ? refusal("NOT_ALLOWED", "may not") : done;
    fanOut.offer({ changes: [], events: [eventOf(command, outcome)] });
    taken.add(command);
    return outcome;
  });
  link = newLink({
    commander,
    openBroker: valve.openBroker,
    replyBounds: { unacknowledged: 4, ofOneAtOnce: 1, waiting: ROOM },
  });
  const outlet = fanOut.attachOutlet("mqtt", { changes: 1_000, events: ROOM, perTurn: 10 });
  let connected = () => {};
  const connecting = new Promise<void>((resolve) => {
    connected = resolve;
  });
  const connect = async (signal: AbortSignal) => {
    const connection = await link.connect(signal);
    connected();
    return connection;
  };
  const runner = createLinkRunner(
    { ...link, connect },
    {
      outlet,
      backoff: { baseMs: 10, capMs: 10 },
      writeTimeoutMs: 30_000,
      drainMs: 100,
      clock: systemClock,
      random: () => 0.5,
      log: silentLog,
    },
  );
  cleanups.push(await start(runner));
  await connecting;
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function eventOf(command: Command, outcome: typeof done): FleetEvent {
  const id = commandId(command);
  const { operation } = command;
  return {
    kind: "command",
    eventId: id,
    robotId: "",
    atMs: 0,
    command,
    operation,
    from: "received",
    outcome,
  };
}

function mission(eventId: string): FleetEvent {
  const to = "STATE_RUNNING" as const;
  return {
    kind: "mission",
    eventId,
    robotId: "r1",
    atMs: 0,
    missionId: "m1",
    from: null,
    to,
    owner: "",
    command: null,
  };
}

async function send(name: string, operation: string, id: string): Promise<void> {
  const payload = JSON.stringify({ id, request: { robot_id: "r1" } });
  await client.client.publishAsync(`${base}/clients/${name}/command/${operation}`, payload, { qos: 1 });
}

/** Resolves when all commands of the flood were answered, and nothing of that has left yet. */
async function flood(name: string): Promise<void> {
  const from = taken.entries.length;
  for (let number = 0; number < FLOOD; number += 1) await send(name, "GetConveyorIndex", String(number));
  await taken.first("the last of the flood", (command) => command.requestId === String(FLOOD - 1), from);
}

test("a client that only floods takes nobody's events: not those of robots, not those of another sender", async () => {
  valve.shut();
  // The event of the first is on its way for as long as the valve is shut; what comes after it waits in the
  // queue.
  for (const id of ["on-its-way", "mine"]) {
    await send("scada", "GetConveyorIndex", id);
    await taken.first("scada's own", (command) => command.requestId === id);
  }
  fanOut.offer({ changes: [], events: [mission("e1"), mission("e2")] });
  await flood("guest");
  expect(fanOut.health()).toMatchObject({
    state: "degraded",
    detail: "more events come than can be handed over, and the oldest are lost: mqtt",
  });
  valve.open();
  for (const id of ["e1", "e2"])
    await client.on("robots/r1/event/mission", ({ text }) => JSON.parse(text).event_id === id);
  const lasts = `mqtt:guest/${FLOOD - 1}`;
  await client.on("event/command", ({ text }) => JSON.parse(text).event_id === lasts);
  const told = client.received
    .filter(({ topic }) => topic === `${base}/event/command`)
    .map(({ text }) => JSON.parse(text).command_id as string);
  expect(told).toContain("mqtt:scada/mine");
  const lost = fanOut.health().figures?.["mqtt.eventsDropped"];
  expect(lost).toBeGreaterThan(0);
  expect(told.filter((id) => id.startsWith("mqtt:guest/"))).toHaveLength(FLOOD - (lost ?? 0));
});

test("a client that only floods takes nobody's replies, and the health tells of its own", async () => {
  expect(link.health()).toMatchObject({ state: "up", figures: { repliesDropped: 0, repliesWaiting: 0 } });
  valve.shut();
  await flood("guest");
  await send("hmi", "ControlConveyor", "stop");
  await taken.first("the stop", (command) => command.requestId === "stop");
  await flood("guest2");
  expect(link.health()).toMatchObject({
    state: "degraded",
    detail: "replies to commands are dropped: the broker does not take them fast enough",
  });
  valve.open();
  expect(JSON.parse((await client.on("clients/hmi/reply/stop")).text)).toMatchObject({
    outcome: "succeeded",
  });
  for (const guest of ["guest", "guest2"]) await client.on(`clients/${guest}/reply/${FLOOD - 1}`);
  expect(link.health().figures?.repliesDropped).toBe(2 * FLOOD - 4 - 1 - ROOM);
  const answered = (guest: string) =>
    client.received.filter(({ topic }) => topic.startsWith(`${base}/clients/${guest}/reply/`)).length;
  // Beside what was on its way at once, each had half of the room.
  expect([answered("guest"), answered("guest2")]).toEqual([4 + ROOM / 2, 1 + ROOM / 2]);
});
