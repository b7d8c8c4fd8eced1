import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Connection } from "../../../src/contracts/link.ts";
import { createLeadership, type Leadership } from "../../../src/northbound/mqtt/leadership.ts";
import type { MqttLink } from "../../../src/northbound/mqtt/link.ts";
import { createMemberStatus } from "../../../src/northbound/mqtt/member-status.ts";
import type { MqttOptions } from "../../../src/northbound/mqtt/options.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { type Chronicle, createChronicle } from "../../support/chronicle.ts";
import { createTestCluster, type TestCluster } from "../../support/test-cluster.ts";
import { newLink } from "./link-harness.ts";
import { haveMosquitto, type Mosquitto, startMosquitto } from "./mosquitto.ts";
import { base, external, type Listener, listen, mqttOptions, start } from "./mqtt-harness.ts";

interface Status {
  readonly state: string;
  readonly session_id: string;
  readonly member?: string;
  readonly epoch?: number;
  readonly role?: string;
}

/** One box of the cluster. */
interface Box {
  readonly view: TestCluster;
  readonly link: MqttLink;
  readonly leadership: Leadership;
  readonly duplicates: Chronicle<string>;
  connect(): Promise<Connection>;
}

let broker: Mosquitto;
const cleanups: (() => PromiseLike<unknown>)[] = [];

async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

async function ears(): Promise<Listener> {
  const listener = await listen(broker.url);
  cleanups.push(() => listener.client.endAsync(true));
  return listener;
}

const statusOf = ({ text }: { readonly text: string }): Status => JSON.parse(text);
/** What a client that comes now is told. */
const retained = async (topic: string) => statusOf(await (await ears()).on(topic));

/** Publishes a status as the gateway of another run would. */
async function publish(status: object): Promise<void> {
  const { client } = await ears();
  await client.publishAsync(`${base}/status`, JSON.stringify({ gateway_id: "test", ...status }), {
    qos: 1,
    retain: true,
  });
}

describe.skipIf(!haveMosquitto).each([4, 5] as const)(
  "two boxes at mosquitto, MQTT %s",
  (protocolVersion) => {
    beforeAll(async () => {
      broker = await startMosquitto();
    });
    afterAll(() => broker.stop());
    afterEach(async () => {
      await cleanUp();
      const { client } = await listen(broker.url);
      for (const topic of ["status", "health", "members/left/status", "members/right/status"])
        await client.publishAsync(`${base}/${topic}`, "", { qos: 1, retain: true });
      await client.endAsync();
    });

    function optionsOf(changed: Partial<MqttOptions> = {}): MqttOptions {
      return mqttOptions({ broker: external(broker.url), protocolVersion, clientId: "gateway", ...changed });
    }

    function box(name: string, changed: Partial<MqttOptions> = {}): Box {
      const view = createTestCluster(name);
      const leadership = createLeadership(view);
      const duplicates = createChronicle<string>((text) => text);
      const link = newLink({
        options: optionsOf(changed),
        sessionId: `run of ${name}`,
        leadership,
        onDuplicate: (active, text) => duplicates.add(`${active} ${text}`),
      });
      const stopper = new AbortController();
      cleanups.push(async () => stopper.abort());
      return {
        view,
        link,
        leadership,
        duplicates,
        async connect() {
          const connection = await link.connect(stopper.signal);
          cleanups.push(() => connection[Symbol.asyncDispose]());
          return connection;
        },
      };
    }

    async function memberOf(view: TestCluster): Promise<() => Promise<void>> {
      const stop = await start(
        createMemberStatus(optionsOf(), `${base}/members/${view.member}/status`, {
          cluster: view,
          sessionId: `run of ${view.member}`,
          builtAt: null,
          backoff: { baseMs: 10, capMs: 100 },
          clock: systemClock,
          random: () => 0.5,
          log: silentLog,
        }),
      );
      cleanups.push(stop);
      return stop;
    }

    const lead = (epoch: number, leader: string) => ({ isActive: true, epoch, leader });

    it("a standby publishes its own status, and nothing as the gateway", async () => {
      const ear = await ears();
      const right = box("right");
      right.view.change({ epoch: 7, leader: "left" });
      const stop = await memberOf(right.view);
      let isConnected = false;
      const connecting = right.connect().then(
        () => {
          isConnected = true;
        },
        () => {},
      );
      const status = statusOf(await ear.on("members/right/status"));
      expect(status).toMatchObject({ state: "online", member: "right", role: "standby", epoch: 7 });
      expect((await retained("members/right/status")).state).toBe("online");
      expect(right.link.health()).toMatchObject({ state: "up", detail: "stands by" });
      right.view.change({ epoch: 8 });
      await ear.on("members/right/status", (message) => statusOf(message).epoch === 8);
      expect(isConnected).toBe(false);
      await stop();
      expect(
        statusOf(await ear.on("members/right/status", (each) => statusOf(each).state === "offline")),
      ).toEqual({
        state: "offline",
        session_id: "run of right",
        gateway_id: "test",
        member: "right",
        at: expect.any(String),
      });
      expect(ear.received.every(({ topic }) => topic === `${base}/members/right/status`)).toBe(true);
      await cleanUp();
      await connecting;
    });

    it("a successor connects with the same client id, which ends the session of the leader before", async () => {
      const [left, right] = [box("left"), box("right")];
      left.view.change(lead(7, "left"));
      const old = await left.connect();
      expect(await retained("status")).toMatchObject({ state: "online", member: "left", epoch: 7 });
      const connecting = right.connect();
      right.view.change(lead(8, "right"));
      await connecting;
      await old.lost;
      const ear = await ears();
      await ear.on("status", (message) => {
        const { state, member, epoch } = statusOf(message);
        return state === "online" && member === "right" && epoch === 8;
      });
      expect(right.leadership.whyNot()).toBeNull();
      expect(right.duplicates.entries).toEqual([]);
      // The leader before connects once more, and sees whose status is retained.
      await expect(left.connect()).rejects.toThrow("gives way to right, which leads a later epoch (8)");
    });

    it("a leader that sees a later epoch leaves for good, without a word", async () => {
      const left = box("left");
      left.view.change(lead(7, "left"));
      const connection = await left.connect();
      const ear = await ears();
      await publish({ state: "online", session_id: "run of right", member: "right", epoch: 8 });
      await connection.lost;
      expect(left.leadership.whyNot()).toBe("gives way to right, which leads a later epoch (8)");
      let hasConnected = false;
      const again = left.connect().then(
        () => {
          hasConnected = true;
        },
        () => {},
      );
      expect(await retained("status")).toMatchObject({ member: "right", epoch: 8 });
      expect(ear.received.map(statusOf).filter(({ state }) => state === "offline")).toEqual([]);
      expect(hasConnected).toBe(false);
      await cleanUp();
      await again;
    });

    it.each([
      ["a lower epoch", { session_id: "run of left", member: "left", epoch: 7 }],
      ["its own epoch", { session_id: "run of left", member: "left", epoch: 8 }],
      ["no epoch", { session_id: "of before" }],
    ])("a late offline of %s is answered with online", async (_what, owner) => {
      const right = box("right");
      right.view.change(lead(8, "right"));
      await right.connect();
      const ear = await ears();
      await ear.on("status");
      await publish({ state: "offline", ...owner });
      const at = () => ear.received.findIndex((message) => statusOf(message).state === "offline");
      await ear.receive((message) => at() >= 0 && ear.received.indexOf(message) > at() && isOnline(message));
      expect(await retained("status")).toMatchObject({ state: "online", member: "right", epoch: 8 });
      expect(right.leadership.whyNot()).toBeNull();
      expect(right.duplicates.entries).toEqual([]);
    });

    const isOnline = (message: { readonly topic: string; readonly text: string }) =>
      message.topic === `${base}/status` && statusOf(message).state === "online";

    it("a member of an earlier epoch is no duplicate gateway, and one without an epoch is", async () => {
      const right = box("right");
      right.view.change(lead(8, "right"));
      await right.connect();
      await publish({ state: "online", session_id: "run of left", member: "left", epoch: 7 });
      await publish({ state: "online", session_id: "another", member: "else", epoch: 7 });
      await right.duplicates.first("the other", (text) => text.startsWith("true"));
      expect(right.duplicates.entries).toEqual([expect.stringContaining("(session another)")]);
    });

    it("a leader without proof leaves the broker, and comes back with it", async () => {
      const left = box("left");
      left.view.change(lead(7, "left"));
      const connection = await left.connect();
      left.view.change({ isActive: false });
      await connection.movesOn;
      await connection[Symbol.asyncDispose]();
      expect(await retained("status")).toMatchObject({ state: "offline", member: "left", epoch: 7 });
      const again = left.connect();
      expect(left.link.health()).toMatchObject({ detail: "has no proof any more that it leads" });
      left.view.change({ isActive: true });
      await again;
      expect(await retained("status")).toMatchObject({ state: "online", member: "left", epoch: 7 });
    });

    it("a leader that was held up publishes nothing more", async () => {
      const left = box("left");
      left.view.change(lead(7, "left"));
      const connection = await left.connect();
      const ear = await ears();
      await ear.on("status");
      const from = ear.received.length;
      const robot = { kind: "robot", robotId: "r1", family: "cart", quality: "good" } as const;
      left.view.changeUnseen({ isActive: false });
      await connection.write({ changes: [robot], events: [] });
      await connection.movesOn;
      await ear.client.publishAsync(`${base}/marker`, "", { qos: 1 });
      await ear.on("marker");
      expect(ear.received.slice(from).map(({ topic }) => topic)).toEqual([`${base}/marker`]);
    });

    it("the will of a leader that dies names its epoch", async () => {
      const left = box("left");
      left.view.change(lead(7, "left"));
      const ear = await ears();
      await left.connect();
      // Another client with its id: the broker closes the connection, as it does for one that is silent.
      const thief = await listen(broker.url, { clientId: "gateway" }, "");
      cleanups.push(() => thief.client.endAsync(true));
      const will = await ear.on("status", (message) => statusOf(message).state === "offline");
      expect(statusOf(will)).toEqual({
        state: "offline",
        session_id: "run of left",
        gateway_id: "test",
        member: "left",
        epoch: 7,
      });
    });
  },
);
