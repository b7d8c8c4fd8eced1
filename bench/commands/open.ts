import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Availability } from "../availability.ts";
import type { Build } from "../build.ts";
import type { Child } from "../child.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import {
  benchFolder,
  freePorts,
  REPLY_TIMEOUT_MS,
  type SectionRun,
  startPlantBroker,
} from "../section-run.ts";
import { fleetSection, startService } from "../service.ts";
import type { EchoRequest, SenderReply, SenderRequest, SendResult } from "./protocol.ts";
import { cartIds, cartScenario } from "./scenario.ts";

const MOST_CARTS = 500;
/** The gateways' ids; the first build's is the way `mqtt`, the second's the way `other`. */
const ids = ["bench", "other"] as const;

/** Everything that commands are sent through. */
export interface CommandParts {
  /** One a build, in their order. */
  readonly gateways: readonly [Gateway, ...Gateway[]];
  readonly sender: Child;
  /** The program that is the broker. */
  readonly broker: string;
}

/** A service of carts, a gateway of each build that knows all of them, and the sender. */
export async function openCommands(
  run: SectionRun,
  robotCount: number,
  [own, other]: readonly [Build, Build?],
): Promise<CommandParts> {
  const { port: mqttPort, name: broker } = await startPlantBroker(run);
  const robots = cartIds(Math.min(MOST_CARTS, robotCount));
  const scenario = join(run.folder, "carts.yaml");
  writeFileSync(scenario, cartScenario(robots.length));
  const { address } = await startService(run, {
    folder: join(run.folder, "service"),
    port: await freePorts(),
    args: ["--scenario", scenario],
  });
  const families = Object.fromEntries(robots.map((robot) => [robot, "cart"]));
  const start = async (id: string, build: Build) => {
    const availability = await Availability.watch(run, mqttPort, id);
    const fleet = { ...fleetSection(address), robots, families };
    const gateway = await startGateway(run, { id, fleet, mqttPort, operators: true, build });
    await availability.allGood(robots.length, REPLY_TIMEOUT_MS);
    return gateway;
  };
  const gateway = await start(ids[0], own);
  const gateways = [gateway, ...(other === undefined ? [] : [await start(ids[1], other)])] as const;
  const echo = run.start("echo", join(benchFolder, "commands", "echo.js"));
  echo.send({ mqttPort } satisfies EchoRequest);
  await echo.next(REPLY_TIMEOUT_MS);
  const sender = run.start("sender", join(benchFolder, "commands", "sender.js"));
  const otherBase = other === undefined ? null : baseOf(ids[1]);
  sender.send({
    kind: "open",
    address,
    mqttPort,
    base: baseOf(ids[0]),
    otherBase,
    robots,
  } satisfies SenderRequest);
  await expectReply(sender, "open");
  return { gateways, sender, broker };
}

function baseOf(id: string): string {
  return `fleetgate/${id}`;
}

/** Has the sender send a block. */
export async function ask(
  sender: Child,
  request: Extract<SenderRequest, { kind: "send" }>,
): Promise<SendResult> {
  sender.send(request);
  return (await expectReply(sender, "sent")).result;
}

async function expectReply<K extends SenderReply["kind"]>(
  sender: Child,
  kind: K,
): Promise<Extract<SenderReply, { kind: K }>> {
  const reply = await sender.next<SenderReply>(2 * REPLY_TIMEOUT_MS);
  if (reply.kind === "failed") throw new Error(`sender: ${reply.message}`);
  if (reply.kind !== kind) throw new Error(`sender answered ${reply.kind} instead of ${kind}`);
  return reply as Extract<SenderReply, { kind: K }>;
}
