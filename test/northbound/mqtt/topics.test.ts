import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { topicProblems } from "../../../src/northbound/mqtt/topic-checks.ts";
import { encodeLevel, underBase } from "../../../src/northbound/mqtt/topic-templates.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";

const topics = createTopics("fleetgate/demo");

describe("an id as a topic level", () => {
  test.each([
    ["cart-1", "cart-1"],
    ["a/b.c", "a%2Fb%2Ec"],
    ["100%", "100%25"],
    ["+#", "%2B%23"],
    ["Küche 1", "Küche 1"],
    ["\u0000", "%00"],
    ["\u0085", "%C2%85"],
    ["\ud800x", "\ufffdx"],
  ])("%j is %j", (id, level) => {
    expect(encodeLevel(id)).toBe(level);
  });

  test("decoding gives the id back, and no level has what a topic cannot carry", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (id) => {
        const level = encodeLevel(id);
        expect(level).not.toMatch(/[/#+.\p{Cc}]/u);
        expect(decodeURIComponent(level)).toBe(id);
      }),
    );
  });
});

describe("command topics", () => {
  test("name a client as it stands, and an operation", () => {
    expect(topics.readCommand("fleetgate/demo/clients/plc%2E1/command/CreateMission")).toEqual({
      client: "plc%2E1",
      operation: "CreateMission",
    });
  });

  test.each([
    "fleetgate/demo/clients/plc1/command",
    "fleetgate/demo/clients/plc1/command/",
    "fleetgate/demo/clients//command/CreateMission",
    "fleetgate/demo/clients/plc1/command/CreateMission/x",
    "fleetgate/demo/clients/plc1/reply/CreateMission",
    "fleetgate/other/clients/plc1/command/CreateMission",
  ])("%s is none", (topic) => {
    expect(topics.readCommand(topic)).toBeNull();
  });

  test("replies stay in the client's own subtree", () => {
    expect(topics.reply("plc1", "a/$&")).toBe("fleetgate/demo/clients/plc1/reply/a%2F$&");
    expect(topics.mayAnswerOn("plc1", "fleetgate/demo/clients/plc1/answers/1")).toBe(true);
    expect(topics.mayAnswerOn("plc1", "fleetgate/demo/clients/plc1/command/CreateMission")).toBe(false);
    expect(topics.mayAnswerOn("plc1", "fleetgate/demo/clients/plc2/reply/1")).toBe(false);
    expect(topics.mayAnswerOn("plc1", "fleetgate/demo/clients/plc1/#")).toBe(false);
    expect(topics.mayAnswerOn("plc1", "fleetgate/demo/status")).toBe(false);
  });

  test("everything under clients belongs to one", () => {
    expect(topics.ownerOf("fleetgate/demo/clients/plc1/reply/1")).toBe("plc1");
    expect(topics.ownerOf("fleetgate/demo/clients/plc1")).toBe("plc1");
    expect(topics.ownerOf("fleetgate/demo/robots/r1/mission")).toBeNull();
  });
});

test("an event of no single robot has no empty level", () => {
  expect(topics.gatewayEvent("command")).toBe("fleetgate/demo/event/command");
});

test.each(["", "/a", "a/", "$SYS/a", "a/#", "a/+/b"])("the base %j is refused", (base) => {
  const problems = topicProblems(base, underBase, false);
  expect(problems.map(({ at }) => at)).toEqual([["base"]]);
});
