import { createHash } from "node:crypto";
import { MODEL_VERSION } from "./fleet-nodeset.ts";
import type { EnumModel, ObjectMember, ObjectModel, TagModel } from "./model/member.ts";
import type { MethodArgument, MethodModel } from "./model/method.ts";
import { objectTypesOf } from "./model/types.ts";
import type { PlantLayout } from "./plant-layout.ts";

/** What a DINT of a PLC holds. */
const POSITIVE_BITS = 0x7fff_ffff;

/**
 * A number for what a client has imported: from 1 to 2147483647, and another one if something of it changes.
 * It covers:
 *
 * - the version of the types, and of each type and member: name, data type, length of an array, access, unit,
 *   range, the numbers of an enumeration, and whether each object has it;
 * - each method: its name, whether robots have it, and its arguments in their order with name, data type, and
 *   whether it is a list, because a PLC would give wrong arguments to another version;
 * - the robots and stations of the configuration: the names and members of their nodes, in any order.
 *
 * It covers neither texts nor anything that was only seen: no robot that came online, no conveyor. So the
 * export of a configuration has the number of each gateway of the same program with that configuration.
 */
export function modelHash(layout: PlantLayout, methods: readonly MethodModel[]): number {
  const facts = [
    MODEL_VERSION,
    inOrder(objectTypesOf(layout.isClustered).map(typeFacts)),
    inOrder(methods.map(methodFacts)),
    plantFacts(layout),
  ];
  const digest = createHash("sha256").update(JSON.stringify(facts)).digest();
  return digest.readUInt32BE(0) & POSITIVE_BITS || 1;
}

function typeFacts({ name, base, isAbstract, tags, objects = {}, each }: ObjectModel) {
  return [
    name,
    base?.name ?? null,
    isAbstract === true,
    inOrder(Object.entries(tags).map(([tag, model]) => tagFacts(tag, model))),
    inOrder(Object.entries(objects).map(([member, model]) => memberFacts(member, model))),
    each === undefined ? null : memberFacts(each.name, each),
  ] as const;
}

function methodFacts({ folder, name, inputs, outputs, isOfRobots }: MethodModel) {
  const argumentFacts = ({ name, type, isList }: MethodArgument) => [name, type, isList === true];
  return [`${folder}.${name}`, isOfRobots, inputs.map(argumentFacts), outputs.map(argumentFacts)] as const;
}

function memberFacts(name: string, { model, isOptional }: ObjectMember) {
  return [name, model.name, isOptional === true] as const;
}

function tagFacts(name: string, tag: TagModel) {
  const { type, length = null, unit, range = null, enumeration, numbers } = tag;
  return [
    name,
    ...[type, length],
    ...[tag.isWritable, tag.isOptional, tag.isProperty].map((is) => is === true),
    unit?.code ?? null,
    range,
    enumFacts(enumeration),
    enumFacts(numbers),
  ] as const;
}

/** A name that equals its English text counts as a text. */
function enumFacts(model: EnumModel | undefined) {
  if (model === undefined) return null;
  const values = model.values.map(({ value, name, text }) => [value, name === text.en ? null : name]);
  return [model.name, values];
}

function plantFacts({ stations, robots, missionSlots }: PlantLayout) {
  return [
    missionSlots,
    inOrder(stations.map(({ name, needsPermit }) => [name, needsPermit] as const)),
    inOrder(
      robots.map(({ name, isCart, conveyorIndexes }) => {
        return [name, isCart, conveyorIndexes.toSorted((one, other) => one - other)] as const;
      }),
    ),
  ];
}

/** By name, compared by code units: the same on each machine. */
function inOrder<T extends readonly [name: string, ...rest: unknown[]]>(facts: readonly T[]): readonly T[] {
  return facts.toSorted(([one], [other]) => (one < other ? -1 : 1));
}
