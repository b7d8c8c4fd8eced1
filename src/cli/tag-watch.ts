// Imported before node-opcua: it keeps that library from writing to standard output.
import "../northbound/opcua/node-opcua/library-log.ts";
import { generateKeyPair, X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  AttributeIds,
  type ClientSession,
  type DataValue,
  MessageSecurityMode,
  NodeClass,
  OPCUACertificateManager,
  OPCUAClient,
  type ReferenceDescription,
  SecurityPolicy,
  TimestampsToReturn,
  UserTokenType,
} from "node-opcua";
import { selfSigned } from "../northbound/opcua/made-certificate.ts";
import { aborted } from "../platform/component.ts";
import { describeError } from "../platform/error-text.ts";
import { makeFolder } from "../platform/folder.ts";
import { plain } from "../platform/plain-text.ts";
import { NotPossible } from "./exit.ts";
import { say } from "./readable.ts";

const FLEET_NAMESPACE = "urn:fleetgate:fleet";
const APPLICATION_URI = "urn:fleetgate:watch";
const MOST_TAGS = 2_000;
const KEY_BITS = 2_048;
const connectionStrategy = { maxRetry: 0, initialDelay: 100, maxDelay: 100 };

/** The tags to follow, and the user; null: anonymous. */
export interface TagWatch {
  readonly url: string;
  readonly folder: string;
  readonly user: { readonly name: string; readonly password: string } | null;
  /** The folder of this program's own key and certificate, which are made once. */
  readonly keyFolder: string;
}

/** Prints every change of the tags at or under the folder, until the signal is aborted. */
export async function watchTags(
  { url, folder, user, keyFolder }: TagWatch,
  signal: AbortSignal,
): Promise<void> {
  const isEncrypted = user !== null || !(await takesAnyone(url));
  const client = isEncrypted ? await encryptedClient(keyFolder) : openClient();
  try {
    const session = await openSession(client, url, user, isEncrypted ? keyFolder : null);
    await follow(session, await tagsUnder(session, folder));
    await aborted(signal);
    await session.close(true);
  } finally {
    await client.disconnect();
  }
}

function openClient(): OPCUAClient {
  return OPCUAClient.create({
    applicationName: "Fleetgate watch",
    securityMode: MessageSecurityMode.None,
    securityPolicy: SecurityPolicy.None,
    endpointMustExist: false,
    connectionStrategy,
  });
}

/** Whether the server has an open endpoint for anonymous clients. */
async function takesAnyone(url: string): Promise<boolean> {
  const client = openClient();
  try {
    await client.connect(url);
    const endpoints = await client.getEndpoints();
    return endpoints.some(
      ({ securityMode, userIdentityTokens }) =>
        securityMode === MessageSecurityMode.None &&
        (userIdentityTokens ?? []).some(({ tokenType }) => tokenType === UserTokenType.Anonymous),
    );
  } finally {
    await client.disconnect();
  }
}

async function encryptedClient(keyFolder: string): Promise<OPCUAClient> {
  const { privateKeyFile, certificateFile } = await ownKey(keyFolder);
  return OPCUAClient.create({
    applicationName: "Fleetgate watch",
    applicationUri: APPLICATION_URI,
    privateKeyFile,
    certificateFile,
    clientCertificateManager: new OPCUACertificateManager({
      rootFolder: join(keyFolder, "servers"),
      automaticallyAcceptUnknownCertificate: true,
    }),
    securityMode: MessageSecurityMode.SignAndEncrypt,
    securityPolicy: SecurityPolicy.Basic256Sha256,
    endpointMustExist: false,
    connectionStrategy,
  });
}

/** The files of this program's key and certificate, made if they are not there. */
async function ownKey(keyFolder: string) {
  const files = { privateKeyFile: join(keyFolder, "key.pem"), certificateFile: join(keyFolder, "own.pem") };
  if (existsSync(files.certificateFile)) return files;
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: KEY_BITS });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await makeFolder(keyFolder);
  await writeFile(files.privateKeyFile, key, { mode: 0o600 });
  const content = { applicationUri: APPLICATION_URI, names: [hostname()] };
  await writeFile(files.certificateFile, await selfSigned(key, content, Date.now()));
  return files;
}

/** @param keyFolder null: the connection is not encrypted */
async function openSession(
  client: OPCUAClient,
  url: string,
  user: TagWatch["user"],
  keyFolder: string | null,
): Promise<ClientSession> {
  try {
    await client.connect(url);
  } catch (error) {
    if (keyFolder === null) throw error;
    const { fingerprint } = new X509Certificate(await readFile(join(keyFolder, "own.pem")));
    const thumbprint = fingerprint.replaceAll(":", "").toLowerCase();
    const approve = `sudo fleetgate certs approve ${thumbprint}`;
    throw new NotPossible(`${describeError(error)}. If the gateway waits for your approval: ${approve}`);
  }
  if (user === null) return client.createSession();
  const { name: userName, password } = user;
  return client.createSession({ type: UserTokenType.UserName, userName, password });
}

/** The NodeIds of every variable at or under a node, breadth first. */
async function tagsUnder(session: ClientSession, folder: string): Promise<string[]> {
  const index = (await session.readNamespaceArray()).indexOf(FLEET_NAMESPACE);
  if (index < 0) throw new Error("that server is not a Fleetgate");
  const root = `ns=${index};s=${folder}`;
  const nodeClass = await session.read({ nodeId: root, attributeId: AttributeIds.NodeClass });
  if (nodeClass.statusCode.isNotGood()) throw new Error(`there is no tag or folder ${folder}`);
  if (nodeClass.value.value === NodeClass.Variable) return [root];
  const tags: string[] = [];
  for (let level = [root]; level.length > 0 && tags.length < MOST_TAGS; ) {
    const children = (await Promise.all(level.map((nodeId) => childrenOf(session, nodeId)))).flat();
    tags.push(...named(children, NodeClass.Variable));
    level = named(children, NodeClass.Object);
  }
  return tags.slice(0, MOST_TAGS);
}

async function childrenOf(session: ClientSession, nodeId: string): Promise<readonly ReferenceDescription[]> {
  const result = await session.browse({
    nodeId,
    referenceTypeId: "HierarchicalReferences",
    includeSubtypes: true,
    browseDirection: 0,
    nodeClassMask: 0,
    resultMask: 63,
  });
  return result.references ?? [];
}

function named(references: readonly ReferenceDescription[], nodeClass: NodeClass): string[] {
  return references.filter((one) => one.nodeClass === nodeClass).map((one) => one.nodeId.toString());
}

async function follow(session: ClientSession, nodeIds: readonly string[]): Promise<void> {
  const subscription = await session.createSubscription2({
    requestedPublishingInterval: 200,
    requestedLifetimeCount: 100,
    requestedMaxKeepAliveCount: 10,
    maxNotificationsPerPublish: 0,
    publishingEnabled: true,
    priority: 0,
  });
  const items = await subscription.monitorItems(
    nodeIds.map((nodeId) => ({ nodeId, attributeId: AttributeIds.Value })),
    { samplingInterval: 0, queueSize: 10, discardOldest: true },
    TimestampsToReturn.Both,
  );
  items.on("changed", (_item, value, index) => {
    say(tagLine(nodeIds[index] ?? "", value));
  });
}

/** One line about a value. The server chooses the words. */
export function tagLine(nodeId: string, value: DataValue): string {
  const time =
    (value.sourceTimestamp ?? value.serverTimestamp)?.toISOString().slice(11, 23) ?? "            ";
  const shown: unknown = value.value.value;
  const text = ArrayBuffer.isView(shown)
    ? JSON.stringify(Array.from(shown as Int32Array))
    : JSON.stringify(shown);
  const status = value.statusCode.isGood() ? "" : `  ${value.statusCode.name}`;
  return plain(`${time}  ${nodeId.slice(nodeId.indexOf(";s=") + 3)} = ${text ?? "null"}${status}`);
}
