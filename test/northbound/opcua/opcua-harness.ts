import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ActivateSessionRequest,
  AttributeIds,
  type ClientSession,
  type DataValue,
  MessageSecurityMode,
  OPCUACertificateManager,
  OPCUAClient,
  SecurityPolicy,
  type StatusCode,
  TimestampsToReturn,
  UserTokenType,
  type VariantOptions,
} from "node-opcua";
import type { ActTargets } from "../../../src/commands/acts/performers.ts";
import type { Rights } from "../../../src/commands/options.ts";
import type { Permits, VisibleStations } from "../../../src/contracts/stations.ts";
import type { Role } from "../../../src/domain/command.ts";
import { stopRequest } from "../../../src/fleet/operations/row.ts";
import type { OpcUaCommands, OpcUaViews } from "../../../src/northbound/opcua/address-space.ts";
import type { GatewayFacts } from "../../../src/northbound/opcua/gateway-tags.ts";
import {
  defaultOpcUaLimits,
  type OpcUaOptions,
  type OpcUaUser,
} from "../../../src/northbound/opcua/options.ts";
import {
  createOpcUaServer,
  type OpcUaParts,
  type OpcUaServer,
} from "../../../src/northbound/opcua/server.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createLive } from "../../../src/platform/live.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { allowedRights } from "../../support/allowed-rights.ts";
import { createTestActs, noLeases, type TestTargets } from "../../support/fake-acts.ts";
import { createFakeHolds, type FakeHolds } from "../../support/fake-holds.ts";
import { allRights } from "../../support/intake-harness.ts";
import { type Given, withLive } from "../../support/live.ts";
import { noAlarms } from "../../support/test-alarms.ts";
import { createFakeCommander, type FakeCommander, fakeCatalogue } from "./fake-commands.ts";
import { createFakeDisk } from "./memory-store.ts";

/** Keys take a second to make: one folder for every test of a file. */
const pkiDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-"));

export function opcUaOptions(changed: Partial<Given<OpcUaOptions>> = {}): OpcUaOptions {
  const usual: OpcUaOptions = {
    host: "127.0.0.1",
    port: 0,
    hostname: "localhost",
    alternateHostnames: ["127.0.0.1"],
    applicationUri: "urn:fleetgate:test",
    certificate: createLive(null),
    trustList: createLive({ trusted: [], issuers: [], revocationLists: [] }),
    dataDir: pkiDir,
    users: createLive([]),
    insecureLoopback: { role: "operator" },
    reverseConnect: createLive([]),
    robots: createLive([]),
    stations: createLive([]),
    destinations: createLive(new Map()),
    missionSlots: 1,
    limits: defaultOpcUaLimits,
  };
  return withLive(usual, changed);
}

/**
 * What a test changes; the intake before its fake commander, and the acts, have the same catalogue, clock and
 * audit.
 */
type Changed = Partial<
  Omit<OpcUaParts, "commands" | "views"> &
    Omit<OpcUaCommands, "commander" | "stopRequest"> &
    Pick<OpcUaViews, "alarms" | "past" | "alarmFacts" | "facts" | "cluster">
> &
  Pick<TestTargets, "resetCounters" | "userRights"> & {
    /** Of the facts, unless they are given. */
    readonly sessionId?: string;
    readonly holds?: FakeHolds;
    readonly commander?: FakeCommander;
    readonly accounts?: Rights["accounts"];
    readonly stations?: TestStations;
    readonly permits?: Permits & ActTargets["permits"];
  };
type TestStations = ActTargets["stations"] & VisibleStations;

export function opcUaParts({
  accounts,
  resetCounters,
  userRights,
  sessionId = "run1",
  facts = factsOf(sessionId),
  holds = createFakeHolds(),
  commander = createFakeCommander(),
  stations = noStations,
  permits = noPermits,
  alarms = noAlarms,
  past = nothingKept,
  alarmFacts = { batteryLimits: () => ({ low: 20, critical: 10 }), certificateEndMs: () => null },
  cluster = null,
  catalogue = fakeCatalogue(),
  rights,
  records = { recall: async () => null },
  audit = commander,
  acts,
  clock = systemClock,
  ...changed
}: Changed = {}): OpcUaParts {
  const refused = audit === commander ? () => {} : audit.refused;
  const userRules = accounts === undefined ? allRights : { rules: [], accounts };
  commander.serve({ catalogue, clock, rights: userRules, refused });
  const targets = { stations, permits, holds, refused, rights, resetCounters, userRights };
  return {
    commands: {
      commander,
      acts: acts ?? createTestActs(targets),
      records,
      audit,
      rights: rights ?? allowedRights,
      catalogue,
      stopRequest,
    },
    views: { facts, stations, permits, holds, alarms, past, alarmFacts, cluster },
    openMemory: createFakeDisk().open,
    clock,
    random: () => 0.5,
    log: silentLog,
    ...changed,
  };
}

export function factsOf(sessionId: string): GatewayFacts {
  return {
    version: "0.0.0",
    builtAt: new Date("2025-12-24T03:04:05Z"),
    sessionId,
    startedAtMs: 0,
    configHash: () => "c0ffee",
    fleetLinkUp: () => true,
  };
}

/** Nobody leases anything, and nothing is known of a station. */
export const noStations: TestStations = { ...noLeases, shown: () => null };

/** No value was ever known. */
const nothing = { sinceMs: 0, stepMs: 30_000, firstAtMs: 0, values: [] };
const open = () => () => {};
const nothingKept: OpcUaViews["past"] = {
  batteries: { batteryOf: () => nothing, open },
  hour: { hourOf: () => nothing, open },
};

/** No station requires a permit. */
const noPermits: Permits & ActTargets["permits"] = {
  write: () => null,
  heartbeat() {},
  permitOf: () => ({ isRequired: false, isGiven: true, reason: "" }),
};

/** A user who may read. */
export const scada: OpcUaUser = {
  name: "scada",
  number: null,
  role: "observer",
  secret: { kind: "plain", text: "scada secret" },
};
/** Its log-on over an encrypted channel. */
export const scadaLogin = { user: { name: "scada", password: "scada secret" }, secure: true } as const;

/** The roles of the users, as the configuration gives them to the acts. */
export function accountsOf({ users, insecureLoopback }: OpcUaOptions): Rights["accounts"] {
  const account = (name: string, role: Role, key: string) =>
    ({ source: { protocol: "opcua", name }, role, key }) as const;
  const anonymous = insecureLoopback === null ? [] : [insecureLoopback.role];
  return [
    ...users.now().map(({ name, role }) => account(name, role, `opcua.users.${name}.role`)),
    ...anonymous.map((role) => account("anonymous", role, "opcua.insecureLoopback.role")),
  ];
}

export interface RunningServer {
  readonly server: OpcUaServer;
  readonly url: string;
  stop(): Promise<void>;
}

/** Runs the server until `stop`; rejects when it does not come up. */
export async function startServer(
  options: Partial<Given<OpcUaOptions>> = {},
  parts: Changed = {},
): Promise<RunningServer> {
  const all = opcUaOptions(options);
  const userRights = { rules: [], accounts: accountsOf(all) };
  const server = createOpcUaServer(all, opcUaParts({ userRights, ...parts }));
  const controller = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  await new Promise<void>((ready, reject) => {
    ended = server.run(controller.signal, ready);
    ended.catch(reject);
  });
  const url = server.url();
  if (url === null) throw new Error("the server has no address");
  return {
    server,
    url,
    async stop() {
      controller.abort();
      await ended;
    },
  };
}

export interface Caller {
  readonly client: OPCUAClient;
  readonly session: ClientSession;
  /** Reads a tag of our namespace by its path. */
  read(name: string): Promise<DataValue>;
  /** Reads what a tag shows; fails when its status is not Good. */
  value(name: string): Promise<unknown>;
  /**
   * The number that a slot's `NextId` shows, once it is not 0: a slot keeps its numbers before it shows one.
   */
  nextId(name: string): Promise<number>;
  /** Writes tags in one request, in this order. */
  write(...values: ReadonlyArray<readonly [name: string, value: VariantOptions]>): Promise<StatusCode[]>;
  /** Waits until a tag shows this value. */
  until(name: string, value: unknown): Promise<void>;
  close(): Promise<void>;
}

/** The clients of these tests trust every server: it is the server that is tested. */
const clientCertificates = new OPCUACertificateManager({
  rootFolder: join(pkiDir, "client"),
  automaticallyAcceptUnknownCertificate: true,
});
// Of two clients that connect at once, node-opcua lets the second go on before the first has made their key.
await clientCertificates.initialize();

interface ClientIdentity {
  readonly certificateFile: string;
  readonly privateKeyFile: string;
}

/**
 * A client; with an identity of its own it shows that certificate. @param pinned what it takes for the
 * server's
 */
export function newClient(secure = false, identity?: ClientIdentity, pinned?: Buffer): OPCUAClient {
  return OPCUAClient.create({
    ...(pinned === undefined ? {} : { serverCertificate: pinned }),
    ...(identity === undefined
      ? {}
      : { certificateFile: identity.certificateFile, privateKeyFile: identity.privateKeyFile }),
    applicationName: "test",
    applicationUri: "urn:fleetgate:test-client",
    clientCertificateManager: clientCertificates,
    securityMode: secure ? MessageSecurityMode.SignAndEncrypt : MessageSecurityMode.None,
    securityPolicy: secure ? SecurityPolicy.Basic256Sha256 : SecurityPolicy.None,
    endpointMustExist: false,
    connectionStrategy: { maxRetry: 0, initialDelay: 50, maxDelay: 100 },
  });
}

interface Login {
  user?: { name: string; password: string };
  secure?: boolean;
  identity?: ClientIdentity;
  /** The languages that the session wants, the best first. */
  locales?: readonly string[];
}

/** The server looks at its folders every few seconds, and tells nobody when it has. */
const APPROVAL_MS = 30_000;
const KNOCK_MS = 100;

/** The session of a client whose certificate was approved just now: knocks until it is let in. */
export async function openApprovedSession(url: string, login: Login): Promise<Caller> {
  const untilMs = performance.now() + APPROVAL_MS;
  for (;;) {
    try {
      return await openSession(url, login);
    } catch (cause) {
      if (performance.now() > untilMs)
        throw new Error("an approved certificate is still rejected", { cause });
      await new Promise((resolve) => setTimeout(resolve, KNOCK_MS));
    }
  }
}

/** node-opcua's client asks for no language, so the request is completed on its way. */
function askForLocales(client: OPCUAClient, locales: readonly string[]): void {
  const perform: unknown = Reflect.get(client, "performMessageTransaction");
  if (typeof perform !== "function") throw new Error("node-opcua's client sends its requests elsewhere now");
  Reflect.set(client, "performMessageTransaction", (request: unknown, ...rest: unknown[]) => {
    if (request instanceof ActivateSessionRequest) request.localeIds = [...locales];
    return perform.call(client, request, ...rest);
  });
}

/** A client's session; the user is anonymous unless named. */
export async function openSession(url: string, login: Login = {}): Promise<Caller> {
  const client = newClient(login.secure ?? false, login.identity);
  if (login.locales !== undefined) askForLocales(client, login.locales);
  await client.connect(url);
  const { user } = login;
  const session = await client
    .createSession(
      user === undefined
        ? { type: UserTokenType.Anonymous }
        : { type: UserTokenType.UserName, userName: user.name, password: user.password },
    )
    .catch(async (error: unknown) => {
      await client.disconnect();
      throw error;
    });
  const nodeId = (name: string) => `ns=2;s=${name}`;
  const read = (name: string) => session.read({ nodeId: nodeId(name), attributeId: AttributeIds.Value });
  async function value(name: string): Promise<unknown> {
    const found = await read(name);
    if (found.statusCode.isNotGood()) throw new Error(`${name} is ${found.statusCode.name}`);
    return found.value.value;
  }
  return {
    client,
    session,
    read,
    value,
    async nextId(name) {
      for (;;) {
        const number = Number(await value(name));
        if (number !== 0) return number;
      }
    },
    write: (...values) =>
      session.write(
        values.map(([name, value]) => ({
          nodeId: nodeId(name),
          attributeId: AttributeIds.Value,
          value: { value },
        })),
      ),
    async until(name, value) {
      const subscription = await session.createSubscription2({
        requestedPublishingInterval: 10,
        requestedLifetimeCount: 1000,
        requestedMaxKeepAliveCount: 100,
        publishingEnabled: true,
      });
      const monitored = await subscription.monitor(
        { nodeId: nodeId(name), attributeId: AttributeIds.Value },
        { samplingInterval: 0, queueSize: 100, discardOldest: true },
        TimestampsToReturn.Both,
      );
      await new Promise<void>((resolve) => {
        monitored.on("changed", (changed) => {
          if (changed.value.value === value) resolve();
        });
      });
      await subscription.terminate();
    },
    async close() {
      await session.close();
      await client.disconnect();
    },
  };
}
