import { EventNotificationList, type NotificationMessage, Subscription } from "node-opcua";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  FIELDS_AN_EVENT,
  MOST_FIELDS_A_RESPONSE,
} from "../../../../src/northbound/opcua/node-opcua/publish-turns.ts";
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

/** What the events of a response cost. */
const costOf = (message: NotificationMessage) =>
  fieldsOf(message).reduce((sum, fields) => sum + FIELDS_AN_EVENT + fields.length, 0);

/** What responses cost in each turn of the event loop, and whose they are, until it is disposed of. */
function watchTurns(): Disposable & { readonly turns: readonly number[]; readonly order: readonly number[] } {
  const turns: number[] = [];
  const order: number[] = [];
  let isOver = true;
  let next = setImmediate(turn);
  function turn(): void {
    isOver = true;
    next = setImmediate(turn);
  }
  const emit = Reflect.get(Subscription.prototype, "emit");
  Reflect.set(
    Subscription.prototype,
    "emit",
    function (this: Subscription, name: string, ...values: unknown[]) {
      if (name === "notification") {
        if (isOver) turns.push(0);
        isOver = false;
        turns[turns.length - 1] = (turns.at(-1) ?? 0) + costOf(values[0] as NotificationMessage);
        order.push(this.id);
      }
      return emit.call(this, name, ...values);
    },
  );
  return {
    turns,
    order,
    [Symbol.dispose]() {
      clearImmediate(next);
      Reflect.deleteProperty(Subscription.prototype, "emit");
    },
  };
}

it("a turn of the event loop publishes a bounded number of fields, to one session after another", async () => {
  const listeners = await Promise.all(
    ["ann", "tv", "eva"].map(async (name) => listen(await harness.client(name))),
  );
  using watched = watchTurns();
  const refreshed = await Promise.all(listeners.map((listener) => listener.refresh()));
  expect(refreshed.map(({ length }) => length)).toEqual([300, 300, 300]);
  const sent = watched.turns.reduce((sum, cost) => sum + cost, 0);
  expect(sent).toBeGreaterThan(5 * MOST_FIELDS_A_RESPONSE);
  // The last response of a turn begins below half of the bound.
  expect(Math.max(...watched.turns)).toBeLessThanOrEqual(1.5 * MOST_FIELDS_A_RESPONSE);
  // All have a backlog: none is far behind the others.
  const first = watched.order.slice(0, 12);
  for (const id of new Set(watched.order))
    expect(first.filter((each) => each === id).length).toBeGreaterThan(1);
});
