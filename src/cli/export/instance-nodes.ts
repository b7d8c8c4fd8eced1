import { clusterGatewayType, gatewayType } from "../../northbound/opcua/model/gateway.ts";
import {
  isAnyOf,
  lineage,
  type ObjectMember,
  type ObjectModel,
  objectMember,
} from "../../northbound/opcua/model/member.ts";
import { type MethodModel, methodFolders } from "../../northbound/opcua/model/method.ts";
import { cartType, robotsType } from "../../northbound/opcua/model/robot.ts";
import { permitTags, stationsType } from "../../northbound/opcua/model/station.ts";
import type { PlantLayout, RobotLayout, StationLayout } from "../../northbound/opcua/plant-layout.ts";
import {
  from,
  methodNodes,
  methodPath,
  named,
  notifier,
  objectNode,
  standard,
  tagNodes,
  to,
} from "./make-node.ts";
import type { ExportedNode, NodeGroup, Reference } from "./node.ts";

/** Whether the plant has an optional member. */
type HasMember = (name: string) => boolean;

/**
 * The nodes of the gateway, and of the stations and robots in the configuration, as groups: each folder
 * directly under Objects, and each station and robot. A robot refers to the methods of its type. A plant may
 * have thousands of robots, so a group is made when it is needed.
 */
export function* instanceNodes(layout: PlantLayout, methods: readonly MethodModel[]): Generator<NodeGroup> {
  const { stations, robots, isClustered } = layout;
  const toMethods = methods.filter(({ isOfRobots }) => isOfRobots).map(toMethod);
  yield rootNodes("Gateway", isClustered ? clusterGatewayType : gatewayType, []);
  if (stations.length > 0) yield rootNodes("Stations", stationsType, stations);
  for (const station of stations) yield stationNodes(station, layout);
  yield rootNodes("Robots", robotsType, robots);
  for (const robot of robots) {
    const [node, ...members] = robotNodes(robot, layout);
    yield [{ ...node, references: [...node.references, ...toMethods] }, ...members];
  }
}

/** The folders of methods, and those methods that no type has. */
export function methodFolderNodes(methods: readonly MethodModel[]): NodeGroup {
  return Object.entries(methodFolders).flatMap(([name, description]) => {
    const parent = from("Organizes", standard("ObjectsFolder"));
    const texts = { displayName: named(name, description), description };
    const node = objectNode(name, name, texts, "FolderType", parent);
    const own = methods.filter(({ folder }) => folder === name);
    const toOfRobots = own.filter(({ isOfRobots }) => isOfRobots).map(toMethod);
    const others = own.filter(({ isOfRobots }) => !isOfRobots);
    return [
      { ...node, references: [...node.references, ...toOfRobots] },
      ...others.flatMap((method) => methodNodes(method, from("HasComponent", { path: name }))),
    ];
  });
}

function toMethod(method: MethodModel): Reference {
  return to("HasComponent", { path: methodPath(method) });
}

/** The members are groups of their own, so the folder refers to them. */
function rootNodes(
  name: string,
  type: ObjectModel,
  members: ReadonlyArray<{ readonly name: string }>,
): NodeGroup {
  const texts = { displayName: named(name, type), description: type };
  const node = objectNode(name, name, texts, type, from("Organizes", standard("ObjectsFolder")));
  const toMembers = members.flatMap((member) => {
    const path = `${name}.${member.name}`;
    return [to("HasComponent", { path }), to("HasNotifier", { path })];
  });
  const root = { ...node, references: [...node.references, ...toMembers] };
  return [notifier(root, standard("Server")), ...membersOf(name, type, () => false)];
}

function stationNodes({ name, needsPermit }: StationLayout, layout: PlantLayout): NodeGroup {
  const hasPlant = hasMemberOf(layout);
  const has: HasMember = (member) => (member in permitTags ? needsPermit : hasPlant(member));
  return notifierNodes("Stations", stationsType, name, has);
}

function robotNodes(
  { name, isCart, conveyorIndexes }: RobotLayout,
  layout: PlantLayout,
): readonly [robot: ExportedNode, ...members: ExportedNode[]] {
  const has = hasMemberOf(layout);
  const [robot, ...members] = notifierNodes("Robots", robotsType, name, has, isCart ? cartType : undefined);
  const path = `${robot.path}.Conveyors`;
  const { model: conveyors } = objectMember(cartType, "Conveyors") ?? {};
  if (!isCart || conveyors === undefined) return [robot, ...members];
  return [
    robot,
    ...members,
    ...conveyorIndexes.flatMap((index) => memberNodes(path, conveyors, String(index), has)),
  ];
}

/** A station or a robot: its events go to the folder of all. */
function notifierNodes(...given: Parameters<typeof memberNodes>) {
  const [node, ...members] = memberNodes(...given);
  return [notifier(node, { path: given[0] }), ...members] as const;
}

function hasMemberOf({ missionSlots }: PlantLayout): HasMember {
  return (name) => name === "MissionSlot2" && missionSlots > 1;
}

/** An object within an object of this type, with all its members. */
function memberNodes(
  parent: string,
  parentType: ObjectModel,
  name: string,
  has: HasMember,
  as?: ObjectModel,
): readonly [object: ExportedNode, ...members: ExportedNode[]] {
  const member: ObjectMember | undefined = objectMember(parentType, name);
  if (member === undefined) throw new Error(`${parentType.name} has no member ${name}`);
  const type = as ?? member.model;
  const path = `${parent}.${name}`;
  const displayName = isAnyOf(parentType, member) ? null : named(name, member);
  const texts = { displayName, description: member };
  const node = objectNode(path, name, texts, type, from("HasComponent", { path: parent }));
  return [node, ...membersOf(path, type, has)];
}

function membersOf(path: string, type: ObjectModel, has: HasMember): readonly ExportedNode[] {
  const isThere = ([name, member]: readonly [string, { readonly isOptional?: true }]) =>
    member.isOptional !== true || has(name);
  return lineage(type).flatMap(({ tags, objects = {} }) => [
    ...Object.entries(tags)
      .filter(isThere)
      .flatMap(([name, tag]) => tagNodes(path, name, tag)),
    ...Object.entries(objects)
      .filter(isThere)
      .flatMap(([name]) => memberNodes(path, type, name, has)),
  ]);
}
