import { expect, it } from "vitest";
import type { StateChange } from "../../../src/domain/change.ts";
import { countByTurn } from "../../support/turn-counts.ts";
import { newBroker, newLink } from "./link-harness.ts";
import { listen, start } from "./mqtt-harness.ts";

const CHANGES = 1_000;
/** As connection.ts has it. */
const CHANGES_A_TURN = 100;

it("a turn of the event loop publishes a bounded number of changes, and all in their order", async () => {
  const broker = newBroker();
  const stopBroker = await start(broker);
  const listener = await listen(`mqtt://127.0.0.1:${broker.port()}`);
  const connection = await newLink({ openBroker: broker.open }).connect(new AbortController().signal);
  using turns = countByTurn();
  const order: string[] = [];
  const changes = Array.from({ length: CHANGES }, (_, index): StateChange => {
    let isNoted = false;
    return {
      get kind() {
        if (!isNoted) {
          turns.note();
          order.push(`r${index}`);
        }
        isNoted = true;
        return "robot" as const;
      },
      robotId: `r${index}`,
      family: "cart",
      quality: "good",
    };
  });
  await connection.write({ changes, events: [] });
  expect(order).toEqual(changes.map((_, index) => `r${index}`));
  expect(Math.max(...turns.counts)).toBeLessThanOrEqual(CHANGES_A_TURN);
  const { text } = await listener.on(`robots/r${CHANGES - 1}/availability`);
  expect(text).toBe("good");
  await connection[Symbol.asyncDispose]();
  await listener.client.endAsync(true);
  await stopBroker();
});
