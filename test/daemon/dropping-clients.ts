import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, rename } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import {
  AttributeIds,
  type ClientSession,
  CreateSessionRequest,
  MessageSecurityMode,
  OPCUACertificateManager,
  OPCUAClient,
  SecurityPolicy,
  TimestampsToReturn,
  UserTokenType,
} from "node-opcua";
import { frame, hello, openRawChannel } from "../northbound/opcua/raw-client.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

/** Clients of OPC UA that connect, subscribe, and go in every way that there is. */
export interface DroppingClients {
  /** Lets so many clients come and go, several at the same time. */
  cycles(count: number): Promise<void>;
  /** How many came so far, and how many of them had a subscription. */
  counts(): { readonly clients: number; readonly subscribed: number };
  close(): Promise<void>;
}

export interface DroppingParts {
  readonly url: string;
  /** The gateway's folder of client certificates. */
  readonly certificates: string;
  /** For the clients' own keys. */
  readonly folder: string;
  readonly user: { readonly name: string; readonly password: string };
  /** A robot that has its nodes. */
  readonly robot: string;
  readonly random: () => number;
}

/** So many clients are there at the same time. */
const AT_ONCE = 6;
/** A session lives so long without its client. Less would end one whose client a loaded machine holds up. */
const SESSION_TIMEOUT_MS = 5_000;
/** Within this a client is connected, logged on and subscribed, or nearly so, when it is cut. */
const CUT_WITHIN_MS = 250;
const APPROVED_WITHIN_MS = 30_000;

/** Ways to go. The first five begin as a PLC does; the others break off before that. */
const ways = [
  "orderly",
  "its subscription is left",
  "without a word",
  "cut",
  "cut at any moment",
  "half a hello",
  "half a secure channel",
  "a channel without a session",
  "a session without a user",
] as const;
type Way = (typeof ways)[number];
/** So many clients go in every way once. */
export const WAYS = ways.length;
/** So many of the ways begin with a subscription. */
const SUBSCRIBED_WAYS = 5;

export async function openDroppingClients(parts: DroppingParts): Promise<DroppingClients> {
  const { url, random } = parts;
  const { hostname, port } = new URL(url.replace("opc.tcp", "tcp"));
  const wires = await Promise.all(
    Array.from({ length: AT_ONCE }, () => startTcpProxy(() => `${hostname}:${port}`)),
  );
  const manager = new OPCUACertificateManager({
    rootFolder: join(parts.folder, "clients"),
    automaticallyAcceptUnknownCertificate: true,
  });
  await manager.initialize();
  let clients = 0;
  let subscribed = 0;

  function newClient(isSecure: boolean): OPCUAClient {
    return OPCUAClient.create({
      applicationName: "dropping",
      applicationUri: "urn:fleetgate:dropping",
      clientCertificateManager: manager,
      securityMode: isSecure ? MessageSecurityMode.SignAndEncrypt : MessageSecurityMode.None,
      securityPolicy: isSecure ? SecurityPolicy.Basic256Sha256 : SecurityPolicy.None,
      endpointMustExist: false,
      requestedSessionTimeout: SESSION_TIMEOUT_MS,
      connectionStrategy: { maxRetry: 0, initialDelay: 10, maxDelay: 20 },
      keepPendingSessionsOnDisconnect: true,
    });
  }

  const logOn = (client: OPCUAClient, isSecure: boolean) =>
    client.createSession(
      isSecure
        ? { type: UserTokenType.UserName, userName: parts.user.name, password: parts.user.password }
        : { type: UserTokenType.Anonymous },
    );

  async function come(way: Way, wire: TcpProxy): Promise<void> {
    const isSecure = random() < 0.5;
    const client = newClient(isSecure);
    let cutting: NodeJS.Timeout | null = null;
    try {
      if (way === "cut at any moment")
        cutting = setTimeout(() => void wire.unplug(), random() * CUT_WITHIN_MS);
      await client.connect(`opc.tcp://${wire.address}`);
      const session = await logOn(client, isSecure);
      await work(session, parts.robot);
      subscribed += 1;
      if (way === "orderly") await session.close(true);
      if (way === "its subscription is left") await session.close(false);
      if (way === "cut") await wire.unplug();
    } catch (error) {
      if (way !== "cut at any moment") throw error;
    } finally {
      if (cutting !== null) clearTimeout(cutting);
      await client.disconnect();
      await wire.plug();
    }
  }

  async function breakOff(way: Way): Promise<void> {
    if (way === "half a hello" || way === "half a secure channel") {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, "connect");
      if (way === "half a hello") socket.write(hello(url).subarray(0, 20));
      else {
        socket.write(hello(url));
        await once(socket, "data");
        socket.write(frame("OPNF", randomBytes(200)).subarray(0, 100));
      }
      socket.destroy();
      return;
    }
    const channel = await openRawChannel(url);
    if (way === "a session without a user") {
      const answer = await channel.call(
        new CreateSessionRequest({
          clientDescription: { applicationUri: "urn:fleetgate:dropping" },
          endpointUrl: url,
          sessionName: "dropping",
          requestedSessionTimeout: SESSION_TIMEOUT_MS,
          clientNonce: randomBytes(32),
        }),
      );
      if (answer?.status !== 0) throw new Error(`the session was refused with ${answer?.status}`);
    }
    channel.hangUp();
    await channel.closed;
  }

  /** An operator lets the clients in, as docs/plc.md says. */
  async function approve(): Promise<void> {
    const knock = async () => {
      const client = newClient(true);
      try {
        await client.connect(url);
        await (await logOn(client, true)).close(true);
        return true;
      } catch {
        return false;
      } finally {
        await client.disconnect();
      }
    };
    if (await knock()) throw new Error("an unknown client was let in");
    const { certificates } = parts;
    await mkdir(join(certificates, "trusted", "certs"), { recursive: true });
    for (const name of await readdir(join(certificates, "rejected"))) {
      await rename(join(certificates, "rejected", name), join(certificates, "trusted", "certs", name));
    }
    const untilMs = performance.now() + APPROVED_WITHIN_MS;
    while (!(await knock())) {
      if (performance.now() > untilMs) throw new Error("an approved client is refused");
    }
  }

  await approve();
  return {
    async cycles(count) {
      const last = clients + count;
      const run = async (wire: TcpProxy) => {
        while (clients < last) {
          const way = ways[clients % ways.length] ?? "orderly";
          clients += 1;
          if (ways.indexOf(way) < SUBSCRIBED_WAYS) await come(way, wire);
          else await breakOff(way);
        }
      };
      await Promise.all(wires.map(run));
    },
    counts: () => ({ clients, subscribed }),
    async close() {
      for (const wire of wires) await wire.close();
      await manager.dispose();
    },
  };
}

/** What a PLC does first: it subscribes, reads and writes. */
async function work(session: ClientSession, robot: string): Promise<void> {
  const nodeId = (tag: string) => `ns=2;s=Robots.${robot}.${tag}`;
  const subscription = await session.createSubscription2({
    requestedPublishingInterval: 50,
    requestedLifetimeCount: 30,
    requestedMaxKeepAliveCount: 5,
    publishingEnabled: true,
  });
  const tags = ["Valid", "Mission.State", "Battery.ChargePercent", "MissionSlot.Answer", "AgeSeconds"];
  await subscription.monitorItems(
    tags.map((tag) => ({ nodeId: nodeId(tag), attributeId: AttributeIds.Value })),
    { samplingInterval: 100, queueSize: 10, discardOldest: true },
    TimestampsToReturn.Both,
  );
  await session.read(tags.map((tag) => ({ nodeId: nodeId(tag), attributeId: AttributeIds.Value })));
  const [status] = await session.write([
    {
      nodeId: nodeId("MissionSlot.Destination"),
      attributeId: AttributeIds.Value,
      value: { value: { dataType: "String", value: "Station A" } },
    },
  ]);
  if (status?.isGood() !== true) throw new Error(`the write is answered with ${status?.name}`);
}
