import { conditionTypes } from "./conditions.ts";
import { eventTypes } from "./events.ts";
import { clusterGatewayType, gatewayType } from "./gateway.ts";
import type { ObjectModel } from "./member.ts";
import { cartType, robotsType } from "./robot.ts";
import { stationsType } from "./station.ts";

/**
 * The types of the objects directly under Objects, of events, and those that are no member of another type.
 */
const roots: readonly ObjectModel[] = [
  ...[gatewayType, robotsType, cartType, stationsType],
  ...eventTypes,
  ...Object.values(conditionTypes),
];

/** Every object type of our namespace; each follows those that it needs. */
export const objectTypes: readonly ObjectModel[] = [...new Set(roots.flatMap(needed))];

/** With those that only a member of a cluster has. */
export function objectTypesOf(isClustered: boolean): readonly ObjectModel[] {
  return isClustered ? [...objectTypes, clusterGatewayType] : objectTypes;
}

function needed(model: ObjectModel): readonly ObjectModel[] {
  const members = [...Object.values(model.objects ?? {}), ...(model.each === undefined ? [] : [model.each])];
  return [
    ...(model.base === undefined ? [] : needed(model.base)),
    ...members.flatMap((member) => needed(member.model)),
    model,
  ];
}
