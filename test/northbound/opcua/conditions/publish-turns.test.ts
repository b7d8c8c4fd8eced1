import { EventNotificationList, type NotificationMessage, Subscription } from "node-opcua";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MOST_FIELDS_A_TURN } from "../../../../src/northbound/opcua/node-opcua/publish-turns.ts";
import { type ConditionsHarness, listen, robot, startConditions } from "./conditions-harness.ts";

const robots = Array.from({ length: 300 }, (_, index) => `r${index}`);
let harness: ConditionsHarness;
beforeEach(async () => {
  harness = await startConditions(undefined, { robotIds: robots });
  for (const robotId of robots)
    harness.registry.state(robot(robotId), "ROBOT_LOST", { holds: true, text: "found" });
  harness.publish();
});
afterEach(() => harness[Symbol.asyncDispose]());

const fieldsOf = ({ notificationData }: NotificationMessage) =>
  (notificationData ?? []).flatMap((data) =>
    data instanceof EventNotificationList ? (data.events ?? []).map((event) => event.eventFields ?? []) : [],
  );

/** The fields of events that responses have in each turn of the event loop, until it is disposed of. */
function watchTurns(): Disposable & { readonly turns: readonly number[] } {
  const turns: number[] = [];
  let isInTurn = false;
  const emit = Reflect.get(Subscription.prototype, "emit");
  Reflect.set(Subscription.prototype, "emit", function (this: object, name: string, ...values: unknown[]) {
    if (name === "notification") {
      if (!isInTurn) {
        isInTurn = true;
        setImmediate(() => (isInTurn = false));
        turns.push(0);
      }
      const fields = fieldsOf(values[0] as NotificationMessage).flat().length;
      turns[turns.length - 1] = (turns.at(-1) ?? 0) + fields;
    }
    return emit.call(this, name, ...values);
  });
  return { turns, [Symbol.dispose]: () => void Reflect.deleteProperty(Subscription.prototype, "emit") };
}

it("a turn of the event loop publishes a bounded number of fields, to all sessions", async () => {
  const listeners = await Promise.all(
    ["ann", "tv", "eva"].map(async (name) => listen(await harness.client(name))),
  );
  using watched = watchTurns();
  const refreshed = await Promise.all(listeners.map((listener) => listener.refresh()));
  expect(refreshed.map(({ length }) => length)).toEqual([300, 300, 300]);
  const sent = watched.turns.reduce((sum, fields) => sum + fields, 0);
  expect(sent).toBeGreaterThan(5 * MOST_FIELDS_A_TURN);
  // The last response of a turn begins below the bound, and has at most as much again.
  expect(Math.max(...watched.turns)).toBeLessThan(2 * MOST_FIELDS_A_TURN);
});
