import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { stringify } from "yaml";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { endPrograms, fleetgate, newFolder } from "../cli/program.ts";
import { listenMqtt } from "../e2e/mqtt-ear.ts";
import { openPlc } from "../e2e/plc.ts";
import { freePorts } from "../support/free-ports.ts";
import { https } from "../support/https.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { startEchoingExchange } from "./echoing-exchange.ts";
import { startHttpProxy } from "./http-proxy.ts";
import { walkOpcUa } from "./opcua-walk.ts";
import { failOverHttp, failOverMqtt, failOverOpcUa, failOverSocket } from "./secret-clients.ts";
import { search } from "./secret-search.ts";
import { filesUnder, watchDaemon } from "./watched-daemon.ts";

const closers: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await endPrograms();
});

const BASE = "fleetgate/secrets";
const passwords = {
  proxy: "pr0xy-passw0rd-of-the-plant",
  mqtt: "mqtt-passw0rd-of-the-plant",
  opcua: "0pcua-passw0rd-of-line1",
  ear: "ear-passw0rd-of-the-plant",
};
/** What clients send that is right nowhere. */
const guesses = {
  mqtt: "mqtt-guess-of-a-stranger",
  opcua: "0pcua-guess-of-a-stranger",
  web: "web-guess-of-a-stranger",
  socket: "socket-guess-of-a-stranger",
  webhook: "webhook-secret-of-a-client",
};

test("the search finds each secret however it is written, and every token and key", () => {
  const secrets = new Map([["the secret", "k9-Zt/4=correct horse"]]);
  const secret = "k9-Zt/4=correct horse";
  for (const text of [
    `{"secret":"${secret}"}`,
    `?secret=${encodeURIComponent(secret)}`,
    `authorization: Basic ${Buffer.from(`gateway:${secret}`).toString("base64")}`,
    `x ${Buffer.from(`ab${secret}`).toString("base64")}`,
    Buffer.from(secret).toString("hex"),
    Buffer.from(secret, "utf16le").toString("latin1"),
  ]) {
    expect(search("here", text, secrets), text).toEqual(["the secret in here"]);
  }
  const jwt = Buffer.from('{"alg":"HS256"}').toString("base64url");
  expect(search("here", `Bearer ${jwt}.x.y`, secrets)).toEqual(["a token in here"]);
  expect(search("here", "-----BEGIN EC PRIVATE KEY-----", secrets)).toEqual(["a private key in here"]);
  expect(search("here", "nothing of it", secrets)).toEqual([]);
});

test("the secret, tokens, passwords and keys are in no log, error, topic, tag, page, file, diagnostic report or crash dump, whatever fails", {
  timeout: 120_000,
}, async () => {
  const folder = newFolder();
  const port = await freePorts(3);
  const authority = await createCa(Date.now());
  const receiver = await createServerCertificate(authority, ["localhost"], Date.now());
  const simulator = await startSimulator({
    timeFactor: 20,
    unsafeWebhookTargets: { trustedCa: authority.certificate },
  });
  closers.push(() => simulator.stop());
  const { endpoints, control } = simulator;
  const proxy = await startHttpProxy("plant", passwords.proxy);
  closers.push(() => proxy.close());
  const wire = await startTcpProxy(() => endpoints.grpc);
  closers.push(() => wire.close());
  const broker = await startPlantBroker();
  closers.push(() => broker.close());

  const outside = newFolder();
  const keep = async (name: string, text: string) => {
    await writeFile(join(outside, name), text, { mode: 0o600 });
    return join(outside, name);
  };
  const path = await keep(
    "fleetgate.yaml",
    stringify({
      gateway: { id: "secrets", dataDir: folder },
      log: { level: "debug" },
      fleet: {
        grpc: { address: wire.address },
        https: endpoints.https,
        ca: endpoints.ca,
        credentials: endpoints.credentials,
        locations: endpoints.locations,
        proxy: {
          url: `http://localhost:${proxy.port}`,
          username: "plant",
          password: await keep("proxy-password", passwords.proxy),
        },
        events: {
          kind: "webhook",
          listen: { host: "127.0.0.1", port },
          publicUrl: `https://localhost:${port}/hook`,
          certificate: await keep("hook.pem", receiver.certificate),
          key: await keep("hook.key", receiver.key),
        },
        times: { rosterPollMs: 200, connectMs: 1_000, backoffBaseMs: 20, backoffCapMs: 200 },
      },
      quality: { streamSilenceMs: 2_000, resyncMs: 2_000 },
      mqtt: {
        broker: broker.url,
        protocolVersion: 4,
        username: "fleetgate",
        password: await keep("mqtt-password", passwords.mqtt),
        base: BASE,
        tags: true,
        commands: { brokerEnforcesClientNames: true },
      },
      opcua: {
        listen: { host: "127.0.0.1", port: port + 1 },
        insecureLoopback: { role: "engineer" },
        users: { line1: { password: await keep("opcua-password", passwords.opcua), role: "operator" } },
      },
      web: { listen: { host: "127.0.0.1", port: port + 2 } },
      rights: [{ source: { protocol: "mqtt", name: "*" }, role: "engineer" }],
    }),
  );

  const ear = await listenMqtt(broker.url, "ear", BASE);
  closers.push(() => ear.close());
  const shown = new Map<string, string>();
  const daemon = watchDaemon(folder, "run", "--config", path);
  closers.push(() => daemon.kill());
  await daemon.says("ready", (line) => line.includes('"msg":"ready"'));
  await ear.on("robots/cart-01/availability", (text) => text === "good");
  await daemon.says("webhooks are made", (line) => line.includes("a webhook subscription was made"));
  const look = async (when: string) => {
    shown.set(`the tags ${when}`, (await walkOpcUa(`opc.tcp://localhost:${port + 1}`)).join("\n"));
    for (const route of ["/", "/healthz", "/metrics", "/commands", "/nowhere"]) {
      const answer = await fetch(`http://127.0.0.1:${port + 2}${route}`);
      const headers = JSON.stringify([...answer.headers]);
      shown.set(`the page ${route} ${when}`, `${headers}\n${await answer.text()}`);
    }
  };
  const command = async (id: string, operation: string, request: unknown) =>
    shown.set(`the reply to ${id}`, JSON.stringify(await ear.send(operation, id, request)));

  await look("in good days");
  await command("list", "ListWebhooks", {});
  await command("map", "GetMap", { mapId: 1 });
  shown.set("the report in good days", await daemon.report());

  // Whatever goes wrong with tokens and connections.
  control.apply({ kind: "exchange", effect: "refuse" });
  control.apply({ kind: "expire-tokens" });
  control.apply({ kind: "end-streams", how: "unauthenticated" });
  await command("refused", "GetConveyorIndex", { robotId: "cart-01" });
  await command("read", "QueryTaskChain", { taskChainIds: [1] });
  await daemon.says("no new token", (line) => line.includes("refuses the API key"));
  await look("while the key is refused");
  shown.set("the report while the key is refused", await daemon.report());
  await wire.unplug();
  await ear.on("robots/cart-01/availability", (text) => text !== "good");
  await daemon.says("no connection", (line) => line.includes("no connection for commands"));
  await look("while nothing can be reached");
  await wire.plug();
  await ear.sendText("CreateMission", "{");
  await command("nobody", "CreateMission", { robotId: "nobody", mission: {} });
  // A stranger's delivery is refused, and what it brought is in no log either.
  const guess = "a-stranger-s-guess-at-the-secret";
  const stranger = await https({
    url: `https://localhost:${port}/hook`,
    ca: Buffer.from(authority.certificate),
    method: "POST",
    headers: { "x-fleetgate-secret": guess, "x-service-webhook-event-id": "e1" },
    body: {},
  });
  expect(stranger.status).toBe(401);
  const user = { name: "line1", password: passwords.opcua };
  const plc = await openPlc(`opc.tcp://localhost:${port + 1}`, user);
  await plc.close();

  const check = fleetgate(folder, "check", "--config", path);
  await check.ended;
  shown.set("what check says", [...check.out.entries, ...check.err.entries].join("\n"));
  const wrong = await keep("wrong.yaml", (await readFile(path, "utf8")).replace("dataDir:", "dataDri:"));
  const wrongCheck = fleetgate(folder, "check", "--config", wrong);
  await wrongCheck.ended;
  shown.set(
    "what check says of a mistake",
    [...wrongCheck.out.entries, ...wrongCheck.err.entries].join("\n"),
  );
  const call = fleetgate(folder, "call", "--config", path, "ListWebhooks", "{}");
  await call.ended;
  shown.set("what call says", [...call.out.entries, ...call.err.entries].join("\n"));

  shown.set("the crash dump", await daemon.crash());
  shown.set("all that it said", daemon.said());
  shown.set(
    "all that was published",
    ear.received.entries.map(({ topic, text }) => `${topic} ${text}`).join("\n"),
  );
  const hookSecret = JSON.parse((await findFile(folder, /webhook-secret\.json$/)) ?? '{"secret":""}') as {
    secret: string;
  };
  for (const [name, text] of await filesUnder(folder)) {
    // Where the gateway keeps its own: readable by its own user alone, which other tests see to.
    if (/webhook-secret\.json$|private.*\.pem$/.test(name)) continue;
    shown.set(`the file ${name}`, text);
  }

  const document = JSON.parse(await readFile(endpoints.credentials, "utf8")) as { secret: string };
  const secrets = new Map([
    ["the API key's secret", document.secret],
    ["the webhooks' secret", hookSecret.secret],
    ["the proxy's password", passwords.proxy],
    ["the broker's password", passwords.mqtt],
    ["a user's password", passwords.opcua],
    ["a stranger's guess", guess],
  ]);
  for (const secret of secrets.values()) expect(secret.length).toBeGreaterThan(8);
  expect([...shown].flatMap(([where, text]) => search(where, text, secrets))).toEqual([]);
  // The search had something to search.
  expect(daemon.said()).toContain("planted by the test");
  expect(shown.get("the crash dump")).toContain("planted by the test");
  expect(shown.get("the tags in good days")).toContain("cart-01");
  expect(shown.get("all that was published")).toContain("health ");
  expect(shown.get("the reply to list")).toContain("(hidden)");
  expect(shown.get("the file audit/audit.jsonl")).toContain("ListWebhooks");
  expect(shown.get("what check says of a mistake")).toContain("dataDri");
});

test("what clients and the token exchange send that fails is in no log, answer, topic, tag, page or file", {
  timeout: 120_000,
}, async () => {
  const folder = newFolder();
  const outside = newFolder();
  const keep = async (name: string, text: string) => {
    await writeFile(join(outside, name), text, { mode: 0o600 });
    return join(outside, name);
  };
  const port = await freePorts(3);
  const simulator = await startSimulator({});
  closers.push(() => simulator.stop());
  const exchange = await startEchoingExchange(simulator.endpoints.ca);
  closers.push(() => exchange.close());
  const { grpc, https: httpsUrl, ca, credentials, locations } = simulator.endpoints;
  const path = await keep(
    "fleetgate.yaml",
    stringify({
      gateway: { id: "secrets", dataDir: folder },
      log: { level: "debug" },
      fleet: {
        grpc: { address: grpc },
        https: httpsUrl,
        authUrl: exchange.url,
        ca,
        credentials,
        locations,
        times: { backoffBaseMs: 20, backoffCapMs: 50 },
      },
      mqtt: {
        broker: "embedded",
        listen: { host: "127.0.0.1", port },
        users: { ear: { password: await keep("ear-password", passwords.ear) } },
        base: BASE,
      },
      opcua: {
        listen: { host: "127.0.0.1", port: port + 1 },
        insecureLoopback: { role: "observer" },
        users: { line1: { password: await keep("opcua-password", passwords.opcua), role: "operator" } },
      },
      web: { listen: { host: "127.0.0.1", port: port + 2 } },
    }),
  );
  const daemon = watchDaemon(folder, "run", "--config", path);
  closers.push(() => daemon.kill());
  await daemon.says("ready", (line) => line.includes('"component":"commands","msg":"ready"'));
  const ear = await listenMqtt(`mqtt://127.0.0.1:${port}`, "ear", BASE, { password: passwords.ear });
  closers.push(() => ear.close());

  await failOverMqtt(`mqtt://127.0.0.1:${port}`, "ear", guesses.mqtt);
  await failOverOpcUa(`opc.tcp://127.0.0.1:${port + 1}`, "line1", guesses.opcua);
  await failOverHttp(`http://127.0.0.1:${port + 2}`, guesses.web);
  await failOverSocket(join(folder, "control.sock"), guesses.socket);
  await ear.sendText("CreateWebhook", `{"id":"w","request":{"webhook":{"secret":"${guesses.webhook}"}`);
  await ear.sendText("CreateWebhook", `{"id":"x","request":{"webhook":{"sekret":"${guesses.webhook}"}}}`);
  await exchange.askedForEach();
  await daemon.says("the key is refused", (line) => line.includes("refuses the API key"));

  const shown = new Map([
    ["the tags", (await walkOpcUa(`opc.tcp://localhost:${port + 1}`)).join("\n")],
    ["the page", await (await fetch(`http://127.0.0.1:${port + 2}/`)).text()],
    ["health", await (await fetch(`http://127.0.0.1:${port + 2}/healthz`)).text()],
    ["all that it said", daemon.said()],
    [
      "all that was published",
      ear.received.entries
        .filter(({ topic }) => !topic.startsWith("clients/ear/command/"))
        .map(({ topic, text }) => `${topic} ${text}`)
        .join("\n"),
    ],
    ...(await filesUnder(folder)),
  ]);
  for (const name of shown.keys()) if (/private.*\.pem$/.test(name)) shown.delete(name);
  const document = JSON.parse(await readFile(credentials, "utf8")) as { secret: string };
  const secrets = new Map([
    ...Object.entries(guesses),
    ...Object.entries(passwords),
    ["the API key's secret", document.secret],
  ] as const);
  expect([...shown].flatMap(([where, text]) => search(where, text, secrets))).toEqual([]);
  // Each protocol had something to say of it.
  expect(daemon.said()).toContain('"library":"node-opcua"');
  expect(shown.get("all that was published")).toContain("health ");
});

async function findFile(folder: string, name: RegExp): Promise<string | undefined> {
  return [...(await filesUnder(folder))].find(([path]) => name.test(path))?.[1];
}
