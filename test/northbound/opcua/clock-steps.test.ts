import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AttributeIds,
  ClientMonitoredItem,
  type ClientSessionRawSubscriptionService,
  ClientSubscription,
  type DataValue,
  MonitoringMode,
  PublishRequest,
  type PublishResponse,
  TimestampsToReturn,
} from "node-opcua";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { createManualClock } from "../../support/manual-clock.ts";
import {
  type Caller,
  openApprovedSession,
  openSession,
  type RunningServer,
  scada,
  scadaLogin,
  startServer,
} from "./opcua-harness.ts";

const HOUR_MS = 3_600_000;
const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-clock-steps-"));
/** The gateway's heartbeat counts by it, so that a test decides when a value changes. */
const clock = createManualClock();
let running: RunningServer;

beforeAll(async () => {
  running = await startServer({ dataDir, users: [scada] }, { clock });
  await expect(openSession(running.url, scadaLogin)).rejects.toThrow();
  const folder = join(dataDir, "opcua", "server");
  for (const name of await readdir(join(folder, "rejected")))
    await rename(join(folder, "rejected", name), join(folder, "trusted", "certs", name));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
afterAll(async () => {
  await running.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Sets the wall clock, of server and client: timers go on as they were. */
function setWallClock(byMs: number): void {
  const nowMs = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: nowMs + byMs });
}

const heartbeat = { nodeId: "ns=2;s=Gateway.Heartbeat", attributeId: AttributeIds.Value };

/** An encrypted session that sends nothing but publish requests from now on. */
async function listen(): Promise<{ readonly caller: Caller; next(): Promise<unknown> }> {
  const approved = openApprovedSession(running.url, scadaLogin);
  // The server looks at its folders by its clock.
  const looking = setInterval(() => clock.advance(1_000), 20);
  const caller = await approved.finally(() => clearInterval(looking));
  const subscription = ClientSubscription.create(caller.session, {
    requestedPublishingInterval: 50,
    requestedLifetimeCount: 10_000,
    requestedMaxKeepAliveCount: 1_000,
    publishingEnabled: true,
  });
  const item = ClientMonitoredItem.create(
    subscription,
    heartbeat,
    { samplingInterval: 0, queueSize: 1 },
    TimestampsToReturn.Both,
  );
  const first = once(item, "changed");
  await once(item, "initialized");
  await first;
  return {
    caller,
    async next() {
      const changed = once(item, "changed");
      clock.advance(1_000);
      const [value] = (await changed) as [DataValue];
      return value.value.value;
    },
  };
}

it.each([
  ["forward", HOUR_MS],
  ["back", -HOUR_MS],
])("a client that only listens goes on when the wall clock is set an hour %s", async (_way, byMs) => {
  const { caller, next } = await listen();
  const before = Number(await next());
  setWallClock(byMs);
  expect(await next()).toBe(before + 1);
  expect(await next()).toBe(before + 2);
  vi.useRealTimers();
  await caller.close();
});

it("the channel of a client that has not renewed its token closes when something is to be sent", async () => {
  const { caller, next } = await listen();
  await next();
  const lost = once(caller.client, "connection_lost");
  const realNow = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => realNow() + HOUR_MS);
  clock.advance(1_000);
  await lost;
  vi.restoreAllMocks();
  await caller.client.disconnect();
});

it.each([
  ["waits on", HOUR_MS, 0, "Heartbeat"],
  ["ends", 0, HOUR_MS, "BadTimeout"],
])(
  "a publish request %s when %i ms of wall time and %i ms of time pass",
  async (_what, wallMs, passedMs, ending) => {
    const caller = await openSession(running.url);
    const raw = caller.session as unknown as Pick<
      ClientSessionRawSubscriptionService,
      "createSubscription" | "createMonitoredItems"
    > & {
      publish(
        request: PublishRequest,
        callback: (error: Error | null, response?: PublishResponse) => void,
      ): void;
    };
    const publish = () =>
      new Promise<string>((resolve) => {
        raw.publish(new PublishRequest({ requestHeader: { timeoutHint: 60_000 } }), (error, response) => {
          resolve(error?.message ?? String(response?.notificationMessage.notificationData?.length));
        });
      });
    const { subscriptionId } = await raw.createSubscription({
      requestedPublishingInterval: 50,
      requestedLifetimeCount: 10_000,
      requestedMaxKeepAliveCount: 1_000,
      publishingEnabled: true,
    });
    await raw.createMonitoredItems({
      subscriptionId,
      timestampsToReturn: TimestampsToReturn.Both,
      itemsToCreate: [
        {
          itemToMonitor: heartbeat,
          monitoringMode: MonitoringMode.Reporting,
          requestedParameters: { clientHandle: 1, samplingInterval: 0, queueSize: 1, discardOldest: true },
        },
      ],
    });
    expect(await publish()).toBe("1");
    const waiting = publish();
    await caller.read("Gateway.Heartbeat");
    setWallClock(wallMs);
    const realNow = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => realNow() + passedMs);
    if (ending === "Heartbeat") {
      clock.advance(1_000);
      expect(await waiting).toBe("1");
    } else expect(await waiting).toContain(ending);
    vi.useRealTimers();
    vi.restoreAllMocks();
    await caller.close();
  },
);
