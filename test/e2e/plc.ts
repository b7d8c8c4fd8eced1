import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AttributeIds,
  type ClientSession,
  MessageSecurityMode,
  OPCUACertificateManager,
  OPCUAClient,
  SecurityPolicy,
  type StatusCode,
  StatusCodes,
  TimestampsToReturn,
  UserTokenType,
  VariableIds,
  type VariantOptions,
} from "node-opcua";
import { type Chronicle, createChronicle } from "../support/chronicle.ts";

/** What a tag showed. */
export interface Shown {
  readonly tag: string;
  readonly value: unknown;
  /** Name of its status code. */
  readonly status: string;
}

/** A PLC: a foreign OPC UA client that reads, writes and follows tags. */
export interface Plc {
  read(tag: string): Promise<Shown>;
  /** The value of a tag; rejects when its status is not Good. */
  value(tag: string): Promise<unknown>;
  /** Of the server. */
  serviceLevel(): Promise<number>;
  /** What tags show, read in one request. */
  shown(...tags: readonly string[]): Promise<readonly Shown[]>;
  /**
   * The number that a slot's `NextId` shows, once it is not 0: a slot keeps its numbers before it shows one.
   */
  nextId(tag: string): Promise<number>;
  /** Writes tags in one request, in this order. @returns names of status codes */
  write(...values: ReadonlyArray<readonly [tag: string, value: VariantOptions]>): Promise<string[]>;
  /** Calls a method of a robot, with the time until which it may be sent, or without one. */
  call(robot: string, method: string, call: RobotCall): Promise<RobotAnswer>;
  /** Waits until a tag is there and shows this value, with status Good. */
  shows(tag: string, value: unknown): Promise<void>;
  /** What tags show from now on, beginning with what they show now. Waits until they are there. */
  follow(...tags: readonly string[]): Promise<Chronicle<Shown>>;
  close(): Promise<void>;
  /** Rejects when the connection is lost. */
  lost(): Promise<never>;
  /** Goes without a word to the server, after its connection was cut. */
  abandon(): Promise<void>;
}

export const int32 = (value: number): VariantOptions => ({ dataType: "Int32", value });
export const text = (value: string): VariantOptions => ({ dataType: "String", value });

interface RobotCall {
  readonly requestId: string;
  readonly expiresAt: Date | null;
  readonly further: readonly VariantOptions[];
}
interface RobotAnswer {
  readonly outcome: unknown;
  readonly errorId: unknown;
}

const FLEET_NAMESPACE = "urn:fleetgate:fleet";

/** Who logs on. */
export interface PlcUser {
  readonly name: string;
  readonly password: string;
}

/** Keys take a second to make: one folder for all PLCs of a file of tests. */
const pkiFolder = mkdtempSync(join(tmpdir(), "fleetgate-plc-"));
process.once("exit", () => rmSync(pkiFolder, { recursive: true, force: true }));
const certificates = new OPCUACertificateManager({ rootFolder: pkiFolder });

/** Connects without security, as this user, or as anonymous. `retries`: how often it tries again. */
export async function openPlc(url: string, user?: PlcUser, retries = 3): Promise<Plc> {
  const client = OPCUAClient.create({
    applicationName: "e2e",
    applicationUri: "urn:fleetgate:e2e",
    clientCertificateManager: certificates,
    securityMode: MessageSecurityMode.None,
    securityPolicy: SecurityPolicy.None,
    endpointMustExist: false,
    connectionStrategy: { maxRetry: retries, initialDelay: 50, maxDelay: 200 },
    keepPendingSessionsOnDisconnect: true,
  });
  const lost = new Promise<never>((_resolve, reject) => {
    client.on("connection_lost", () => reject(new Error("the connection is lost")));
  });
  lost.catch(() => {});
  await client.connect(url);
  const session = await client.createSession(
    user === undefined
      ? undefined
      : { type: UserTokenType.UserName, userName: user.name, password: user.password },
  );
  const namespace = (await session.readNamespaceArray()).indexOf(FLEET_NAMESPACE);
  const nodeId = (tag: string) => `ns=${namespace};s=${tag}`;

  async function read(tag: string): Promise<Shown> {
    const found = await session.read({ nodeId: nodeId(tag), attributeId: AttributeIds.Value });
    return { tag, value: plain(found.value.value), status: found.statusCode.name };
  }
  async function value(tag: string): Promise<unknown> {
    const shown = await read(tag);
    if (shown.status !== "Good") throw new Error(`${tag} is ${shown.status}`);
    return shown.value;
  }
  return {
    read,
    value,
    async serviceLevel() {
      const nodeId = `ns=0;i=${VariableIds.Server_ServiceLevel}`;
      return Number((await session.read({ nodeId, attributeId: AttributeIds.Value })).value.value);
    },
    async shown(...tags) {
      const ids = tags.map((tag) => ({ nodeId: nodeId(tag), attributeId: AttributeIds.Value }));
      const found = await session.read(ids);
      return found.map(({ value, statusCode }, at) => ({
        tag: tags[at] ?? "",
        value: plain(value.value),
        status: statusCode.name,
      }));
    },
    async nextId(tag) {
      for (;;) {
        const number = Number(await value(tag));
        if (number !== 0) return number;
      }
    },
    async write(...values) {
      const statuses: StatusCode[] = await session.write(
        values.map(([tag, value]) => ({
          nodeId: nodeId(tag),
          attributeId: AttributeIds.Value,
          value: { value },
        })),
      );
      return statuses.map(({ name }) => name);
    },
    async call(robot, method, { requestId, expiresAt, further }) {
      const { outputArguments } = await session.call({
        objectId: nodeId(`Robots.${robot}`),
        methodId: nodeId(`RobotMethods.${method}`),
        inputArguments: [text(requestId), { dataType: "DateTime", value: expiresAt }, ...further],
      });
      const [outcome, errorId] = (outputArguments ?? []).map((output) => output.value as unknown);
      return { outcome, errorId };
    },
    async shows(tag, value) {
      const shown = await follow(session, [tag], nodeId);
      await shown.first(`${tag} = ${String(value)}`, (one) => one.value === value && one.status === "Good");
    },
    follow: (...tags) => follow(session, tags, nodeId),
    async close() {
      await session.close(true);
      await client.disconnect();
    },
    lost: () => lost,
    abandon: () => client.disconnect(),
  };
}

/** Longer than a loaded machine needs to hear of a robot. */
const THERE_WITHIN_MS = 30_000;

/** No event tells of a node that is not there yet: it is asked for, one round trip after the other. */
async function untilThere(session: ClientSession, nodeId: string): Promise<void> {
  const untilMs = performance.now() + THERE_WITHIN_MS;
  for (;;) {
    const { statusCode } = await session.read({ nodeId, attributeId: AttributeIds.Value });
    if (!statusCode.equals(StatusCodes.BadNodeIdUnknown)) return;
    if (performance.now() > untilMs) throw new Error(`in ${THERE_WITHIN_MS} ms there is no ${nodeId}`);
  }
}

async function follow(
  session: ClientSession,
  tags: readonly string[],
  nodeId: (tag: string) => string,
): Promise<Chronicle<Shown>> {
  for (const tag of tags) await untilThere(session, nodeId(tag));
  const shown = createChronicle<Shown>(({ tag, value, status }) => `${tag} = ${String(value)} (${status})`);
  const subscription = await session.createSubscription2({
    requestedPublishingInterval: 20,
    requestedLifetimeCount: 1_000,
    requestedMaxKeepAliveCount: 100,
    publishingEnabled: true,
  });
  const items = await subscription.monitorItems(
    tags.map((tag) => ({ nodeId: nodeId(tag), attributeId: AttributeIds.Value })),
    { samplingInterval: 0, queueSize: 1_000, discardOldest: true },
    TimestampsToReturn.Both,
  );
  items.on("changed", (_item, { value, statusCode }, index) => {
    shown.add({ tag: tags[index] ?? "", value: plain(value.value), status: statusCode.name });
  });
  for (const tag of tags) await shown.first(`a first value of ${tag}`, (one) => one.tag === tag);
  return shown;
}

/** Typed arrays as plain ones, for comparing. */
function plain(value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value;
}
