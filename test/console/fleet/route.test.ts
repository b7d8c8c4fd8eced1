import fc from "fast-check";
import { expect, it } from "vitest";
import {
  commandAddress,
  commandsAddress,
  floorAddress,
  type Route,
  robotAddress,
  routeOf,
  sendAddress,
  subjectOf,
  tagAddress,
  tagsAddress,
} from "../../../src/console/route.ts";

function at(address: string): Route {
  return routeOf(new URL(address, "http://localhost"));
}

it.each<[string, Route]>([
  ["/", { view: "floor", mapId: null, chosenId: null }],
  ["/?map=2&robot=cart-01", { view: "floor", mapId: 2, chosenId: "cart-01" }],
  ["/?map=two", { view: "floor", mapId: null, chosenId: null }],
  ["/robots/cart-01", { view: "robot", robotId: "cart-01" }],
  ["/robots/", { view: "nothing" }],
  ["/commands", { view: "commands", filter: { robot: "", source: "", operation: "", state: "", id: "" } }],
  [
    "/commands?robot=cart-1&state=unknown&source=web%3Aanna",
    {
      view: "commands",
      filter: { robot: "cart-1", source: "web:anna", operation: "", state: "unknown", id: "" },
    },
  ],
  ["/send", { view: "send", operation: null, robotId: null }],
  ["/send?operation=GetMap&robot=Caf%C3%A9+2", { view: "send", operation: "GetMap", robotId: "Café 2" }],
  ["/alarms", { view: "alarms" }],
  ["/alarms/1", { view: "nothing" }],
  ["/connections", { view: "connections" }],
  ["/tags", { view: "tags", text: "", protocol: "", robot: "" }],
  [
    "/tags?text=cart+01&protocol=mqtt&robot=cart-1",
    { view: "tags", text: "cart 01", protocol: "mqtt", robot: "cart-1" },
  ],
  ["/tags/opcua/ns%3D2%3Bs%3DA.B", { view: "tag", protocol: "opcua", address: "ns=2;s=A.B" }],
  ["/tags/mqtt", { view: "nothing" }],
  ["/tags/modbus/1", { view: "nothing" }],
  ["/robots/%zz", { view: "nothing" }],
])("%s", (address, route) => {
  expect(at(address)).toEqual(route);
});

it.each([
  ["/", ""],
  ["/?robot=cart-01", "cart-01"],
  ["/robots/cart-01", "cart-01"],
  ["/alarms", "alarms"],
  ["/tags/opcua/ns%3D2%3Bs%3DA.B", "ns=2;s=A.B"],
  ["/nowhere", "no such page"],
])("%s names its tab %s", (address, subject) => {
  expect(subjectOf(at(address))).toBe(subject);
});

it("finds each robot and each command again by its address", () => {
  // A browser takes a dot, or two, for a folder, however they are written.
  const isName = (text: string) => text !== "." && text !== "..";
  const odd = fc.constantFrom("a/b", "%2F", "?", "#", "ä", "日本", "a b", "<b>", "mqtt:scada/c-1");
  const name = fc.oneof(fc.string({ minLength: 1 }).filter(isName), odd);
  fc.assert(
    fc.property(name, (id) => {
      expect(at(robotAddress(id))).toEqual({ view: "robot", robotId: id });
      expect(at(commandAddress(id))).toEqual({ view: "command", key: id });
      expect(at(tagAddress({ protocol: "mqtt", address: id }))).toEqual({
        view: "tag",
        protocol: "mqtt",
        address: id,
      });
      expect(at(tagsAddress({ text: id, protocol: "opcua", robot: id }))).toEqual({
        view: "tags",
        text: id,
        protocol: "opcua",
        robot: id,
      });
      const filter = { robot: id, source: "", operation: id, state: "sent", id };
      expect(at(commandsAddress(filter))).toEqual({ view: "commands", filter });
      expect(at(sendAddress(id, id))).toEqual({ view: "send", operation: id, robotId: id });
      expect(at(floorAddress(3, id))).toEqual({ view: "floor", mapId: 3, chosenId: id });
    }),
  );
});
