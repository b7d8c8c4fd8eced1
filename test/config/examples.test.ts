import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parse } from "yaml";
import type { z } from "zod";
import { bare } from "../../src/config/fields.ts";
import { loadConfig } from "../../src/config/load.ts";
import { configJsonSchema, configSchema } from "../../src/config/schema.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { examplesFolder, layExampleFiles } from "../support/example-files.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-examples-"));
  const mode = { mode: 0o600 };
  await writeFile(join(folder, "api-key.json"), '{"api_key":"k","scope":"s","secret":"x"}', mode);
  await writeFile(join(folder, "mqtt-password"), "a password\n", mode);
  await writeFile(join(folder, "line1-password"), "a password\n", mode);
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

it.each(["minimal.yaml", "fleetgate.example.yaml"])("config/%s loads", async (name) => {
  const copy = join(folder, name);
  await cp(join("config", name), copy);
  expect(await loadConfig(copy, {}, createCatalogue(), Date.now())).toMatchObject({ ok: true });
});

it("the configuration of the package loads once its secrets are there", async () => {
  const copy = join(folder, "fleetgate.yaml");
  await cp("packaging/debian/fleetgate.yaml", copy);
  for (const name of ["api-key.json", "mqtt-password"])
    await cp(join(folder, name), join(folder, "secrets", name));
  expect(await loadConfig(copy, {}, createCatalogue(), Date.now())).toMatchObject({ ok: true });
});

it("each example of config/examples loads without a warning, and stands in docs/configuration.md", async () => {
  await using files = await layExampleFiles();
  const page = await readFile("docs/configuration.md", "utf8");
  const names = await readdir(examplesFolder);
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    expect(page).toContain(`\`${name}\``);
    if (!name.endsWith(".yaml")) continue;
    const loaded = await files.load(name);
    expect(loaded, name).toMatchObject({ ok: true, warnings: [], outdated: [] });
  }
});

it("the access rules of config/examples/mosquitto.acl are those of docs/mqtt.md", async () => {
  const rules = (text: string) => text.match(/^ *(user|topic|pattern) .*$/gm)?.map((rule) => rule.trim());
  const page = await readFile("docs/mqtt.md", "utf8");
  const documented = page.slice(page.indexOf("## A broker of the plant"));
  const shipped = rules(await readFile(join(examplesFolder, "mosquitto.acl"), "utf8"));
  expect(shipped?.length).toBeGreaterThan(10);
  expect(shipped).toEqual(rules(documented.slice(0, documented.indexOf("\n## "))));
});

it("nginx.conf forwards what webhooks-proxy.yaml listens for", async () => {
  const { fleet, web } = parse(await readFile(join(examplesFolder, "webhooks-proxy.yaml"), "utf8"));
  const { hostname, pathname } = new URL(fleet.events.publicUrl);
  const nginx = await readFile(join(examplesFolder, "nginx.conf"), "utf8");
  const [events = "", robots = ""] = nginx.split(/^server \{$/m).slice(1);
  expect(events).toContain(`server_name ${hostname};`);
  expect(events).toContain(`location = ${pathname} {`);
  expect(events).toContain(`proxy_pass https://${fleet.events.listen.host}:${fleet.events.listen.port};`);
  expect(events).toContain(`proxy_ssl_name ${hostname};`);
  expect(robots).toContain(`server_name ${web.hostnames[0]};`);
  expect(robots).toContain(`proxy_pass http://${web.listen.host}:${web.listen.port};`);
});

it("the example names every key of the schema", async () => {
  const text = await readFile("config/fleetgate.example.yaml", "utf8");
  const keys = schemaKeys(configSchema);
  expect(keys.size).toBeGreaterThan(80);
  for (const key of keys) expect(text, key).toMatch(new RegExp(`^[ #-]*${key}:`, "m"));
});

it("the example shows the values that the schema would give by itself", async () => {
  const example: unknown = parse(await readFile("config/fleetgate.example.yaml", "utf8"));
  const byItself: unknown = configSchema.parse({
    gateway: { id: "plant1" },
    fleet: {
      grpc: { address: "fleet.example.com:443" },
      https: "https://fleet.example.com",
      credentials: "api-key.json",
    },
    mqtt: { broker: "mqtts://broker.example.com:8883" },
    opcua: {},
    web: {},
  });
  const usual = scalars(byItself);
  const shown = scalars(example);
  expect(usual.size).toBeGreaterThan(50);
  for (const [path, value] of usual) expect(shown.get(path), path).toBe(value);
});

it("config/fleetgate.schema.json is what the schema says (else run: node scripts/config-schema.mjs)", async () => {
  const kept: unknown = JSON.parse(await readFile("config/fleetgate.schema.json", "utf8"));
  expect(kept).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
});

function schemaKeys(schema: z.core.$ZodType, found = new Set<string>()): Set<string> {
  const { def } = bare(schema)._zod as { readonly def: SchemaParts };
  for (const [key, child] of Object.entries(def.shape ?? {})) {
    found.add(key);
    schemaKeys(child, found);
  }
  for (const child of [def.element, def.valueType]) if (child !== undefined) schemaKeys(child, found);
  return found;
}

interface SchemaParts {
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly element?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
}

function scalars(value: unknown, path = "", found = new Map<string, unknown>()): Map<string, unknown> {
  if (value !== null && typeof value === "object") {
    for (const [key, child] of Object.entries(value)) scalars(child, `${path}/${key}`, found);
  } else if (value !== undefined) found.set(path, value);
  return found;
}
