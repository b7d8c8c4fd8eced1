import {
  type ClientSessionRawSubscriptionService,
  type CreateSubscriptionRequestLike,
  PublishRequest,
  type PublishResponse,
  StatusChangeNotification,
  StatusCodes,
} from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

let running: RunningServer;
let caller: Caller;
beforeAll(async () => {
  running = await startServer();
  caller = await openSession(running.url);
});
afterAll(async () => {
  await caller.close();
  await running.stop();
});

/** The session asks for no notification by itself. */
interface Raw {
  createSubscription: ClientSessionRawSubscriptionService["createSubscription"];
  publish(request: PublishRequest, callback: (error: Error | null, response?: PublishResponse) => void): void;
}

const raw = () => caller.session as unknown as Raw;
const publish = () =>
  new Promise<PublishResponse>((resolve, reject) => {
    raw().publish(new PublishRequest({}), (error, response) => {
      if (error !== null || response === undefined) reject(error ?? new Error("there is no answer"));
      else resolve(response);
    });
  });

const shortLived: CreateSubscriptionRequestLike = {
  requestedPublishingInterval: 50,
  requestedLifetimeCount: 3,
  requestedMaxKeepAliveCount: 1,
  publishingEnabled: true,
};

it("a client that asks late is told of the last subscriptions that expired, and nothing is kept of others", async () => {
  const ids: number[] = [];
  for (let count = 0; count < 13; count += 1) {
    const created = await raw().createSubscription(shortLived);
    ids.push(created.subscriptionId);
  }
  await expect.poll(() => running.server.health().figures?.subscriptions).toBe(0);
  const told: number[] = [];
  for (;;) {
    const answer = await publish().catch((error: Error) => error);
    if (answer instanceof Error) {
      expect(answer.message).toContain("BadNoSubscription");
      break;
    }
    const [notification] = answer.notificationMessage.notificationData ?? [];
    expect(notification).toBeInstanceOf(StatusChangeNotification);
    expect((notification as StatusChangeNotification).status).toEqual(StatusCodes.BadTimeout);
    told.push(answer.subscriptionId);
  }
  expect(told).toEqual(ids.slice(-10));
});
