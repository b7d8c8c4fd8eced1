import { Subscription } from "node-opcua";
import { expect, it, vi } from "vitest";
import { openSession, startServer } from "./opcua-harness.ts";

it("a session with many subscriptions ends a few of them in each turn of the event loop", async () => {
  const running = await startServer();
  const { session, close } = await openSession(running.url);
  for (let count = 0; count < 60; count += 1)
    await session.createSubscription2({ requestedPublishingInterval: 500, publishingEnabled: true });
  const turns = [0];
  const original = Subscription.prototype.terminate;
  const ended = vi.spyOn(Subscription.prototype, "terminate").mockImplementation(function (
    this: Subscription,
  ) {
    if (turns[0] === 0) setImmediate(() => turns.unshift(0));
    turns[0] = (turns[0] ?? 0) + 1;
    original.call(this);
    // Each takes so long.
    for (const untilMs = performance.now() + 4; performance.now() < untilMs; );
  });
  await session.close(true);
  expect(ended).toHaveBeenCalledTimes(60);
  expect(Math.max(...turns)).toBeLessThanOrEqual(6);
  await close();
  await running.stop();
  ended.mockRestore();
});
