import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { exampleFlow } from "../foreign/node-red-harness.ts";
import { messageFaults } from "../support/message-schemas.ts";

const flows = ["node-red-opcua.json", "node-red-mqtt.json"].flatMap((name) => exampleFlow(name, {}));
const functionOf = (name: string) => flows.find((node) => node.name === name)?.func ?? "";

test("the page prints functions of the flows", () => {
  const page = readFileSync("docs/scada.md", "utf8");
  const printed = Array.from(page.matchAll(/^```js\n(.*?)\n```$/gms), ([, code]) => code);
  expect(printed.length).toBe(3);
  expect(flows.map(({ func }) => func)).toEqual(expect.arrayContaining(printed));
});

test("the function for a command makes a message that has its schema", () => {
  const code = `(function (msg, flow, RED) {${functionOf("command")}})`;
  const make = runInNewContext(code);
  const { topic, payload } = make({ payload: "Station A" }, { set() {} }, { util: { cloneMessage } });
  const underBase = topic.replace("fleetgate/demo/", "");
  expect(underBase).toBe("clients/hmi/command/CreateMission");
  expect(messageFaults(underBase, JSON.stringify(payload))).toEqual([]);
});

function cloneMessage<T>(message: T): T {
  return structuredClone(message);
}
