import { expect, it } from "vitest";
import { differingSections, sharedSections } from "../../src/config/settings.ts";

const settingsOf = (values: Readonly<Record<string, string>>) =>
  new Map(Object.entries(values).map(([key, digest]) => [key, { path: key.split("."), digest }]));

const box = {
  "cluster.member": "a",
  "cluster.leaseSeconds": "5",
  "gateway.id": "plant1",
  "gateway.dataDir": "/data",
  "mqtt.broker": "mqtt://broker",
  "opcua.hostname": "box-a",
  "opcua.key": "k",
  "opcua.limits.maxSessions": "10",
};

it("leaves out what a box has of its own", () => {
  const other = {
    ...box,
    "cluster.member": "b",
    "gateway.dataDir": "/b",
    "opcua.hostname": "b",
    "opcua.key": "l",
  };
  expect(sharedSections(settingsOf(other))).toEqual(sharedSections(settingsOf(box)));
});

it("names the sections that differ, whatever the order of the file", () => {
  const own = sharedSections(settingsOf(box));
  const other = sharedSections(
    new Map(
      [...settingsOf({ ...box, "mqtt.broker": "mqtt://other", "opcua.limits.maxSessions": "11" })].reverse(),
    ),
  );
  expect(differingSections(own, other)).toEqual(["mqtt", "opcua"]);
  expect(differingSections(own, sharedSections(settingsOf({ ...box, "web.listen.port": "1" })))).toEqual([
    "web",
  ]);
});
