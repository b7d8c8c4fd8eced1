import { blockFiles } from "../../../src/cli/export/block-files.ts";
import { plantFiles } from "../../../src/cli/export/plant-files.ts";
import { loadOpcUa } from "../../../src/config/load-opcua.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import type { RecordHarness } from "./record-harness.ts";
import { toStation } from "./story.ts";
import { fieldsOf, hashOf, membersOf, nodesText } from "./texts.ts";

/** Of the HTTP API, what is asked for without a body. */
const routes = [
  ...["robots", "robots/cart-01", "robots/serve-01", "robots/nobody", "robots/cart-01/pause"],
  ...["robots/cart-03/battery-trend", "maps", "maps/1", "floor", "stations", "alarms", "commands"],
  ...["operations", "rights", "certificates", "session", "nothing"],
];

/** The answers of the HTTP API. */
export async function httpText({ webUrl }: Pick<RecordHarness, "webUrl">): Promise<string> {
  const answers: string[] = [];
  async function ask(method: string, path: string, body?: object): Promise<string> {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const init = { method, headers: json as Record<string, string> };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${webUrl}/api/v1/${path}`, { ...init, ...text });
    const given = await answer.text();
    const type = answer.headers.get("content-type");
    answers.push(`${method} ${path}: ${answer.status} ${type}\n${membersOf(given)}\n`);
    return given;
  }
  const read = async (path: string) => (await fetch(`${webUrl}/api/v1/${path}`)).json();
  for (const route of routes) await ask("GET", route);
  answers.push(`GET connections: fields\n${fieldsOf(await read("connections")).join("\n")}\n`);
  const { alarms } = JSON.parse(await ask("GET", "alarms?limit=1"));
  await ask("PUT", `alarms/${alarms[0].id}/acknowledgement`, {});
  await ask("PUT", "robots/cart-01/hold", { hold: true });
  await ask("PUT", "robots/cart-01/hold", { hold: false });
  await ask("DELETE", "robots/cart-01/lease");
  const request = toStation("cart-01", "Station Z");
  await ask("POST", "check", { operation: "CreateMission", request });
  await ask("PUT", "commands/c-1", { operation: "CreateMission", request });
  await ask("PUT", "commands/c-2", { operation: "GetConveyorIndex", request: { robotId: "cart-01" } });
  await ask("PUT", "commands/c-3", { op: "GetConveyorIndex" });
  return answers.join("\n");
}

/** What the OPC UA nodes of the plant show, a line each. */
export async function nodeValuesText({ webUrl }: Pick<RecordHarness, "webUrl">): Promise<string> {
  const lines: string[] = [];
  for (let cursor = ""; ; ) {
    const answer = await fetch(`${webUrl}/api/v1/tags?protocol=opcua${cursor}`);
    const page = JSON.parse(await answer.text());
    for (const { address, type, value, quality, status } of page.tags)
      lines.push(`${address} ${type} ${JSON.stringify(value)} ${quality} ${status}\n`);
    if (typeof page.next !== "string") return lines.sort().join("");
    cursor = `&cursor=${page.next}`;
  }
}

/** The files of `fleetgate export opcua`: a line for each node, and a hash of each other file. */
export async function exportedText(configPath: string): Promise<string> {
  const operations = createCatalogue();
  const loaded = await loadOpcUa(configPath, operations);
  if (!loaded.ok || loaded.opcua === null) throw new Error("the configuration has no OPC UA");
  const options = { opcServer: "Fleetgate", hasInstances: true };
  const { files, modelHash } = plantFiles(loaded.opcua, operations, options);
  const all = Object.entries({ ...blockFiles(), ...files }).map(([name, text]) => {
    const whole = Array.from(text)
      .join("")
      .replace(/creationDateTime="[^"]*"/, "");
    return `${name} ${hashOf(whole)}\n${name.endsWith("NodeSet2.xml") ? nodesText(whole) : ""}`;
  });
  return [`ModelHash ${modelHash}\n`, ...all].join("");
}
