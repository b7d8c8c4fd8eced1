import { expect, test } from "vitest";
import type { StateChange } from "../../../src/domain/change.ts";
import type { Quality } from "../../../src/domain/observed.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";
import { createValueWriter } from "../../../src/northbound/mqtt/values.ts";
import { base, stamp } from "./mqtt-harness.ts";

function presenceChange(robotId: string, amrId: number, quality: Quality = "good"): StateChange {
  const value = { amrId, mapId: 1, position: "P1", stateId: "idle", taskChainId: 0, info: {} };
  return { kind: "presence", robotId, observed: { value, stamp, quality } };
}

function chainChange(chainId: number, amrId: number, quality: Quality = "good"): StateChange {
  const value = { chainId, amrId, taskSeq: "", status: "S", finished: false, info: {} };
  return { kind: "task_chain", chainId, observed: { value, stamp, quality } };
}

function openWriter() {
  const shown = new Map<string, string>();
  const { write } = createValueWriter({
    topics: createTopics(base),
    sessionId: "s1",
    publish: (topic, payload) => void shown.set(topic, payload),
    remove: (topic) => void shown.delete(topic),
    tags: null,
    robots: () => [],
  });
  return {
    write,
    robotOfChain: (chainId: number): unknown =>
      (JSON.parse(shown.get(`${base}/task_chains/${chainId}`) ?? "{}") as { robot_id?: unknown }).robot_id,
  };
}

test("a task chain names the robot that has its number", () => {
  const { write, robotOfChain } = openWriter();
  write(presenceChange("cart-01", 101));
  write(presenceChange("cart-02", 102, "lost"));
  write(chainChange(1, 101));
  write(chainChange(2, 102, "stale"));
  expect([1, 2].map(robotOfChain)).toEqual(["cart-01", "cart-02"]);
  // The service gives it to another robot.
  write(chainChange(1, 102));
  expect(robotOfChain(1)).toBe("cart-02");
});

test("a task chain names nobody while it has no robot, or one whose number the online list has not told", () => {
  const { write, robotOfChain } = openWriter();
  write(presenceChange("cart-01", 101));
  write(chainChange(1, 0));
  write(chainChange(2, 102));
  expect([1, 2].map(robotOfChain)).toEqual([null, null]);
  write(presenceChange("cart-02", 102));
  write(chainChange(2, 102, "stale"));
  expect(robotOfChain(2)).toBe("cart-02");
});
