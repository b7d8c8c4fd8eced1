import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import mqtt from "mqtt";
import { stringify } from "yaml";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { freePorts } from "../support/free-ports.ts";
import { type MeasuredDaemon, startMeasuredDaemon } from "../support/measured-daemon.ts";
import { type ScriptedService, startScriptedService } from "../support/scripted-service.ts";
import { fleetSection } from "../support/simulator.ts";
import { openWorstDeliveries } from "../support/worst-delivery.ts";
import type { Worst } from "../support/worst-message.ts";
import { createWorstTokens } from "../support/worst-token.ts";
import {
  createGoodRobot,
  misbehave,
  misbehavingScript,
  type OwnSubscriptions,
} from "./misbehaving-service-script.ts";
import { openPlc, type Plc } from "./plc.ts";

/** The built gateway, a service that misbehaves towards it, and clients that look at it. */
export interface MisbehavingHarness {
  readonly daemon: MeasuredDaemon;
  /** Sends so many bad messages, and resolves when both protocols show what the good robot then said. */
  round(messages: number): Promise<void>;
  /** Bad messages so far, deliveries among them. */
  sent(): number;
  /** Answers of the authentication server so far that were no token, or a bad one. */
  badTokens(): number;
  /** What MQTT published and should not have. */
  wrong(): readonly string[];
  /** The figures of one part of the gateway. */
  health(part: string): Promise<Readonly<Record<string, number>>>;
  /** What happened so far, for a person. */
  summary(): Readonly<Record<string, unknown>>;
  /** Ends everything. Resolves with the daemon's exit code. */
  close(): Promise<number | null>;
}

const PATIENCE_MS = 60_000;
/** Messages that are written in one turn, so that the service can read what it is asked meanwhile. */
const AT_ONCE = 10;
const TAGS = [
  "RobotId",
  "Battery.ChargePercent",
  "Mission.State",
  "Mission.Id",
  "Quality",
  "Position.Code",
] as const;
const CHARGE = "Robots.good.Battery.ChargePercent";
const FATAL = /"level":"fatal"|our bug|a northbound failed/;

/** Starts everything. The good robot is right when it resolves. */
export async function openMisbehavingHarness(worst: Worst): Promise<MisbehavingHarness> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-misbehave-"));
  const good = createGoodRobot();
  const tokens = createWorstTokens(worst.random);
  let subscriptions: OwnSubscriptions | null = null;
  const script = misbehavingScript({ worst, good, subscriptions: () => subscriptions, token: tokens.next });
  const service = await startScriptedService(script);
  const ports = await freePorts(4);
  const { path, ca } = await configure(folder, service, ports);
  const daemon = await startMeasuredDaemon(path, (line) => FATAL.test(line));
  const identity = JSON.parse(
    await readFile(join(folder, "gateway", "fleet", "webhooks", "webhook-secret.json"), "utf8"),
  ) as { readonly instance: string; readonly secret: string };
  const { instance, secret } = identity;
  subscriptions = { description: `Fleetgate events ${instance}`, url: `https://localhost:${ports + 3}/hook` };
  const deliveries = openWorstDeliveries({ port: ports + 3, ca, secret }, worst);
  const listener = await listenToAll(`mqtt://127.0.0.1:${ports}`);
  const plc = await openPlc(`opc.tcp://localhost:${ports + 1}`);
  await sayGood();
  const shown = await plc.follow(CHARGE);
  let sent = 0;

  /** By both ways: while deliveries come, the stream may rest. */
  async function sayGood(): Promise<number> {
    const charge = good.next();
    service.push("SubscribeBatteryStatus", good.message());
    await deliveries.good(good.body());
    await listener.shows(charge);
    return charge;
  }

  async function round(messages: number): Promise<void> {
    const from = shown.entries.length;
    for (let message = 0; message < messages; message += 1) {
      misbehave(service, deliveries, worst);
      if (message % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    }
    sent += messages;
    const charge = await sayGood();
    const isRight = (value: unknown, status: string) => Number(value) >= charge && status === "Good";
    await shown.first(`the charge ${charge}`, ({ value, status }) => isRight(value, status), from);
    // Names that are no tag are answered too; what counts is that reading never ends the gateway.
    await readAll(plc, worst.names);
  }

  return {
    daemon,
    round: (messages) => Promise.race([round(messages), daemon.lost]),
    sent: () => sent,
    badTokens: () => tokens.counts().bad,
    wrong: () => listener.wrong,
    async health(part) {
      const answer = await fetch(`http://127.0.0.1:${ports + 2}/healthz`);
      const { components } = (await answer.json()) as {
        readonly components: Readonly<
          Record<string, { readonly figures?: Readonly<Record<string, number>> }>
        >;
      };
      return components[part]?.figures ?? {};
    },
    summary: () => ({
      sent,
      published: listener.messages(),
      deliveries: deliveries.endings(),
      tokens: tokens.counts(),
    }),
    async close() {
      deliveries.close();
      await plc.close();
      await listener.close();
      const code = await daemon.stop();
      await service.close();
      await rm(folder, { recursive: true, force: true });
      return code;
    },
  };
}

async function readAll(plc: Plc, names: readonly string[]): Promise<void> {
  await Promise.all(names.flatMap((name) => TAGS.map((tag) => plc.read(`Robots.${name}.${tag}`))));
}

/** @returns the path of the configuration, and the authority of the webhooks' certificate (PEM) */
async function configure(
  folder: string,
  service: ScriptedService,
  firstPort: number,
): Promise<{ readonly path: string; readonly ca: string }> {
  const authority = await createCa(Date.now());
  const own = await createServerCertificate(authority, ["localhost"], Date.now());
  await writeFile(join(folder, "hook.pem"), own.certificate, { mode: 0o600 });
  await writeFile(join(folder, "hook.key"), own.key, { mode: 0o600 });
  const listen = (place: number) => ({ host: "127.0.0.1", port: firstPort + place });
  const path = join(folder, "fleetgate.yaml");
  const file = {
    gateway: { id: "misbehave", dataDir: "gateway" },
    fleet: {
      ...fleetSection(service),
      families: { good: "cart", "odd-1": "cart" },
      events: {
        kind: "webhook",
        listen: listen(3),
        publicUrl: `https://localhost:${firstPort + 3}/hook`,
        certificate: "hook.pem",
        key: "hook.key",
      },
      times: {
        tokenRefreshMs: 60_000,
        tokenMarginMs: 1_000,
        rosterPollMs: 200,
        taskChainPollMs: 200,
        refusedRetryMs: 1_000,
        backoffBaseMs: 20,
        backoffCapMs: 100,
      },
    },
    quality: { streamSilenceMs: 1_000 },
    mqtt: { broker: "embedded", listen: listen(0), anonymousLoopback: true },
    opcua: { listen: listen(1), insecureLoopback: { role: "engineer" } },
    web: { listen: listen(2) },
    commands: { drainMs: 500 },
  };
  await writeFile(path, stringify(file), { mode: 0o600 });
  return { path, ca: authority.certificate };
}

interface Listener {
  /** Resolves when the good robot's charge is this or a later one, with good quality. */
  shows(least: number): Promise<void>;
  /** What was published and should not have been. */
  readonly wrong: readonly string[];
  messages(): number;
  close(): Promise<void>;
}

/** A subscriber to everything, which keeps what it needs and no more. */
async function listenToAll(url: string): Promise<Listener> {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, protocolVersion: 4 }, false);
  const wrong: string[] = [];
  let charge = { percent: 0, quality: "" };
  let look = () => {};
  let messages = 0;
  client.on("message", (topic, payload) => {
    messages += 1;
    const text = payload.toString();
    if (wrong.length > 20 || text === "" || topic.endsWith("/availability")) return;
    try {
      const message = JSON.parse(text) as {
        quality?: string;
        state?: { battery_state?: { charge_percent: number } };
      };
      if (!topic.endsWith("robots/good/battery")) return;
      const percent = message.state?.battery_state?.charge_percent ?? -1;
      if (message.quality !== "lost" && percent < charge.percent) wrong.push(`${topic} went back: ${text}`);
      charge = { percent, quality: message.quality ?? "" };
      look();
    } catch {
      wrong.push(`${topic} is no JSON: ${text.slice(0, 200)}`);
    }
  });
  await client.subscribeAsync("fleetgate/#", { qos: 0 });
  return {
    shows: (least) =>
      new Promise((resolve, reject) => {
        const tooLong = () =>
          reject(new Error(`in ${PATIENCE_MS} ms MQTT shows ${JSON.stringify(charge)}, not ${least}`));
        const patience = setTimeout(tooLong, PATIENCE_MS);
        look = () => {
          if (charge.percent < least || charge.quality !== "good") return;
          clearTimeout(patience);
          look = () => {};
          resolve();
        };
        look();
      }),
    wrong,
    messages: () => messages,
    close: () => client.endAsync(true),
  };
}
