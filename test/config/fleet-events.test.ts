import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createCa } from "../../src/simulator/tls/identity.ts";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;

beforeEach(async () => {
  folder = await createConfigFolder();
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

const pair = await createCa(Date.now());
const withEvents = (lines: readonly string[]) =>
  minimal.replace(/^fleet:\n/m, `fleet:\n  events:\n${lines.map((line) => `    ${line}\n`).join("")}`);

it("events come by streams unless the file says otherwise", async () => {
  expect((await folder.config(minimal)).fleet.events).toEqual({ kind: "streams" });
});

it("a webhook has an address, a certificate, and a folder for its secret", async () => {
  await folder.write("hook.pem", pair.certificate);
  await folder.write("hook.key", pair.key);
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
      tls: {
        cert: pair.certificate,
        key: pair.key,
        paths: { cert: join(folder.path, "hook.pem"), key: join(folder.path, "hook.key") },
      },
      onShutdown: "keep",
      directory: join(folder.path, "data", "fleet", "webhooks"),
    },
  });
});

it("the listener's port is nobody else's", async () => {
  await folder.write("hook.pem", pair.certificate);
  await folder.write("hook.key", pair.key);
  const events = ["kind: webhook", "listen: { port: 8080 }", "publicUrl: https://gateway.example.com"];
  const text = withEvents([...events, "certificate: hook.pem", "key: hook.key"]);
  expect(await folder.problems(`${text}web: {}\n`)).toEqual([
    expect.stringContaining("web.listen.port: is the port of fleet.events too"),
  ]);
});

it("a certificate and the key of another are told apart, wherever they are named", async () => {
  const other = await createCa(Date.now());
  await folder.write("one.pem", pair.certificate);
  await folder.write("other.key", other.key);
  const told = expect.stringMatching(/other\.key is not the key of .*one\.pem/);
  const events = withEvents([
    "kind: webhook",
    "listen: {}",
    "publicUrl: https://gateway.example.com",
    "certificate: one.pem",
    "key: other.key",
  ]);
  expect(await folder.problems(events)).toEqual([told]);
  const client = minimal.replace(
    /^fleet:\n/m,
    "fleet:\n  clientCertificate: one.pem\n  clientKey: other.key\n",
  );
  expect(await folder.problems(client)).toEqual([told]);
});

it("files that only look like a certificate or a key are told", async () => {
  await folder.write("torn.pem", "-----BEGIN CERTIFICATE-----\n");
  await folder.write("torn.key", "-----BEGIN PRIVATE KEY-----\n");
  const text = minimal.replace(
    /^fleet:\n/m,
    "fleet:\n  clientCertificate: torn.pem\n  clientKey: torn.key\n",
  );
  expect(await folder.problems(text)).toEqual([
    expect.stringContaining("torn.pem holds a certificate that cannot be read"),
    expect.stringContaining("torn.key holds a private key that cannot be read"),
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
