import { type ClientSession, MessageSecurityMode, OPCUAClient, SecurityPolicy } from "node-opcua";

/** A client's session to a gateway of this machine. */
export interface PlantSession {
  readonly session: ClientSession;
  close(): Promise<void>;
}

/** Opens it; a server that is not up yet is waited for. */
export async function openPlantSession(port: number): Promise<PlantSession> {
  const client = OPCUAClient.create({
    endpointMustExist: false,
    securityMode: MessageSecurityMode.None,
    securityPolicy: SecurityPolicy.None,
    connectionStrategy: { initialDelay: 20, maxDelay: 50, maxRetry: 2_000 },
  });
  await client.connect(`opc.tcp://localhost:${port}`);
  const session = await client.createSession().catch(async (error: unknown) => {
    await client.disconnect();
    throw error;
  });
  return {
    session,
    async close() {
      await session.close();
      await client.disconnect();
    },
  };
}

/** The NodeId of a node of the gateway. */
export function nodeIdOf(path: string): string {
  return `ns=2;s=${path}`;
}
