import { describe, expect, it } from "vitest";
import { basisOf, holdActions } from "../../../src/console/commanding/actions.ts";
import type { Rights } from "../../../src/northbound/web/api/session.ts";
import { standingRobot } from "../standing-robot.ts";

const operator: Rights = {
  user: "web:omar",
  robot: null,
  moves: null,
  lift: "it needs engineer",
  lift_all: "it needs engineer",
  operations: [],
};
const engineer: Rights = { ...operator, user: "web:eva", lift: null, lift_all: null };
const heldBy = (...by: readonly string[]) =>
  standingRobot("cart/1", { hold: { held: by.length > 0, by, stored: true } });
const offered = (by: readonly string[], rights: Rights) =>
  holdActions(heldBy(...by), rights).map(({ path, body }) => [path, body]);

const path = "/robots/cart%2F1/hold";

describe("the holds that a robot's page offers to end", () => {
  it("are one's own alone, unless the user is an engineer", () => {
    expect(offered([], operator)).toEqual([[path, { hold: true }]]);
    expect(offered(["web:omar", "opcua:plc1", "web:eva (all)"], operator)).toEqual([[path, { hold: false }]]);
    expect(offered(["opcua:plc1"], operator)).toEqual([[path, { hold: true }]]);
  });

  it("are each other user's too for an engineer, by the user's name", () => {
    expect(offered(["opcua:plc1", "web:eva", "web:omar (all)"], engineer)).toEqual([
      [path, { hold: false }],
      [path, { hold: false, user: "opcua:plc1" }],
      ["/hold", { hold: false, user: "web:omar" }],
    ]);
  });

  it("are not those on all robots where the engineer's rights name robots", () => {
    const some = { ...engineer, lift_all: "rights[0] names only cart/1" };
    expect(offered(["opcua:plc1", "web:omar (all)"], some)).toEqual([
      [path, { hold: true }],
      [path, { hold: false, user: "opcua:plc1" }],
    ]);
  });

  it("lapse when another holds the robot than the second step has named", () => {
    expect(basisOf(heldBy("opcua:plc1"))).toBe(basisOf(heldBy("opcua:plc1")));
    expect(basisOf(heldBy("opcua:plc1"))).not.toBe(basisOf(heldBy("opcua:plc2")));
  });
});
