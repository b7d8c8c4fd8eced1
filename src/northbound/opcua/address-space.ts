import type { AddressSpace, INamespace, ISessionContext, OPCUAServer } from "node-opcua";
import type { Acts, Holds } from "../../contracts/acts.ts";
import type { ActiveAlarms, AlarmFacts, AlarmStore } from "../../contracts/alarms.ts";
import type { ClusterView } from "../../contracts/cluster.ts";
import type { Commander, CommandRecords, CommandRights, RefusalAudit } from "../../contracts/commander.ts";
import type { MakeStopRequest } from "../../contracts/fleet-port.ts";
import type { OperationManual } from "../../contracts/operation-manual.ts";
import type { ReloadRefusal } from "../../contracts/reload.ts";
import type { Permits, Stations, VisibleStations } from "../../contracts/stations.ts";
import type { Alarm } from "../../domain/alarm.ts";
import type { VisibleStation } from "../../domain/station-visits.ts";
import { memberIndex } from "../../models/cluster.ts";
import { type Clock, every } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { AuditEvents } from "./audit/audit-events.ts";
import { auditCalls, auditWrites } from "./audit/audited-requests.ts";
import { methodModels } from "./commands/method-models.ts";
import { addMethods, type MethodParts, type Methods, watchMethodWait } from "./commands/methods.ts";
import { createSlot, type Slot, type SlotKindParts } from "./commands/slot.ts";
import {
  type OpenSlotNumbers,
  type OpenStopOnlyNumbers,
  openSlotNumbers,
  openStopOnlyNumbers,
} from "./commands/slot-numbers.ts";
import { type Conditions, openConditions } from "./conditions/conditions.ts";
import { createFleetEvents, type FleetEvents } from "./events/fleet-events.ts";
import { FLEET_NAMESPACE_INDEX } from "./fleet-nodeset.ts";
import type { FleetSpace } from "./fleet-space.ts";
import { addGatewayTags, type GatewayFacts, type GatewayTags } from "./gateway-tags.ts";
import { modelHash } from "./model-hash.ts";
import { createNodeBuilder, type Folder, type NodeBuilder } from "./node-builder.ts";
import type { PastValues } from "./node-opcua/history-reads.ts";
import { takeOneDimension } from "./node-opcua/index-ranges.ts";
import { takeLargeRequests } from "./node-opcua/large-requests.ts";
import {
  declareNoDefaultPermissions,
  refuseForeignMethods,
  showWhoMayCall,
} from "./node-opcua/method-access.ts";
import { findOnDemand, takeRegisteredNodes } from "./node-opcua/node-lookup.ts";
import { reviseRequests } from "./node-opcua/sampling.ts";
import { createTimeSlices } from "./node-opcua/time-slices.ts";
import { takeWriteRequests } from "./node-opcua/write-requests.ts";
import type { OpcUaStore } from "./opcua-store.ts";
import type { KnownRobot, OpcUaOptions, StationNode } from "./options.ts";
import { layoutOf } from "./plant-layout.ts";
import { knownRobots } from "./robot-register.ts";
import { createAges } from "./robot-state-tags.ts";
import { addRobotTags, type RobotParts, type RobotTags } from "./robot-tags.ts";
import { addRobotsFolder } from "./robots-folder.ts";
import { accountOf, writerPermissions } from "./security.ts";
import { openServiceLevel } from "./server-identity.ts";
import { addStationFolder } from "./station-folder.ts";
import type { NameOfRobot } from "./station-tags.ts";
import type { TagRegistry } from "./tag-registry.ts";
import { addNamespaceMetadata } from "./type-nodes.ts";

/** The gateway's commands and acts, for clients that send them. */
export interface OpcUaCommands {
  readonly commander: Commander;
  readonly acts: Pick<Acts, "run" | "refusedRight">;
  /** The records of commands that ran when the gateway stopped. */
  readonly records: Pick<CommandRecords, "recall">;
  /** What the server itself refuses is audited there. */
  readonly audit: RefusalAudit;
  readonly rights: CommandRights;
  readonly catalogue: OperationManual;
  readonly stopRequest: MakeStopRequest;
}

/** What nodes show when they are made, and what grows with time; the rest comes as changes. */
export interface OpcUaViews {
  readonly facts: GatewayFacts;
  readonly stations: Stations & VisibleStations;
  readonly permits: Permits;
  readonly holds: Pick<Holds, "holdState">;
  readonly alarms: AlarmStore & ActiveAlarms;
  readonly past: PastValues;
  readonly alarmFacts: AlarmFacts;
  /** Absent or null: the gateway is no member of a cluster. */
  readonly cluster?: ClusterView | null;
}

/** The dependencies of our nodes. */
export interface AddressSpaceParts {
  readonly commands: OpcUaCommands;
  readonly views: OpcUaViews;
  readonly memory: OpcUaStore;
  readonly registry: TagRegistry;
  readonly auditEvents: AuditEvents;
  readonly clock: Clock;
  /** At least 0 and less than 1: numbers without a disk begin at random. */
  readonly random: () => number;
  readonly log: Log;
}

/** Updates tags that belong to no single robot. */
export interface SharedTags
  extends Pick<GatewayTags, "showLink" | "showHold" | "showAlarms">,
    Pick<FleetEvents, "raise"> {
  showStationAlarms(station: string, alarms: readonly Alarm[]): void;
  /** An alarm has changed. Call it before `showAlarms`, which has the newest state of each alarm alone. */
  alarmChanged(alarm: Alarm): void;
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
  parts: AddressSpaceParts,
  signal: AbortSignal,
): SharedTags {
  const { addressSpace } = server.engine;
  if (addressSpace === null) throw new Error("the OPC UA server has no address space");
  const { commands, views, memory, registry, clock } = parts;
  const { acts, audit, catalogue } = commands;
  const { facts, stations, permits, cluster = null } = views;
  const slices = createTimeSlices(clock);
  const namespace = openNamespace(server, addressSpace);
  const builder = createNodeBuilder(addressSpace, namespace, writerPermissions(), registry.add, clock);
  const robots = addRobotsFolder(builder, facts.sessionId);
  const writes = takeWriteRequests(server, FLEET_NAMESPACE_INDEX, options, {
    ...{ audit, clock, slices },
    note: auditWrites(parts.auditEvents),
  });
  const addWritable = writes.addTag;
  const holds = { holds: views.holds, acts, addWritable };
  const alarms = { alarms: views.alarms, acts, addWritable, clock };
  const hashNow = () => modelHash(layoutNow(options, cluster !== null), methodModels(catalogue));
  let hash = hashNow();
  const gateway = addGatewayTags(builder, facts, () => hash, holds, alarms, cluster);
  const account = (context: ISessionContext) => accountOf(context, options);
  const slots = slotParts(parts, options, writes.add, signal);
  const [{ missionSlots }, { chains, nameOf }, { note }] = [options, space, memory.robots];
  const conditionParts = { alarms: views.alarms, acts, accountOf: account, slices, clock };
  const conditions = openConditions(server, addressSpace, views.alarmFacts, {
    ...conditionParts,
    robots: { nameOf, robotAt: registry.robotAt },
    acknowledged: memory.acknowledged,
    log: parts.log,
  });
  const noteCall = auditCalls(parts.auditEvents, catalogue);
  refuseForeignMethods(server, addressSpace, slices, conditions.answerCall, noteCall);
  const methods = openMethods(server, addressSpace, builder, parts, account, signal);
  const showLevel = openServiceLevel(addressSpace, cluster);
  const find = (name: string, number: number) => space.find(name, number)?.robot();
  const robotsOfStations = { find, nameOf: robotNaming(options) };
  const stationParts = { slots, alarms, stations, permits, acts, addWritable, robots: robotsOfStations };
  const stationFolder = addStationFolder(builder, options.stations, registry.hidden, stationParts);

  const sources = { robots, stations: stationFolder, gateway };
  const events = createFleetEvents(addressSpace, sources, facts.sessionId, clock);
  const ages = createAges(clock);
  const robotParts = { missionSlots, slots, holds, alarms, stations, chains, ages, note };
  findOnDemand(namespace, space, registry.hidden);
  takeLargeRequests(server, space, slices);
  space.open(knownRobots(options.robots.now(), memory.robots.seen), {
    list: robots.list,
    build(name, robot) {
      const folder = robots.find(name);
      registry.nameRobot(folder.path, robot.robotId);
      methods.addRobot(folder, () => tags.robot());
      const tags = addKnownRobot(builder, folder, robot, robotParts);
      return tags;
    },
    changed: () => robots.show(space.counts()),
  });
  memory.robots.onSeenElsewhere((seen) => space.add(knownRobots([], seen)));
  const showLevelNow = () => {
    const notGood = ages.robotsNotGood() + space.counts().missingNotGood;
    showLevel(clock.nowMs(), facts.fleetLinkUp(), notGood);
  };
  const growing = { gateway, ages, writes, stationFolder, showLevelNow, counts: space.counts };
  showTime(growing, cluster, clock, signal);
  reviseRequests(server, FLEET_NAMESPACE_INDEX);
  return {
    showHold: gateway.showHold,
    ...alarmUpdates(gateway, conditions),
    showStationAlarms: stationFolder.showAlarms,
    showStation(station, shown) {
      stationFolder.show(station, shown);
      events.showStation(station, shown);
    },
    raise: events.raise,
    refusedStations: stationFolder.refusals,
    followStations() {
      stationFolder.follow();
      hash = hashNow();
    },
    followRobots() {
      space.add(options.robots.now());
      hash = hashNow();
    },
    showLink(nowMs) {
      showLevelNow();
      gateway.showLink(nowMs);
    },
  };
}

/** What grows with time, or follows the cluster. */
interface GrowingTags {
  readonly gateway: Pick<GatewayTags, "tick" | "showCluster">;
  readonly ages: Pick<ReturnType<typeof createAges>, "tick">;
  readonly writes: Pick<ReturnType<typeof takeWriteRequests>, "slots">;
  readonly stationFolder: Pick<ReturnType<typeof addStationFolder>, "tick">;
  readonly showLevelNow: () => void;
  readonly counts: FleetSpace["counts"];
}

/**
 * Updates these tags now and once a second, and at each change of the cluster, until the signal is aborted.
 */
function showTime(
  { gateway, ages, writes, stationFolder, showLevelNow, counts }: GrowingTags,
  cluster: ClusterView | null,
  clock: Clock,
  signal: AbortSignal,
): void {
  const tick = () => {
    showLevelNow();
    const { listed, refused } = counts();
    gateway.tick(clock.nowMs(), { robotCount: listed, robotsNotShown: refused });
    ages.tick();
    for (const slot of writes.slots()) slot.tick();
    stationFolder.tick();
  };
  tick();
  every(clock, TICK_MS, signal, tick);
  if (cluster === null) return;
  const follow = () => {
    for (const slot of writes.slots()) slot.follow();
    gateway.showCluster(clock.nowMs());
    showLevelNow();
  };
  onAbort(signal, cluster.onChange(follow));
}

function alarmUpdates(
  gateway: Pick<GatewayTags, "showAlarms">,
  conditions: Conditions,
): Pick<SharedTags, "showAlarms" | "alarmChanged"> {
  return {
    showAlarms(standing) {
      gateway.showAlarms(standing);
      conditions.follow(standing);
    },
    alarmChanged: conditions.note,
  };
}

function openNamespace(server: OPCUAServer, addressSpace: AddressSpace): INamespace {
  takeRegisteredNodes(server);
  takeOneDimension(server);
  // Nodes are found by their ids: a getter for each on its parent would cost a tenth of their time, and
  // memory.
  addressSpace.isFrugal = true;
  const namespace = addressSpace.getNamespace(FLEET_NAMESPACE_INDEX);
  addNamespaceMetadata(addressSpace, namespace);
  declareNoDefaultPermissions(namespace);
  return namespace;
}

function openMethods(
  server: OPCUAServer,
  addressSpace: AddressSpace,
  builder: NodeBuilder,
  { commands, clock, log }: AddressSpaceParts,
  accountOf: MethodParts["accountOf"],
  signal: AbortSignal,
): Methods {
  const { commander, records, catalogue, rights } = commands;
  const waitMs = watchMethodWait(server, clock);
  const calls = { commander, records, catalogue, accountOf, waitMs, clock, log, signal };
  const methods = addMethods(builder, calls);
  showWhoMayCall(addressSpace, FLEET_NAMESPACE_INDEX, catalogue, accountOf, rights);
  return methods;
}

/** Adds the nodes of a robot, with its data from the configuration or the register. */
function addKnownRobot(
  builder: NodeBuilder,
  folder: Folder,
  { robotId, family, conveyorIndexes }: KnownRobot,
  parts: RobotParts,
): RobotTags {
  const tags = addRobotTags(builder, folder, robotId, parts);
  if (family !== "unknown") tags.apply({ kind: "robot", robotId, family, quality: "unknown" });
  for (const index of conveyorIndexes) tags.ensureConveyor(index);
  return tags;
}

function slotParts(
  parts: AddressSpaceParts,
  options: OpcUaOptions,
  register: (slot: Slot) => void,
  signal: AbortSignal,
): SlotKindParts {
  const { rights, stopRequest } = parts.commands;
  return {
    runSlot: slotRunner(parts, register, signal),
    rights,
    stopRequest,
    destinations: options.destinations,
    userOf: (context) => accountOf(context, options)?.name ?? "",
  };
}

/** Runs slots, and registers them for writes. */
function slotRunner(
  { commands, views, memory, clock, random, log }: AddressSpaceParts,
  register: (slot: Slot) => void,
  signal: AbortSignal,
): SlotKindParts["runSlot"] {
  const { commander, records, audit } = commands;
  const { cluster = null } = views;
  const issue = { run: views.facts.sessionId, clock, random };
  const member = cluster === null ? null : memberIndex(cluster);
  const numbers = { tickets: memory.tickets, member, ...issue };
  const openNumbers: OpenSlotNumbers = (path, show) => openSlotNumbers(path, show, numbers);
  const openStopOnly: OpenStopOnlyNumbers = (show, closed) =>
    openStopOnlyNumbers(show, closed, { ...issue, member: member ?? 0 });
  const ofCluster = cluster === null ? null : { isActive: cluster.isActive, openStopOnly };
  return (kind) => {
    const slot = createSlot(kind, {
      openNumbers,
      cluster: ofCluster,
      commander,
      records,
      audit,
      clock,
      log,
      signal,
    });
    register(slot);
    return slot;
  };
}

/** The name of a robot for stations: alias and number of the configuration; without them, the id and 0. */
function robotNaming({ robots }: OpcUaOptions): NameOfRobot {
  const known = robots.pick((list) => new Map(list.map((robot) => [robot.robotId, robot])));
  return (robotId) => {
    const { alias = null, number = null } = known.now().get(robotId) ?? {};
    return { name: alias ?? robotId, number: number ?? 0 };
  };
}

function layoutNow({ stations, robots, missionSlots, limits }: OpcUaOptions, isClustered: boolean) {
  return layoutOf({ stations: stations.now(), robots: robots.now(), missionSlots, isClustered, limits });
}
