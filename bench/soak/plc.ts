// A PLC at the gateway's OPC UA server, in a process that can be killed: follows tags and writes slots.
import { createHash } from "node:crypto";
import { AttributeIds, type ClientSession, TimestampsToReturn } from "node-opcua";
import { nodeIdOf, openPlantSession } from "../opcua/session.ts";
import { writeSlots } from "../opcua/slots.ts";
import type { PlcReply, PlcRequest } from "./protocol.ts";

const TAGS = ["Battery.ChargePercent", "Valid", "AgeSeconds", "ReadyForCommand"];
const TELL_EVERY_MS = 500;
const BETWEEN_COMMANDS_MS = 1_000;
const MOST_ATTEMPTS = 10;
/** The session was not activated in time; no secure channel was asked for in time. */
const TOO_SLOW = /BadSessionIdInvalid|disconnected by third party/;

function tell(reply: PlcReply): void {
  process.send?.(reply);
}

/**
 * A session has ten seconds of the gateway's clock to be activated, and a connection thirty to ask for a
 * channel, which may be less than a busy machine needs. A PLC tries again, as it would in a plant.
 */
async function openSession(port: number): Promise<ClientSession> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await openPlantSession(port)).session;
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !TOO_SLOW.test(String(error))) throw error;
    }
  }
}

async function follow(session: ClientSession, robots: readonly string[]): Promise<void> {
  const subscription = await session.createSubscription2({
    // It outlives a crash by three seconds: what lives on as it may would look as if it were left behind.
    requestedPublishingInterval: 100,
    requestedLifetimeCount: 30,
    requestedMaxKeepAliveCount: 10,
    publishingEnabled: true,
  });
  const items = robots.flatMap((robot) =>
    TAGS.map((tag) => ({ nodeId: nodeIdOf(`Robots.${robot}.${tag}`), attributeId: AttributeIds.Value })),
  );
  const group = await subscription.monitorItems(
    items,
    { samplingInterval: 0, queueSize: 10, discardOldest: true },
    TimestampsToReturn.Both,
  );
  let count = 0;
  group.on("changed", () => {
    count += 1;
  });
  setInterval(() => {
    tell({ kind: "changes", count });
    count = 0;
  }, TELL_EVERY_MS);
}

async function command(session: ClientSession, robots: readonly string[]): Promise<void> {
  const carts = robots.filter((robot) => robot.startsWith("cart"));
  for (let turn = 0; ; turn += 1) {
    const sent = await writeSlots(session, carts.slice(turn % carts.length).slice(0, 1));
    tell({ kind: "commands", count: sent.length });
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_COMMANDS_MS));
  }
}

process.on("message", async ({ port, robots }: PlcRequest) => {
  try {
    const session = await openSession(port);
    const { serverCertificate } = session as { readonly serverCertificate?: Buffer };
    await follow(session, robots);
    const thumbprint = createHash("sha1")
      .update(serverCertificate ?? Buffer.alloc(0))
      .digest("hex");
    tell({ kind: "connected", thumbprint });
    await command(session, robots);
  } catch (error) {
    tell({
      kind: "failed",
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
});
