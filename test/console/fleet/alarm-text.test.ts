import { expect, it } from "vitest";
import {
  alarmCounts,
  alarmEmphasis,
  alarmState,
  concernedText,
  whyNotAcknowledged,
} from "../../../src/console/fleet/words.ts";
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
