import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AttributeIds,
  type ClientSession,
  type DataValue,
  MessageSecurityMode,
  OPCUACertificateManager,
  OPCUAClient,
  SecurityPolicy,
  UserTokenType,
} from "node-opcua";
import { defaultOpcUaLimits, type OpcUaOptions } from "../../../src/northbound/opcua/options.ts";
import { createOpcUaServer, type OpcUaParts, type OpcUaServer } from "../../../src/northbound/opcua/server.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";

/** Keys take a second to make: one folder for every test of a file. */
export const pkiDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-"));

export function opcUaOptions(changed: Partial<OpcUaOptions> = {}): OpcUaOptions {
  return {
    host: "127.0.0.1",
    port: 0,
    hostname: "localhost",
    alternateHostnames: ["127.0.0.1"],
    applicationUri: "urn:fleetgate:test",
    dataDir: pkiDir,
    users: [],
    insecureLoopback: { role: "operator" },
    robots: [],
    limits: defaultOpcUaLimits,
    ...changed,
  };
}

export function opcUaParts(changed: Partial<OpcUaParts> = {}): OpcUaParts {
  return {
    facts: { version: "0.0.0", sessionId: "s-1", startedAtMs: 0, fleetLinkUp: () => true },
    clock: systemClock,
    log: silentLog,
    ...changed,
  };
}

export interface RunningServer {
  readonly server: OpcUaServer;
  readonly url: string;
  stop(): Promise<void>;
}

/** Runs the server until `stop`; rejects when it does not come up. */
export async function startServer(
  options: Partial<OpcUaOptions> = {},
  parts: Partial<OpcUaParts> = {},
): Promise<RunningServer> {
  const server = createOpcUaServer(opcUaOptions(options), opcUaParts(parts));
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
  read(name: string): Promise<DataValue>;
  close(): Promise<void>;
}

const clientCertificates = new OPCUACertificateManager({ rootFolder: join(pkiDir, "client") });

export function newClient(secure = false): OPCUAClient {
  return OPCUAClient.create({
    applicationName: "test",
    applicationUri: "urn:fleetgate:test-client",
    clientCertificateManager: clientCertificates,
    securityMode: secure ? MessageSecurityMode.SignAndEncrypt : MessageSecurityMode.None,
    securityPolicy: secure ? SecurityPolicy.Basic256Sha256 : SecurityPolicy.None,
    endpointMustExist: false,
    connectionStrategy: { maxRetry: 0, initialDelay: 50, maxDelay: 100 },
  });
}

/** A client's session; the user is anonymous unless named. */
export async function openSession(
  url: string,
  login: { user?: { name: string; password: string }; secure?: boolean } = {},
): Promise<Caller> {
  const client = newClient(login.secure ?? false);
  await client.connect(url);
  const { user } = login;
  const session = await client.createSession(
    user === undefined
      ? { type: UserTokenType.Anonymous }
      : { type: UserTokenType.UserName, userName: user.name, password: user.password },
  );
  return {
    client,
    session,
    read: (name) => session.read({ nodeId: `ns=2;s=${name}`, attributeId: AttributeIds.Value }),
    async close() {
      await session.close();
      await client.disconnect();
    },
  };
}
