import type { ISessionContext, OPCUAServer } from "node-opcua";
import type { Acts, Holds } from "../../contracts/acts.ts";
import type { ActiveAlarms, AlarmStore } from "../../contracts/alarms.ts";
import type { ReloadRefusal } from "../../contracts/reload.ts";
import type { Permits, Stations, VisibleStations } from "../../contracts/stations.ts";
import type { Alarm } from "../../domain/alarm.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { VisibleStation } from "../../domain/station-visits.ts";
import { every } from "../../platform/clock.ts";
import type { AlarmTagParts } from "./alarm-tags.ts";
import { methodModels } from "./commands/method-models.ts";
import { addMethods, watchMethodWait } from "./commands/methods.ts";
import type { SlotParts } from "./commands/slot-parts.ts";
import { addNamespaceMetadata, FLEET_NAMESPACE_INDEX } from "./fleet-nodeset.ts";
import type { FleetSpace } from "./fleet-space.ts";
import { addGatewayTags, type GatewayFacts, type GatewayTags } from "./gateway-tags.ts";
import type { HoldTagParts } from "./hold-tags.ts";
import { modelHash } from "./model-hash.ts";
import { createNodeBuilder, type Folder, type NodeBuilder } from "./node-builder.ts";
import { declareNoDefaultPermissions } from "./node-opcua/default-permissions.ts";
import { takeOneDimension } from "./node-opcua/index-ranges.ts";
import { takeLargeRequests } from "./node-opcua/large-requests.ts";
import { refuseForeignMethods, showWhoMayCall } from "./node-opcua/method-access.ts";
import { findOnDemand } from "./node-opcua/node-lookup.ts";
import { takeRegisteredNodes } from "./node-opcua/registered-nodes.ts";
import { reviseRequests } from "./node-opcua/sampling.ts";
import { createTurns } from "./node-opcua/turns.ts";
import { takeWriteRequests } from "./node-opcua/write-requests.ts";
import type { OpcUaStore } from "./opcua-store.ts";
import type { KnownRobot, OpcUaOptions, StationNode } from "./options.ts";
import { layoutOf } from "./plant-layout.ts";
import { knownRobots } from "./robot-register.ts";
import { addRobotTags, type RobotParts, type RobotTags } from "./robot-tags.ts";
import { addRobotsFolder } from "./robots-folder.ts";
import { accountOf, writerPermissions } from "./security.ts";
import { openServiceLevel } from "./server-identity.ts";
import { addStationFolder } from "./station-folder.ts";
import type { TagRegistry } from "./tag-registry.ts";

/** The dependencies of the server. */
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
    | "random"
    | "log"
  > {
  readonly facts: GatewayFacts;
  /** Times the work for a client's request; absent: it is not timed. */
  readonly timeRequest?: (task: () => void) => void;
  readonly stations: Stations & VisibleStations;
  readonly permits: Permits;
  readonly holds: Holds;
  readonly alarms: AlarmStore & ActiveAlarms;
  readonly acts: Pick<Acts, "run">;
  /** Opens the stores that survive a restart. Called once, when the server runs. */
  readonly openMemory: () => OpcUaStore;
}

/** Updates tags that belong to no single robot. */
export interface SharedTags extends Pick<GatewayTags, "showLink" | "showHold" | "showAlarms"> {
  showStationAlarms(station: string, alarms: readonly Alarm[]): void;
  showStation(station: string, shown: VisibleStation): void;
  /** The configuration has other stations. */
  followStations(): void;
  /** Why the stations cannot become `next` now, by the key of the configuration. */
  refusedStations(next: readonly StationNode[]): readonly ReloadRefusal[];
  /** The configuration describes more robots. */
  followRobots(): void;
}

const TICK_MS = 1_000;

/**
 * Adds our nodes to an initialised server: `Gateway`, `Operations`, `Stations`, and `Robots`, which fills as
 * robots are seen. Once a second, until the signal is aborted, the heartbeat counts, ages grow and old
 * tickets are replaced. Returns the updaters of the gateway's own tags.
 */
export function openAddressSpace(
  server: OPCUAServer,
  space: FleetSpace,
  options: OpcUaOptions,
  parts: OpcUaParts,
  { memory, registry }: { readonly memory: OpcUaStore; readonly registry: TagRegistry },
  signal: AbortSignal,
): SharedTags {
  const { addressSpace } = server.engine;
  if (addressSpace === null) throw new Error("the OPC UA server has no address space");
  const { clock } = parts;
  const turns = createTurns(clock);
  takeRegisteredNodes(server);
  takeOneDimension(server);
  // Nodes are found by their ids: a getter for each on its parent would cost a tenth of their time, and
  // memory.
  addressSpace.isFrugal = true;
  const namespace = addressSpace.getNamespace(FLEET_NAMESPACE_INDEX);
  const builder = createNodeBuilder(addressSpace, namespace, writerPermissions(), registry.add, clock);
  addNamespaceMetadata(addressSpace, namespace);
  declareNoDefaultPermissions(namespace);
  const robots = addRobotsFolder(builder, parts);
  const writes = takeWriteRequests(server, FLEET_NAMESPACE_INDEX, options, { ...parts, turns });
  const holds: HoldTagParts = { ...parts, addWritable: writes.addTag };
  const alarms: AlarmTagParts = { ...parts, addWritable: writes.addTag };
  const hashNow = () => modelHash(layoutNow(options), methodModels(parts.catalogue));
  let hash = hashNow();
  const facts = { ...parts.facts, modelHash: () => hash };
  const gateway = addGatewayTags(builder, facts, holds, alarms);
  const slots = slotParts(options, parts, memory, signal);
  const nameOf = robotNaming(options);
  const account = (context: ISessionContext) => accountOf(context, options);
  const waitMs = watchMethodWait(server, clock);
  const methods = addMethods(builder, { ...slots, accountOf: account, waitMs });
  refuseForeignMethods(server, addressSpace, turns);
  showWhoMayCall(addressSpace, FLEET_NAMESPACE_INDEX, parts.catalogue, account, parts.rights);
  const showLevel = openServiceLevel(addressSpace);
  const stations = addStationFolder(builder, options.stations, {
    ...stationParts({ nameOf, space, slots, holds, alarms }, parts),
    addSlot: writes.add,
    hidden: registry.hidden,
  });

  const ageing: RobotParts["ageing"] = new Set();
  const placesAgeing: RobotParts["placesAgeing"] = new Set();
  const robotParts = {
    slots,
    holds,
    alarms,
    addSlot: writes.add,
    methods,
    note: memory.robots.note,
    stations: parts.stations,
    chains: space.chains,
    missionSlots: options.missionSlots,
    nameRobot: registry.nameRobot,
    ageing,
    placesAgeing,
  };
  findOnDemand(namespace, space, registry.hidden);
  takeLargeRequests(server, space, turns);
  space.open(knownRobots(options.robots.now(), memory.robots.seen), {
    list: robots.list,
    build: (name, robot) => addKnownRobot(builder, robots.find(name), robot, robotParts),
    changed: () => robots.show(space.counts()),
  });
  const notGood = () => ageing.size + space.counts().missingNotGood;
  const tick = () => {
    const nowMs = clock.nowMs();
    showLevel(nowMs, parts.facts.fleetLinkUp(), notGood());
    const { listed, refused } = space.counts();
    gateway.tick(nowMs, { robotCount: listed, robotsNotShown: refused });
    for (const each of [ageing, placesAgeing]) for (const age of each) age();
    for (const slot of writes.slots()) slot.tick();
    stations.tick();
  };
  tick();
  every(clock, TICK_MS, signal, tick);
  reviseRequests(server, FLEET_NAMESPACE_INDEX);
  return {
    showHold: gateway.showHold,
    showAlarms: gateway.showAlarms,
    showStationAlarms: stations.showAlarms,
    showStation: stations.show,
    refusedStations: stations.refusals,
    followStations() {
      stations.follow();
      hash = hashNow();
    },
    followRobots() {
      space.add(options.robots.now());
      hash = hashNow();
    },
    showLink(nowMs) {
      showLevel(nowMs, parts.facts.fleetLinkUp(), notGood());
      gateway.showLink(nowMs);
    },
  };
}

/** Adds the nodes of a robot, with its data from the configuration or the register. */
function addKnownRobot(
  builder: NodeBuilder,
  folder: Folder,
  { robotId, family, conveyorIndexes }: KnownRobot,
  parts: RobotParts & Pick<TagRegistry, "nameRobot">,
): RobotTags {
  parts.nameRobot(folder.path, robotId);
  const tags = addRobotTags(builder, folder, robotId, parts);
  if (family !== "unknown") tags.apply({ kind: "robot", robotId, family, quality: "unknown" });
  for (const index of conveyorIndexes) tags.ensureConveyor(index);
  return tags;
}

/** The dependencies of stations. */
function stationParts(
  {
    nameOf,
    space,
    slots,
    holds,
    alarms,
  }: {
    readonly nameOf: RobotNaming;
    readonly space: FleetSpace;
    readonly slots: SlotParts;
    readonly holds: HoldTagParts;
    readonly alarms: AlarmTagParts;
  },
  { stations, permits, rights, acts }: OpcUaParts,
) {
  return {
    stations,
    permits,
    acts,
    alarms,
    slots,
    findRobot: (name: string, number: number) => space.find(name, number)?.robot(),
    tags: { ...holds, rights, nameOf, shown: stations.shown },
  };
}

/** The name of a robot for stations: alias and number of the configuration; without them, the id and 0. */
type RobotNaming = (robotId: RobotId) => { readonly name: string; readonly number: number };

function robotNaming({ robots }: OpcUaOptions): RobotNaming {
  const known = robots.pick((list) => new Map(list.map((robot) => [robot.robotId, robot])));
  return (robotId) => {
    const { alias = null, number = null } = known.now().get(robotId) ?? {};
    return { name: alias ?? robotId, number: number ?? 0 };
  };
}

function layoutNow({ stations, robots, missionSlots, limits }: OpcUaOptions) {
  return layoutOf({ stations: stations.now(), robots: robots.now(), missionSlots, limits });
}

function slotParts(
  options: OpcUaOptions,
  parts: OpcUaParts,
  memory: OpcUaStore,
  signal: AbortSignal,
): SlotParts {
  const { destinations } = options;
  const userOf = (context: ISessionContext) => accountOf(context, options)?.name ?? "";
  const { tickets } = memory;
  return { ...parts, tickets, destinations, userOf, signal };
}
