import { describe, expect, test } from "vitest";
import { topicProblems } from "../../../src/northbound/mqtt/topic-checks.ts";
import { type Placement, underBase } from "../../../src/northbound/mqtt/topic-templates.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";

const plant: Placement = {
  robot: "acme/munich/amr/{alias}",
  station: "acme/munich/{place}/{station}",
  robots: [
    { robotId: "robot-17", alias: "AMR01" },
    { robotId: "AMR01", alias: null },
    { robotId: "robot/18", alias: null },
  ],
  stations: [
    { name: "dock", place: "assembly/line3/cell7" },
    { name: "pack", place: "logistics" },
  ],
};

function topicsAt(placement: Partial<Placement> = {}) {
  return createTopics("fleetgate/gw", { ...plant, ...placement });
}

describe("topics in the tree of a plant", () => {
  test("robots and stations are where the placement says, and all else is under the base", () => {
    const topics = topicsAt({ robot: "acme/munich/{robot}" });
    const robot = topics.robot("robot/18");
    expect([robot.mission, robot.conveyor(1), robot.event("alarm"), robot.tag("battery/valid")]).toEqual([
      "acme/munich/robot%2F18/mission",
      "acme/munich/robot%2F18/conveyors/1",
      "acme/munich/robot%2F18/event/alarm",
      "acme/munich/robot%2F18/tags/battery/valid",
    ]);
    expect(topics.station("dock")).toBe("acme/munich/assembly/line3/cell7/dock");
    expect(topics.station("pack")).toBe("acme/munich/logistics/pack");
    expect(topics.status).toBe("fleetgate/gw/status");
    expect(topics.reply("hmi", "1")).toBe("fleetgate/gw/clients/hmi/reply/1");
    expect(topics.robot("robot-17").hold).toBe("acme/munich/robot-17/hold");
  });

  test("an alias stands for its robot, and an id that is another robot's alias is marked", () => {
    const topics = topicsAt();
    expect(topics.robot("robot-17").battery).toBe("acme/munich/amr/AMR01/battery");
    expect(topics.robot("AMR01").battery).toBe("acme/munich/amr/AMR01~id/battery");
    expect(topics.robot("AMR01~id").battery).toBe("acme/munich/amr/AMR01%7Eid/battery");
  });

  test("without {alias} a level is an id", () => {
    const topics = topicsAt({ robot: null });
    expect(topics.robot("robot-17").hold).toBe("fleetgate/gw/robots/robot-17/hold");
  });
});

function problems(placement: Partial<Placement>, { base = "fleetgate/gw", areRobotsKnown = true } = {}) {
  const found = topicProblems(base, { ...underBase, ...placement }, areRobotsKnown);
  return found.map(({ at, message, isWarning }) => {
    const key = "station" in at ? `stations.${at.station}.place` : at.join(".");
    return `${isWarning ? "warning " : ""}${key}: ${message}`;
  });
}

describe("a placement", () => {
  test("that works has no problem", () => {
    expect(problems(plant)).toEqual([]);
    expect(problems({ robot: "acme/munich/{robot}" }, { areRobotsKnown: false })).toEqual([]);
    expect(problems({}, { areRobotsKnown: false })).toEqual([]);
  });

  test.each([
    ["acme/munich", 'placement.robot: "acme/munich" must have {robot}, or {alias}, each once'],
    ["acme/{robot}/{alias}", "must have {robot}, or {alias}"],
    ["acme//{robot}", "has an empty level, a wildcard, or braces in part of a level"],
    ["acme/amr-{robot}", "has an empty level, a wildcard, or braces in part of a level"],
    ["acme/+/{robot}", "has an empty level, a wildcard, or braces in part of a level"],
    ["/acme/{robot}", "has an empty level"],
    ["$SYS/{robot}", "must not begin with $: the broker's own topics do"],
  ])("of robots, %j, is refused", (robot, message) => {
    expect(problems({ robot })).toEqual([expect.stringContaining(message)]);
  });

  test.each<[string, string | null, string]>([
    ["acme/{place}/dock", "x", 'placement.station: "acme/{place}/dock" must have {station}, or {place}'],
    [
      "acme/{station}",
      "line3",
      "stations.dock.place: does nothing: mqtt.placement.station does not have {place}",
    ],
    ["acme/{place}/{station}", null, "stations.dock.place: is missing: mqtt.placement.station has {place}"],
    ["{place}/{station}", "$SYS", "stations.dock.place: must not begin with $"],
  ])("of stations, %j with the place %j, is refused", (station, place, message) => {
    expect(problems({ station, stations: [{ name: "dock", place }] })).toContainEqual(
      expect.stringContaining(message),
    );
  });

  test("that brings two stations to one topic is refused", () => {
    const stations = [
      { name: "dock", place: "line" },
      { name: "alarms", place: "line/dock" },
    ];
    expect(problems({ station: "acme/{place}/{station}", stations })).toEqual([
      'stations.dock.place: the topic "acme/line/dock/alarms" could be of stationState of "alarms" and of stationAlarms of "dock": give them levels that tell them apart',
    ]);
  });

  test("that brings a station to a robot's topic is refused", () => {
    const stations = [{ name: "mission", place: "cart-1" }];
    const robots = [{ robotId: "cart-1", alias: null }];
    const both = { robot: "acme/{robot}", station: "acme/{place}/{station}", stations, robots };
    expect(problems(both)).toEqual([
      'stations.mission.place: the topic "acme/cart-1/mission" could be of mission and of stationState of "mission": give them levels that tell them apart',
    ]);
    const elsewhere = { ...both, robots: [{ robotId: "cart-2", alias: null }] };
    expect(problems(elsewhere)).toEqual([]);
    expect(problems(elsewhere, { areRobotsKnown: false })).toHaveLength(1);
  });

  test("beside the base, a robot named as the base's last level would take its topics", () => {
    const found = problems(
      { robot: "acme/munich/{robot}" },
      { base: "acme/munich/fleetgate", areRobotsKnown: false },
    );
    expect(found).toContainEqual(
      'placement.robot: the topic "acme/munich/fleetgate/hold" could be of hold and of holdAll: give them levels that tell them apart',
    );
    const robots = [{ robotId: "cart-1", alias: null }];
    expect(problems({ robot: "acme/munich/{robot}", robots }, { base: "acme/munich/fleetgate" })).toEqual([]);
  });

  test("in the clients' own subtree is refused", () => {
    expect(problems({ robot: "fleetgate/gw/clients/{robot}" }, { areRobotsKnown: false })).toContainEqual(
      'placement.robot: availability: could be under "fleetgate/gw/clients", which is the clients\' own subtree',
    );
  });

  test("with many levels is warned of, and refused with very many", () => {
    const deep = (levels: number) => `${"a/".repeat(levels)}{robot}`;
    expect(problems({ robot: deep(7) })).toEqual([
      "warning placement.robot: tag: has 12 levels; some brokers take no more than 10, or 8",
    ]);
    expect(problems({ robot: deep(30) })).toEqual([
      "placement.robot: tag: has 35 levels; at most 32 are allowed",
    ]);
  });

  test("that is very long is refused", () => {
    expect(problems({ robot: `${"a".repeat(1_100)}/{robot}` })).toEqual([
      "placement.robot: availability: has 1114 bytes without what is filled in; at most 1024 are allowed",
    ]);
  });
});
