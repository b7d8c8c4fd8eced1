import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { haveMosquitto, startMosquitto } from "../../northbound/mqtt/mosquitto.ts";
import { startPlantBroker } from "../../support/plant-broker.ts";
import { configText, createOnlineHarness, type OnlineHarness } from "./online-harness.ts";

let harness: OnlineHarness;

beforeEach(async () => {
  harness = await createOnlineHarness();
  await harness.folder.write("password", "fleetgate");
});
afterEach(() => harness[Symbol.asyncDispose]());

/** The fleet service is of no interest here: nothing listens at its address. */
const fleet = { grpc: "127.0.0.1:9", https: "https://127.0.0.1:9" };
const users = "username: fleetgate, password: password,";
const text = (url: string, more: string) =>
  configText(fleet, `mqtt: { broker: "${url}", ${more} commands: { brokerEnforcesClientNames: true } }`);

const event = "broker topic fleetgate/plant1/event/check";

describe.skipIf(!haveMosquitto)("check --online, of mosquitto", () => {
  it("is content with the rules of docs/mqtt.md", async () => {
    const page = await readFile("docs/mqtt.md", "utf8");
    const [, rules = ""] = /\n( {4}user fleetgate\n(?: {4}.*\n|\n)*)/.exec(page) ?? [];
    expect(rules).toContain("clients/%u/command/+");
    const acl = { rules: rules.replace(/^ {4}/gm, ""), users: ["fleetgate", "scada"] };
    const broker = await startMosquitto(acl);
    const parts = await harness.check(text(broker.url, users));
    await broker.stop();
    const ofBroker = [...parts.values()].filter(({ part }) => part.startsWith("broker"));
    expect(ofBroker.map(({ state }) => state)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
    expect(parts.get("broker client names")?.detail).toContain("a client without a user is not let in");
  });

  it("tries the topics of Sparkplug, and says which rights they need", async () => {
    const own = "topic readwrite spBv1.0/plant1/+/edge\n";
    const rules = `user fleetgate\ntopic readwrite fleetgate/plant1/#\n${own}`;
    const broker = await startMosquitto({ rules, users: ["fleetgate"] });
    const sparkplug = "sparkplug: { groupId: plant1, nodeId: edge },";
    const parts = await harness.check(text(broker.url, users + sparkplug));
    await broker.stop();
    expect(parts.get(event)?.state).toBe("ok");
    expect(parts.get("broker topic spBv1.0/plant1/CHECK/edge")?.state).toBe("ok");
    expect(parts.get("broker topic spBv1.0/plant1/CHECK/edge/fleetgate-check")).toMatchObject({
      state: "wrong",
      advice: expect.stringContaining("spBv1.0/plant1/+/edge/#"),
    });
  });

  it("is content with the rules of config/examples for Sparkplug, and tries no JSON topics if they are off", async () => {
    const example = await readFile("config/examples/mosquitto.acl", "utf8");
    const rules = example.replace(/^# (?=user |topic )/gm, "");
    const broker = await startMosquitto({ rules, users: ["fleetgate", "scada"] });
    const sparkplug = "sparkplug: { groupId: plant1, nodeId: fleetgate, primaryHost: scada, json: false },";
    const parts = await harness.check(text(broker.url, users + sparkplug));
    await broker.stop();
    const ofBroker = [...parts.values()].filter(({ part }) => part.startsWith("broker"));
    expect(ofBroker.map(({ part, state }) => `${part}: ${state}`)).toEqual([
      "broker: ok",
      "broker topic spBv1.0/plant1/CHECK/fleetgate: ok",
      "broker topic spBv1.0/plant1/CHECK/fleetgate/fleetgate-check: ok",
      "broker subscriptions: ok",
      "broker client names: skipped",
    ]);
  });

  it("names the topic that the gateway's user may not write, or not read", async () => {
    const rules = "user fleetgate\ntopic read fleetgate/plant1/#\ntopic write fleetgate/plant1/clients/#\n";
    const broker = await startMosquitto({ rules, users: ["fleetgate"] });
    const parts = await harness.check(text(broker.url, users));
    await broker.stop();
    expect(parts.get(event)).toMatchObject({
      state: "wrong",
      detail: expect.stringContaining("refused: "),
      advice: expect.stringContaining("mqtt.base"),
    });
  });

  it("names each placement that the gateway's user may not write", async () => {
    const rules = "user fleetgate\ntopic readwrite fleetgate/plant1/#\ntopic readwrite acme/amr/#\n";
    const broker = await startMosquitto({ rules, users: ["fleetgate"] });
    const placement = 'placement: { robot: "acme/amr/{robot}", station: "acme/{place}/{station}" },';
    const stations = "\nstations: { dock: { destinations: [Dock], place: line3/cell7 } }";
    const parts = await harness.check(text(broker.url, users + placement) + stations);
    await broker.stop();
    expect(parts.get("broker topic acme/amr/fleetgate-check/tags/check")?.state).toBe("ok");
    expect(parts.get("broker topic acme/line3/cell7/dock/check")).toMatchObject({
      state: "wrong",
      advice: expect.stringContaining("mqtt.placement"),
    });
  });

  it("says that a client without a user may write under any name", async () => {
    const broker = await startMosquitto();
    const parts = await harness.check(text(broker.url, users));
    await broker.stop();
    expect(parts.get("broker client names")).toMatchObject({
      state: "wrong",
      detail:
        "a client without a user may write to fleetgate/plant1/clients/fleetgate-check/command/: it can command in the name of any client",
    });
  });

  it("says what to look at where the password is wrong", async () => {
    await harness.folder.write("password", "another");
    const broker = await startMosquitto({ rules: "", users: ["fleetgate"] });
    const parts = await harness.check(text(broker.url, users));
    await broker.stop();
    expect(parts.get("broker")).toMatchObject({
      state: "wrong",
      detail: expect.stringContaining("Not authorized"),
      advice: expect.stringContaining("mqtt.password"),
    });
  });
});

describe.skipIf(!haveMosquitto)("check --online, of several brokers", () => {
  it("tries each, and names its key", async () => {
    const [first, second] = await Promise.all([startMosquitto(), startMosquitto()]);
    await first.stop();
    const parts = await harness.check(text(first.url, `fallbackBrokers: ["${second.url}"],`));
    await second.stop();
    expect(parts.get("connection mqtt.broker")?.state).toBe("wrong");
    expect(parts.get("broker (mqtt.broker)")?.state).toBe("skipped");
    expect(parts.get("connection mqtt.fallbackBrokers[0]")?.state).toBe("ok");
    expect(parts.get("broker (mqtt.fallbackBrokers[0])")?.state).toBe("ok");
    expect(parts.get(`${event} (mqtt.fallbackBrokers[0])`)?.state).toBe("ok");
  });

  it("says what the plant lacks by a broker's limits", async () => {
    const broker = await startMosquitto(undefined, ["retain_available false", "max_packet_size 5000"]);
    const parts = await harness.check(text(broker.url, ""));
    await broker.stop();
    expect(parts.get("broker")?.detail).toContain(
      "packets of at most 5000 bytes, and 20 unacknowledged messages",
    );
    expect(parts.get("broker limits")).toMatchObject({
      state: "wrong",
      detail: expect.stringContaining("retains no messages"),
    });
  });
});

it("tries a broker of MQTT 3.1.1 too", async () => {
  const broker = await startPlantBroker();
  const parts = await harness.check(text(broker.url, "protocolVersion: 4,"));
  await broker.close();
  expect(parts.get(event)?.state).toBe("ok");
  expect(parts.get("broker client names")?.state).toBe("wrong");
});
