import { expect, it } from "vitest";
import { createUnfinishedRequests } from "../../../src/northbound/opcua/node-opcua/unfinished-requests.ts";
import { createManualClock } from "../../support/manual-clock.ts";

it("beyond the common limit, the connection that holds most is closed, not the one that sends", () => {
  const closed: string[] = [];
  const all = createUnfinishedRequests(createManualClock(0), 100);
  const [greedy, modest, small] = ["greedy", "modest", "small"].map((name) =>
    all.open(() => closed.push(name)),
  );
  greedy?.holds(60);
  modest?.holds(30);
  small?.holds(5);
  expect(closed).toEqual([]);
  small?.holds(15);
  expect(closed).toEqual(["greedy"]);
  modest?.holds(85);
  expect(closed).toEqual(["greedy"]);
  modest?.holds(0);
  small?.end();
  all.open(() => closed.push("new")).holds(100);
  expect(closed).toEqual(["greedy"]);
});

it("a request that does not end is closed after 30 s, and one that does is not", () => {
  const clock = createManualClock(0);
  const closed: string[] = [];
  const all = createUnfinishedRequests(clock);
  const [stuck, done] = ["stuck", "done"].map((name) => all.open(() => closed.push(name)));
  stuck?.holds(10);
  done?.holds(10);
  clock.advance(29_000);
  stuck?.holds(20);
  done?.holds(0);
  clock.advance(1_001);
  expect(closed).toEqual(["stuck"]);
});
