import { describe, expect, it } from "vitest";
import {
  alarmCounts,
  alarmEmphasis,
  alarmState,
  concernedText,
  endsAny,
  groupCount,
  groupNames,
  groupsOf,
  whyNotAcknowledged,
  worstOf,
} from "../../../src/console/fleet/alarms.ts";
import type { AlarmView } from "../../../src/models/alarm.ts";

const alarm: AlarmView = {
  id: "a-1",
  code: "FLEET_LINK_DOWN",
  source: "gateway",
  priority: "high",
  severity: 800,
  text: "",
  cause: "",
  advice: "",
  robots: "",
  active: true,
  since: "2026-01-02T03:04:05.000Z",
  returned_at: null,
  occurrences: 1,
  acknowledged_by: null,
  acknowledged_at: null,
  comment: null,
  commented_by: null,
  commented_at: null,
};
const by = { acknowledged_by: "web:eva", acknowledged_at: "2026-01-02T03:05:05.000Z" };

it.each<[Partial<AlarmView>, string, string]>([
  [{}, "active, unacknowledged", "alarm"],
  [{ priority: "low" }, "active, unacknowledged", "abnormal"],
  [by, "active, acknowledged", "alarm"],
  [{ active: false }, "returned, unacknowledged", "normal"],
])("an alarm with %j is %s", (changes, word, emphasis) => {
  const changed = { ...alarm, ...changes };
  expect([alarmState(changed), alarmEmphasis(changed)]).toEqual([word, emphasis]);
});

it("counts how alarms stand", () => {
  expect(alarmCounts([alarm, { ...alarm, ...by }, { ...alarm, active: false }])).toBe(
    "2 unacknowledged, 1 acknowledged, 1 of them returned",
  );
});

describe("alarms of one code", () => {
  const of = (code: string, ...robots: readonly string[]) =>
    robots.map((robot_id): AlarmView => ({ ...alarm, id: robot_id, code, source: "robot", robot_id }));
  const lost = of("ROBOT_LOST", "cart-10", "cart-2", "cart-1");
  const [low, lower] = of("BATTERY_LOW", "cart-3", "cart-4");

  it("are one group from three on, where the first of them stands", () => {
    const [first, ...others] = lost;
    if (first === undefined || low === undefined || lower === undefined) throw new Error("they are there");
    expect(groupsOf([first, low, ...others, lower])).toEqual([lost, [low], [lower]]);
  });

  it("are no group if an acknowledgement ends each of them", () => {
    const unknown = of("OUTCOME_UNKNOWN", "cart-1", "cart-2", "cart-3");
    expect(groupsOf(unknown)).toEqual(unknown.map((one) => [one]));
  });

  it("say what they are about, in the order of names, and how many more", () => {
    expect([groupCount(lost), groupNames(lost)]).toEqual(["3 robots", "cart-1, cart-2, cart-10"]);
    const many = of("ROBOT_LOST", "c6", "c5", "c4", "c3", "c2", "c1", "c7");
    expect(groupNames(many)).toBe("c1, c2, c3, c4, c5 and 2 more");
    expect(groupCount([alarm, ...lost])).toBe("4 alarms");
  });

  it("are coloured by one that is active", () => {
    const returned = { ...alarm, id: "a-2", active: false };
    expect(worstOf([returned, alarm]).id).toBe("a-1");
    expect(worstOf([returned]).id).toBe("a-2");
  });
});

it("says that an acknowledgement ends alarms only if it ends one of them", () => {
  const unknown = { ...alarm, code: "OUTCOME_UNKNOWN" } as const;
  expect(endsAny([alarm, alarm])).toBe(false);
  expect(endsAny([alarm, unknown])).toBe(true);
});

it("a cut link is one alarm, which says how many robots it concerns", () => {
  const robots = [{ quality: "good" }, { quality: "offline" }, { quality: "lost" }] as const;
  expect(concernedText(alarm, robots)).toBe("2 of 3 robots are not good meanwhile");
  expect(concernedText({ ...alarm, active: false }, robots)).toBe("");
  expect(concernedText({ ...alarm, code: "DISK_FULL" }, robots)).toBe("");
});

it.each<[Partial<AlarmView>, "observer" | "operator" | "engineer", readonly string[] | null, RegExp | null]>([
  [{ robot_id: "cart-01" }, "observer", null, /only operators may/],
  [{ robot_id: "cart-01" }, "operator", null, null],
  [{ robot_id: "cart-01" }, "operator", ["cart-01"], null],
  [{ robot_id: "cart-01" }, "operator", ["cart-02"], /only operators of its robot/],
  [{}, "operator", ["cart-01"], /only operators of all robots/],
  [{}, "engineer", null, null],
])(
  "says before the click who may not acknowledge: of %j an %s with robots %j",
  (changes, role, robots, why) => {
    const said = whyNotAcknowledged({ ...alarm, ...changes }, { role, robots });
    if (why === null) expect(said).toBeNull();
    else expect(said).toMatch(why);
  },
);
