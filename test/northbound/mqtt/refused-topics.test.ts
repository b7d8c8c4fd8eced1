import { afterEach, describe, expect, it } from "vitest";
import type { FleetEvent } from "../../../src/domain/event.ts";
import type { MqttOptions } from "../../../src/northbound/mqtt/options.ts";
import { type Log, silentLog } from "../../../src/platform/log.ts";
import { newLink } from "./link-harness.ts";
import { haveMosquitto, startMosquitto } from "./mosquitto.ts";
import { base, external, listen, missionChange, mqttOptions } from "./mqtt-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function event(eventId: string, robotId: string): FleetEvent {
  const states = { from: "STATE_RUNNING", to: "STATE_SUCCEEDED" } as const;
  return {
    ...{ kind: "mission", eventId, robotId, atMs: 0, missionId: "m1", owner: "api", command: null },
    ...states,
  };
}

/** A gateway at a mosquitto that lets it not write to some topics. */
async function connect(denied: readonly string[], options: Partial<MqttOptions> = {}) {
  const rules = [
    "user gateway",
    ...denied.map((topic) => `topic deny ${base}/${topic}`),
    "topic readwrite #",
    "user reader",
    "topic read #",
    "",
  ];
  const users = ["gateway", "reader"];
  const broker = await startMosquitto({ rules: rules.join("\n"), users });
  cleanups.push(() => broker.stop());
  const said: string[] = [];
  const warn: Log["warn"] = (fields, message) => void said.push(`${message} ${JSON.stringify(fields)}`);
  const plant = { ...external(broker.url), username: "gateway", password: "gateway" };
  const link = newLink({
    options: mqttOptions({ broker: plant, protocolVersion: 5, ...options }),
    log: { ...silentLog, warn },
  });
  const connection = await link.connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  let isLost = false;
  void connection.lost.then(() => {
    isLost = true;
  });
  const url = broker.url.replace("mqtt://", "mqtt://reader:reader@");
  return { link, connection, said, url, isLost: () => isLost };
}

describe.runIf(haveMosquitto)("a topic that the broker's ACL denies", () => {
  it("costs the events on it, which others tell of, and not the connection", async () => {
    const { connection, link, said, url, isLost } = await connect(["robots/r1/event/mission"]);
    const plant = await listen(url, {}, `${base}/robots/+/event/#`);
    cleanups.push(() => plant.client.endAsync(true));
    const events = [event("e1", "r2"), event("e2", "r1"), event("e3", "r2"), event("e4", "r1")];
    await connection.write({ changes: [missionChange("r1")], events });
    await connection.write({ changes: [], events: [event("e5", "r2")] });
    const received = async (id: string) =>
      JSON.parse((await plant.receive(({ text }) => text.includes(`"${id}"`))).text);
    for (const id of ["e1", "e3", "e5"]) expect(await received(id)).toMatchObject({ robot_id: "r2" });
    for (const id of ["e2.dropped", "e4.dropped"]) {
      expect(await received(id)).toMatchObject({ robot_id: "r1", reason: "refused", count: 1 });
    }
    expect(isLost()).toBe(false);
    expect(link.health()).toMatchObject({
      state: "degraded",
      detail: expect.stringContaining(`refuses to let the gateway write to ${base}/robots/r1/event/mission`),
      figures: { messagesRefused: 2 },
    });
    expect(said.filter((line) => line.includes("refuses a topic"))).toEqual([
      expect.stringContaining("robots/r1/event/mission"),
    ]);
  });

  it("is named for state of QoS 1 too, which counts as refused", async () => {
    const { connection, link, isLost } = await connect(["robots/r1/mission"], { stateQos: 1 });
    await connection.write({ changes: [missionChange("r1"), missionChange("r2")], events: [] });
    expect(isLost()).toBe(false);
    expect(link.health()).toMatchObject({
      state: "degraded",
      detail: expect.stringContaining("robots/r1/mission"),
      figures: { messagesRefused: 1 },
    });
  });

  it("keeps the connection without a status, and names the topic", async () => {
    const { connection, link, isLost } = await connect(["status"]);
    await connection.write({ changes: [missionChange("r1")], events: [event("e1", "r1")] });
    expect(isLost()).toBe(false);
    expect(link.health()).toMatchObject({
      state: "degraded",
      detail: expect.stringContaining(`refuses to let the gateway write to ${base}/status`),
    });
  });

  it("loses the event altogether where what tells of it is denied as well", async () => {
    const { connection, isLost } = await connect(["robots/r1/event/#"]);
    await connection.write({ changes: [], events: [event("e1", "r1"), event("e2", "r2")] });
    expect(isLost()).toBe(false);
  });
});
