import { randomBytes } from "node:crypto";
import {
  AttributeIds,
  type ClientSessionRawSubscriptionService,
  CreateSessionRequest,
  CreateSessionResponse,
  CreateSubscriptionRequest,
  MonitoringMode,
  NodeId,
  NodeIdType,
  StatusCodes,
  TimestampsToReturn,
  type TransferSubscriptionsResponse,
} from "node-opcua";
import { afterEach, beforeAll, expect, it } from "vitest";
import { defaultOpcUaLimits, type OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { openRawChannel, type RawChannel } from "./raw-client.ts";

const BAD_TOO_MANY_SESSIONS = 0x8056_0000;
const user = (name: string, role: OpcUaUser["role"]): OpcUaUser => ({
  name,
  role,
  number: null,
  secret: { kind: "plain", text: `${name} secret` },
});
const as = (name: string) => ({ user: { name, password: `${name} secret` } });
const limits = { ...defaultOpcUaLimits, maxSessions: 8, maxSessionsPerUser: 3 };
// The key of the server, if no other file has made it, is made by this clock.
const clock = createManualClock(Date.now());
const lines: string[] = [];
let running: RunningServer;
const callers: Caller[] = [];

async function start(changed = limits): Promise<void> {
  lines.length = 0;
  running = await startServer(
    { users: [user("eyes", "observer"), user("hands", "operator")], limits: changed },
    { clock, log: createLog("info", { write: (line) => void lines.push(line) }) },
  );
}
async function open(name: string): Promise<Caller> {
  const caller = await openSession(running.url, as(name));
  callers.push(caller);
  return caller;
}
// The first start makes keys.
beforeAll(async () => {
  await start();
  await (await open("hands")).close();
  callers.length = 0;
  await running.stop();
});
afterEach(async () => {
  for (const caller of callers.splice(0)) await caller.close().catch(() => {});
  await running.stop();
});

it("a user who takes all that it may leaves room for every other, and health and log say so", async () => {
  await start();
  for (let count = 0; count < 3; count += 1) await open("eyes");
  await expect(open("eyes")).rejects.toThrow("BadTooManySessions");
  await expect(open("eyes")).rejects.toThrow("BadTooManySessions");
  expect(await (await open("hands")).value("Gateway.Version")).toBe("0.0.0");
  // None of those that were there had to give way.
  for (const caller of callers) expect(await caller.value("Gateway.Version")).toBe("0.0.0");
  const health = running.server.health();
  expect(health).toMatchObject({ state: "degraded", figures: { clientsRefused: 2 } });
  expect(health.detail).toContain("user eyes has 3 sessions");
  expect(lines.filter((line) => line.includes("was refused for want of room"))).toHaveLength(1);
  clock.advance(60_001);
  expect(running.server.health().state).toBe("up");
});

it("its sessions are listed, with user, program and address, and those whose connection is gone", async () => {
  await start();
  const wire = await startTcpProxy(() => running.url.replace("opc.tcp://", ""));
  await open("hands");
  const gone = await openSession(`opc.tcp://${wire.address}`, as("eyes"));
  const seen = { kind: "session", client: "test", address: expect.stringContaining("127.0.0.1") };
  expect(running.server.peers()).toEqual([
    { ...seen, name: "hands", state: "connected", sinceMs: expect.any(Number), detail: "" },
    { ...seen, name: "eyes", state: "connected", sinceMs: expect.any(Number), detail: "" },
  ]);
  await wire.unplug();
  await expect.poll(() => running.server.peers()[1]?.state).toBe("lost");
  expect(running.server.peers()[1]).toMatchObject({ name: "eyes", detail: expect.stringContaining("gone") });
  await gone.client.disconnect();
  await wire.close();
});

it("at its bound, a user's own session whose connection is gone gives way, and nobody else's", async () => {
  await start();
  const wire = await startTcpProxy(() => running.url.replace("opc.tcp://", ""));
  const other = await open("hands");
  const gone = await openSession(`opc.tcp://${wire.address}`, as("eyes"));
  const kept = [await open("eyes"), await open("eyes")];
  await expect(open("eyes")).rejects.toThrow("BadTooManySessions");
  await wire.unplug();
  // The server sees a moment later that the connection is gone.
  await expect
    .poll(
      () =>
        open("eyes").then(
          () => true,
          () => false,
        ),
      { timeout: 15_000 },
    )
    .toBe(true);
  for (const caller of [other, ...kept]) expect(await caller.value("Gateway.Version")).toBe("0.0.0");
  expect(lines.filter((line) => line.includes("gave way"))).toHaveLength(1);
  await gone.client.disconnect();
  await wire.close();
});

it("subscriptions that outlive their session count for their user, and give way to its new ones", async () => {
  await start({ ...limits, maxSubscriptions: 20 });
  const subscribe = ({ session }: Caller) =>
    session.createSubscription2({
      requestedPublishingInterval: 1_000,
      requestedLifetimeCount: 4_000_000_000,
      requestedMaxKeepAliveCount: 10,
      publishingEnabled: true,
    });
  for (let round = 0; round < 2; round += 1) {
    const eyes = await open("eyes");
    for (let count = 0; count < 5; count += 1) await subscribe(eyes);
    await eyes.session.close(false);
  }
  const eyes = await open("eyes");
  const { revisedLifetimeCount } = await (
    eyes.session as unknown as ClientSessionRawSubscriptionService
  ).createSubscription({
    requestedPublishingInterval: 1_000,
    requestedLifetimeCount: 4_000_000_000,
    requestedMaxKeepAliveCount: 4_000_000_000,
    maxNotificationsPerPublish: 0,
    publishingEnabled: true,
    priority: 0,
  });
  // At most an hour, so that what no client wants any more ends.
  expect(revisedLifetimeCount).toBe(3_600);
  // The oldest without a session gives way to each, until there is none; those of a session never do.
  for (let count = 1; count < 10; count += 1) await subscribe(eyes);
  expect(lines.filter((line) => line.includes("subscription without a session gave way"))).toHaveLength(10);
  await expect(subscribe(eyes)).rejects.toThrow("BadTooManySubscriptions");
  await subscribe(await open("hands"));
  expect(running.server.health().detail).toContain("user eyes has 10 subscriptions");
});

const raw = ({ session }: Caller) => session as unknown as ClientSessionRawSubscriptionService;
/** A subscription with one item of 5,000 values. @returns its id */
async function watch(caller: Caller) {
  const { subscriptionId } = await raw(caller).createSubscription({
    ...{ requestedPublishingInterval: 60_000, requestedLifetimeCount: 1_000, requestedMaxKeepAliveCount: 10 },
    ...{ maxNotificationsPerPublish: 0, publishingEnabled: true, priority: 0 },
  });
  const { results } = await raw(caller).createMonitoredItems({
    subscriptionId,
    timestampsToReturn: TimestampsToReturn.Both,
    itemsToCreate: Array.from({ length: 20 }, () => ({
      itemToMonitor: { nodeId: "i=2258", attributeId: AttributeIds.Value },
      monitoringMode: MonitoringMode.Reporting,
      requestedParameters: {
        clientHandle: 1,
        samplingInterval: 1_000,
        queueSize: 5_000,
        discardOldest: true,
      },
    })),
  });
  return { subscriptionId, queue: results?.[0]?.revisedQueueSize };
}
const figures = () => {
  const { subscriptions, monitoredItems } = running.server.health().figures ?? {};
  return { subscriptions, monitoredItems };
};

it("a subscription that outlives its session counts in the figures and queues, and ends after 2 min", async () => {
  await start();
  const eyes = await open("eyes");
  expect((await watch(eyes)).queue).toBe(5_000);
  await eyes.session.close(false);
  expect(figures()).toEqual({ subscriptions: 1, monitoredItems: 20 });
  expect((await watch(await open("eyes"))).queue).toBe(10);
  expect((await watch(await open("hands"))).queue).toBe(5_000);
  clock.advance(120_001);
  expect(figures()).toEqual({ subscriptions: 2, monitoredItems: 40 });
});

it("a subscription that another session takes over stays, and has 2 min again if that ends, too", async () => {
  await start();
  const eyes = await open("eyes");
  const { subscriptionId } = await watch(eyes);
  await eyes.session.close(false);
  clock.advance(60_000);
  const other = await open("eyes");
  // One of its types is void.
  const answer: unknown = raw(other).transferSubscriptions({
    subscriptionIds: [subscriptionId],
    sendInitialValues: false,
  });
  const { results } = (await answer) as TransferSubscriptionsResponse;
  expect(results?.[0]?.statusCode).toBe(StatusCodes.Good);
  clock.advance(59_000);
  await other.session.close(false);
  clock.advance(119_999);
  expect(figures()).toEqual({ subscriptions: 1, monitoredItems: 20 });
  clock.advance(2);
  expect(figures()).toEqual({ subscriptions: 0, monitoredItems: 0 });
});

it("a user who takes all the subscriptions that it may leaves some for every other", async () => {
  await start({ ...limits, maxSubscriptions: 20 });
  const subscribe = ({ session }: Caller) =>
    session.createSubscription2({
      requestedPublishingInterval: 1_000,
      requestedLifetimeCount: 1_000,
      requestedMaxKeepAliveCount: 10,
      publishingEnabled: true,
    });
  const eyes = await open("eyes");
  for (let count = 0; count < 10; count += 1) await subscribe(eyes);
  await expect(subscribe(eyes)).rejects.toThrow("BadTooManySubscriptions");
  await subscribe(await open("hands"));
  expect(running.server.health().detail).toContain("user eyes has 10 subscriptions");
});

/** Creates a session, and leaves it without a user. Returns the status. */
async function createSession(channel: RawChannel): Promise<number> {
  const request = new CreateSessionRequest({
    clientDescription: { applicationUri: "urn:test" },
    endpointUrl: running.url,
    sessionName: "raw",
    requestedSessionTimeout: 60_000,
    clientNonce: randomBytes(32),
  });
  const answer = await channel.call(request);
  if (answer === null) throw new Error("there is no answer");
  if (answer.status === 0) answer.read(new CreateSessionResponse());
  return answer.status;
}

it("a session without a user has 10 s, and one client has 40 of them", async () => {
  await start();
  const channel = await openRawChannel(running.url);
  for (let count = 0; count < 40; count += 1) expect(await createSession(channel)).toBe(0);
  expect(await createSession(channel)).toBe(BAD_TOO_MANY_SESSIONS);
  clock.advance(10_001);
  expect(await createSession(channel)).toBe(0);
  channel.hangUp();
});

it("of sessions without a user there are 50, and those of the client with most give way to others", async () => {
  await start();
  const first = await openRawChannel(running.url);
  const second = await openRawChannel(running.url, 0, "127.0.0.2");
  for (let count = 0; count < 40; count += 1) expect(await createSession(first)).toBe(0);
  for (let count = 0; count < 25; count += 1) expect(await createSession(second)).toBe(0);
  expect(await createSession(second)).toBe(BAD_TOO_MANY_SESSIONS);
  expect(await createSession(first)).toBe(BAD_TOO_MANY_SESSIONS);
  const third = await openRawChannel(running.url, 0, "127.0.0.3");
  expect(await createSession(third)).toBe(0);
  for (const channel of [first, second, third]) channel.hangUp();
});

it.each([
  ["of the kind that the server makes", NodeIdType.BYTESTRING, Buffer.alloc(32, 1)],
  ["of another kind", NodeIdType.NUMERIC, 4_711],
] as const)("a subscription for a session that there is not is refused: %s", async (_what, type, value) => {
  await start();
  const channel = await openRawChannel(running.url);
  const request = new CreateSubscriptionRequest({
    requestHeader: { authenticationToken: new NodeId(type, value, 0) },
  });
  expect((await channel.call(request))?.status).toBe(StatusCodes.BadSessionIdInvalid.value);
  channel.hangUp();
});
