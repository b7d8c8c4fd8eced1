import { expect, it } from "vitest";
import { foldersOf, tagName } from "../../../src/console/fleet/tag-tree.ts";
import type { Tag } from "../../../src/northbound/web/api/tag.ts";

const tag = (protocol: Tag["protocol"], address: string): Tag => ({
  ...{ protocol, address, robot_id: null, station: null, type: "Float", value: 1, clipped: false },
  ...{ quality: "good", status: null, source_time: null, received_at: null, age_ms: null },
  ...{ description: null, unit: null, meaning: null, equivalents: [] },
});

it("tags lie in the folders of their addresses", () => {
  const tags = [
    tag("opcua", "ns=2;s=Robots.cart-1.Battery.Charge"),
    tag("mqtt", "fleetgate/plant1/robots/cart-1/battery"),
    tag("opcua", "ns=2;s=Robots.cart-1.Battery.State"),
    tag("opcua", "i=2253"),
  ];
  expect(foldersOf(tags).map(({ name, protocol, tags: own }) => [protocol, name, own.map(tagName)])).toEqual([
    ["opcua", "Robots / cart-1 / Battery", ["Charge", "State"]],
    ["mqtt", "fleetgate / plant1 / robots / cart-1", ["battery"]],
    ["opcua", "", ["i=2253"]],
  ]);
});
