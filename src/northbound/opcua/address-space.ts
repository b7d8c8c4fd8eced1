import type { OPCUAServer } from "node-opcua";
import { every } from "../../platform/clock.ts";
import type { SlotParts } from "./commands/slot-parts.ts";
import { openWriteDoor } from "./commands/write-door.ts";
import { FLEET_NAMESPACE_INDEX } from "./fleet-nodeset.ts";
import type { FleetSpace } from "./fleet-space.ts";
import { addGatewayTags, type GatewayFacts } from "./gateway-tags.ts";
import type { Memory } from "./memory.ts";
import { createNodeBuilder } from "./node-builder.ts";
import type { OpcUaOptions } from "./options.ts";
import { knownRobots } from "./robot-register.ts";
import { addRobotTags } from "./robot-tags.ts";
import { reviseRequests } from "./sampling.ts";
import { writerPermissions } from "./security.ts";

/** What the server needs of the rest of the gateway. */
export interface OpcUaParts
  extends Pick<SlotParts, "commander" | "records" | "catalogue" | "epoch" | "clock" | "log"> {
  readonly facts: GatewayFacts;
  /** Opens what must be known again after a restart. Called once, when the server runs. */
  readonly openMemory: () => Memory;
}

const TICK_MS = 1_000;

/**
 * Gives an initialised server our nodes: `Gateway`, and `Robots`, which fills as robots are built. Once a second, until
 * the signal is aborted, the heartbeat counts, ages grow and old tickets are replaced.
 */
export function openAddressSpace(
  server: OPCUAServer,
  space: FleetSpace,
  options: OpcUaOptions,
  parts: OpcUaParts,
  memory: Memory,
  signal: AbortSignal,
): void {
  const { addressSpace } = server.engine;
  if (addressSpace === null) throw new Error("the OPC UA server has no address space");
  const namespace = addressSpace.getNamespace(FLEET_NAMESPACE_INDEX);
  const builder = createNodeBuilder(namespace, addressSpace.rootFolder.objects, writerPermissions(options));
  const gateway = addGatewayTags(builder, parts.facts);
  const robots = builder.root("Robots", "Every robot that is configured or was ever heard of");
  const door = openWriteDoor(server, FLEET_NAMESPACE_INDEX, options, parts.clock);
  const { startByMs, destinations, users } = options;
  const offersConfirm = users.some((user) => user.confirms);
  const slots: SlotParts = {
    ...parts,
    tickets: memory.tickets,
    startByMs,
    destinations,
    offersConfirm,
    signal,
  };
  const { note } = memory.robots;

  space.open(
    knownRobots(options.robots, memory.robots.seen),
    (name, { robotId, family, conveyorIndexes }) => {
      const tags = addRobotTags(builder, robots, name, robotId, { slots, addSlot: door.add, note });
      if (family !== "unknown") tags.apply({ kind: "robot", robotId, family, quality: "unknown" });
      for (const index of conveyorIndexes) tags.ensureConveyor(index);
      return tags;
    },
  );
  const tick = () => {
    const nowMs = parts.clock.nowMs();
    gateway.tick(nowMs, { robotCount: space.robotCount, robotsNotShown: space.refusedCount });
    for (const robot of space.robots()) robot.tick(nowMs);
    for (const slot of door.slots()) slot.tick();
  };
  tick();
  every(parts.clock, TICK_MS, signal, tick);
  reviseRequests(server, FLEET_NAMESPACE_INDEX, options.limits.maxSessionTimeoutMs);
}
