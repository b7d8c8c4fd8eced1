import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;

beforeEach(async () => {
  folder = await createConfigFolder();
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

const withEvents = (lines: readonly string[]) =>
  minimal.replace(/^fleet:\n/m, `fleet:\n  events:\n${lines.map((line) => `    ${line}\n`).join("")}`);

it("events come by streams unless the file says otherwise", async () => {
  expect((await folder.config(minimal)).fleet.events).toEqual({ kind: "streams" });
});

it("a webhook has an address, a certificate, and a folder for its secret", async () => {
  await folder.write("hook.pem", "-----BEGIN CERTIFICATE-----\n");
  await folder.write("hook.key", "-----BEGIN PRIVATE KEY-----\n");
  const { fleet } = await folder.config(
    withEvents([
      "kind: webhook",
      "listen: { host: 0.0.0.0 }",
      "publicUrl: https://gateway.example.com/events",
      "certificate: hook.pem",
      "key: hook.key",
    ]),
  );
  expect(fleet.events).toEqual({
    kind: "webhook",
    webhook: {
      listen: { host: "0.0.0.0", port: 8443 },
      publicUrl: "https://gateway.example.com/events",
      certificate: "-----BEGIN CERTIFICATE-----\n",
      key: "-----BEGIN PRIVATE KEY-----\n",
      onShutdown: "keep",
      directory: join(folder.path, "data", "fleet", "webhooks"),
    },
  });
});

it("the listener's port is nobody else's", async () => {
  await folder.write("hook.pem", "-----BEGIN CERTIFICATE-----\n");
  await folder.write("hook.key", "-----BEGIN PRIVATE KEY-----\n");
  const events = ["kind: webhook", "listen: { port: 8080 }", "publicUrl: https://gateway.example.com"];
  const text = withEvents([...events, "certificate: hook.pem", "key: hook.key"]);
  expect(await folder.problems(`${text}web: {}\n`)).toEqual([
    expect.stringContaining("web.listen.port: is the port of fleet.events too"),
  ]);
});

it("what a webhook needs is said to be missing, and what streams have no use for", async () => {
  const missing = await folder.problems(withEvents(["kind: webhook", "listen: {}"]));
  for (const key of ["publicUrl", "certificate", "key"]) {
    expect(missing.join("\n")).toContain(`fleet.events.${key}: is needed with kind: webhook`);
  }
  expect(missing).toHaveLength(3);
  const idle = await folder.problems(withEvents(["publicUrl: https://gateway.example.com"]));
  expect(idle.join("\n")).toContain("fleet.events.publicUrl: has a meaning with kind: webhook only");
  expect(await folder.problems(withEvents(["publicUrl: http://gateway.example.com"]))).not.toEqual([]);
});
