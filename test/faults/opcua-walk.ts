import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AttributeIds,
  BrowseDirection,
  type ClientSession,
  MessageSecurityMode,
  OPCUACertificateManager,
  OPCUAClient,
  SecurityPolicy,
} from "node-opcua";

const OBJECTS = "i=85";
const HIERARCHICAL = "i=33";
const NODES_A_READ = 200;
const shownAttributes = [
  AttributeIds.Value,
  AttributeIds.DisplayName,
  AttributeIds.Description,
  AttributeIds.BrowseName,
];

/**
 * Everything that a client can read under Objects of a server without security, as text, an attribute a line.
 */
export async function walkOpcUa(url: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-walk-"));
  const client = OPCUAClient.create({
    clientCertificateManager: new OPCUACertificateManager({ rootFolder: folder }),
    securityMode: MessageSecurityMode.None,
    securityPolicy: SecurityPolicy.None,
    endpointMustExist: false,
  });
  await client.connect(url);
  const session = await client.createSession();
  try {
    return await readAll(session, await nodesUnder(session));
  } finally {
    await session.close(true);
    await client.disconnect();
    await rm(folder, { recursive: true, force: true });
  }
}

async function nodesUnder(session: ClientSession): Promise<readonly string[]> {
  const seen = new Set([OBJECTS]);
  const wave = [OBJECTS];
  for (let next = wave.splice(0, NODES_A_READ); next.length > 0; next = wave.splice(0, NODES_A_READ)) {
    const results = await session.browse(
      next.map((nodeId) => ({
        nodeId,
        referenceTypeId: HIERARCHICAL,
        includeSubtypes: true,
        browseDirection: BrowseDirection.Forward,
        resultMask: 63,
      })),
    );
    for (const { references } of results) {
      for (const { nodeId } of references ?? []) {
        const id = nodeId.toString();
        if (seen.has(id)) continue;
        seen.add(id);
        wave.push(id);
      }
    }
  }
  return [...seen];
}

async function readAll(session: ClientSession, nodeIds: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (let from = 0; from < nodeIds.length; from += NODES_A_READ) {
    const some = nodeIds.slice(from, from + NODES_A_READ);
    const values = await session.read(
      some.flatMap((nodeId) => shownAttributes.map((attributeId) => ({ nodeId, attributeId }))),
    );
    values.forEach(({ value }, index) => {
      lines.push(`${some[Math.floor(index / shownAttributes.length)]} ${JSON.stringify(value)}`);
    });
  }
  return lines;
}
