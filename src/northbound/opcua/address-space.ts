import type { ISessionContext, OPCUAServer } from "node-opcua";
import type { Alarms } from "../../contracts/alarms.ts";
import type { Holds } from "../../contracts/holds.ts";
import type { Permits } from "../../contracts/permits.ts";
import type { Stations } from "../../contracts/stations.ts";
import type { Alarm } from "../../domain/alarm.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { StationShown } from "../../domain/station-visits.ts";
import { every } from "../../platform/clock.ts";
import type { AlarmTagParts } from "./alarm-tags.ts";
import { methodModels } from "./commands/method-models.ts";
import { watchMethodWait } from "./commands/method-wait.ts";
import { addMethods } from "./commands/methods.ts";
import type { SlotParts } from "./commands/slot-parts.ts";
import { FLEET_NAMESPACE_INDEX } from "./fleet-nodeset.ts";
import type { FleetSpace } from "./fleet-space.ts";
import { addGatewayTags, type GatewayFacts, type GatewayTags } from "./gateway-tags.ts";
import type { HoldTagParts } from "./hold-tags.ts";
import type { Memory } from "./memory.ts";
import { modelHash } from "./model-hash.ts";
import { addNamespaceMetadata } from "./namespace-metadata.ts";
import { createNodeBuilder } from "./node-builder.ts";
import { buildBeforeRequests } from "./node-opcua/large-requests.ts";
import { refuseForeignMethods, showWhoMayCall } from "./node-opcua/method-access.ts";
import { findOnDemand } from "./node-opcua/node-lookup.ts";
import { takeRegisteredNodes } from "./node-opcua/registered-nodes.ts";
import { reviseRequests } from "./node-opcua/sampling.ts";
import { takeWriteRequests } from "./node-opcua/write-requests.ts";
import type { OpcUaOptions } from "./options.ts";
import { layoutOf, offersConfirm } from "./plant-layout.ts";
import { knownRobots } from "./robot-register.ts";
import { addRobotTags, type RobotParts } from "./robot-tags.ts";
import { addRobotsFolder } from "./robots-folder.ts";
import { accountOf, writerPermissions } from "./security.ts";
import { openServiceLevel } from "./service-level.ts";
import { addStationFolder } from "./station-folder.ts";

/** What the server needs of the rest of the gateway. */
export interface OpcUaParts
  extends Pick<
    SlotParts,
    | "commander"
    | "records"
    | "audit"
    | "rights"
    | "catalogue"
    | "stopRequest"
    | "run"
    | "clock"
    | "chance"
    | "log"
  > {
  readonly facts: GatewayFacts;
  readonly stations: Stations;
  readonly permits: Permits;
  readonly holds: Holds;
  readonly alarms: Alarms;
  /** Sets the counters of a station to 0. */
  readonly resetCounters: (station: string) => void;
  /** Opens what must be known again after a restart. Called once, when the server runs. */
  readonly openMemory: () => Memory;
}

/** Shows what belongs to no single robot. */
export interface ShownTags extends Pick<GatewayTags, "showLink" | "showHold" | "showAlarms"> {
  showStationAlarms(station: string, alarms: readonly Alarm[]): void;
  showStation(station: string, shown: StationShown): void;
}

const TICK_MS = 1_000;

/**
 * Gives an initialised server our nodes: `Gateway`, `Operations`, `Stations`, and `Robots`, which fills as
 * robots are heard of. Once a second, until the signal is aborted, the heartbeat counts, ages grow and old
 * tickets are replaced. Answers with what shows the gateway's own tags.
 */
export function openAddressSpace(
  server: OPCUAServer,
  space: FleetSpace,
  options: OpcUaOptions,
  parts: OpcUaParts,
  memory: Memory,
  signal: AbortSignal,
): ShownTags {
  const { addressSpace } = server.engine;
  if (addressSpace === null) throw new Error("the OPC UA server has no address space");
  const { clock } = parts;
  takeRegisteredNodes(server);
  // Nodes are found by their ids: a getter for each on its parent would cost a tenth of their time, and
  // memory.
  addressSpace.isFrugal = true;
  const namespace = addressSpace.getNamespace(FLEET_NAMESPACE_INDEX);
  const builder = createNodeBuilder(addressSpace, namespace, writerPermissions());
  addNamespaceMetadata(addressSpace, namespace);
  const robots = addRobotsFolder(builder, parts);
  const writes = takeWriteRequests(server, FLEET_NAMESPACE_INDEX, options, parts);
  const holds: HoldTagParts = { ...parts, addWritable: writes.addTag };
  const alarms: AlarmTagParts = { ...parts, addWritable: writes.addTag };
  const facts = { ...parts.facts, modelHash: modelHash(layoutOf(options), methodModels(parts.catalogue)) };
  const gateway = addGatewayTags(builder, facts, holds, alarms);
  const slots = slotParts(options, parts, memory, signal);
  const account = (context: ISessionContext) => accountOf(context, options);
  const methods = addMethods(builder, {
    ...slots,
    accountOf: account,
    waitMs: watchMethodWait(server, clock),
  });
  refuseForeignMethods(server, addressSpace);
  showWhoMayCall(addressSpace, FLEET_NAMESPACE_INDEX, parts.catalogue, account, parts.rights);
  const showLevel = openServiceLevel(addressSpace);
  const stations = addStationFolder(builder, options.stations, {
    stations: parts.stations,
    permits: parts.permits,
    alarms,
    findRobot: (name, number) => space.find(name, number)?.robot(),
    slots,
    tags: {
      ...holds,
      rights: parts.rights,
      resetCounters: parts.resetCounters,
      nameOf: robotNaming(options),
    },
  });
  for (const slot of stations.slots) writes.add(slot);

  const ageing: RobotParts["ageing"] = new Set();
  const placesAgeing: RobotParts["placesAgeing"] = new Set();
  const { chains } = space;
  const { missionSlots } = options;
  const ages = { ageing, placesAgeing };
  const robotParts = {
    slots,
    holds,
    alarms,
    addSlot: writes.add,
    methods,
    note: memory.robots.note,
    chains,
    missionSlots,
    ...ages,
  };
  findOnDemand(namespace, space);
  buildBeforeRequests(server, space, clock);
  space.open(knownRobots(options.robots, memory.robots.seen), {
    list: robots.list,
    build(name, robot) {
      const { robotId, family, conveyorIndexes } = robot;
      const tags = addRobotTags(builder, robots.find(name), robotId, robotParts);
      if (family !== "unknown") tags.apply({ kind: "robot", robotId, family, quality: "unknown" });
      for (const index of conveyorIndexes) tags.ensureConveyor(index);
      return tags;
    },
    changed: () => robots.show(space.listedCount, space.missingCount),
  });
  const notGood = () => ageing.size + space.missingNotGoodCount;
  const tick = () => {
    const nowMs = clock.nowMs();
    showLevel(nowMs, parts.facts.fleetLinkUp(), notGood());
    gateway.tick(nowMs, { robotCount: space.listedCount, robotsNotShown: space.refusedCount });
    for (const age of [...ageing, ...placesAgeing]) age(nowMs);
    for (const slot of writes.slots()) slot.tick();
    stations.tick();
  };
  tick();
  every(clock, TICK_MS, signal, tick);
  reviseRequests(server, FLEET_NAMESPACE_INDEX, options.limits.maxSessionTimeoutMs);
  return {
    showHold: gateway.showHold,
    showAlarms: gateway.showAlarms,
    showStationAlarms: stations.showAlarms,
    showStation: stations.show,
    showLink(nowMs) {
      showLevel(nowMs, parts.facts.fleetLinkUp(), notGood());
      gateway.showLink(nowMs);
    },
  };
}

/** By alias and number of the configuration; by id and 0 where it has none. */
function robotNaming({ robots }: OpcUaOptions) {
  const known = new Map(robots.map(({ robotId, alias, number }) => [robotId, { alias, number }]));
  return (robotId: RobotId) => {
    const { alias, number } = known.get(robotId) ?? { alias: null, number: null };
    return { name: alias ?? robotId, number: number ?? 0 };
  };
}

function slotParts(options: OpcUaOptions, parts: OpcUaParts, memory: Memory, signal: AbortSignal): SlotParts {
  const { destinations, users } = options;
  return { ...parts, tickets: memory.tickets, destinations, offersConfirm: offersConfirm(users), signal };
}
