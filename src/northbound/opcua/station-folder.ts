import type { Permits } from "../../contracts/permits.ts";
import type { Alarm } from "../../domain/alarm.ts";
import type { StationShown } from "../../domain/station-visits.ts";
import { type AlarmTagParts, addAlarmTags } from "./alarm-tags.ts";
import { addStationSlot, type StationParts, type StationSlot } from "./commands/station-slot.ts";
import { stationsType } from "./model/station.ts";
import type { NodeBuilder } from "./node-builder.ts";
import { nodeName } from "./node-name.ts";
import type { StationNode } from "./options.ts";
import { addPermitTags, type PermitTagParts } from "./permit-tags.ts";
import { addStationTags, type StationTagParts } from "./station-tags.ts";

export interface StationFolderParts extends Omit<StationParts, "permits" | "load"> {
  readonly permits: Permits;
  readonly alarms: AlarmTagParts;
  readonly tags: Omit<PermitTagParts, "permits"> & StationTagParts;
}

/** The folder `Stations`: each station with its slot and its tags. */
export interface StationFolder {
  readonly slots: readonly StationSlot[];
  show(station: string, shown: StationShown): void;
  showAlarms(station: string, alarms: readonly Alarm[]): void;
  /** Shows what changes with time. To be called about once a second. */
  tick(): void;
}

export function addStationFolder(
  builder: NodeBuilder,
  stations: readonly StationNode[],
  parts: StationFolderParts,
): StationFolder {
  if (stations.length === 0) return { slots: [], show() {}, showAlarms() {}, tick() {} };
  const root = builder.root("Stations", stationsType);
  const shown = stations.map(({ name, needsPermit, load }) => {
    const folder = builder.folder(root, nodeName(name));
    const permit = needsPermit ? addPermitTags(builder, folder, name, { ...parts, ...parts.tags }) : null;
    const tags = addStationTags(builder, folder, name, parts.tags);
    const alarms = addAlarmTags(builder, folder, parts.alarms);
    return { name, alarms, slot: addStationSlot(builder, folder, name, { ...parts, load }), permit, tags };
  });
  return {
    slots: shown.map(({ slot }) => slot),
    show: (station, state) => shown.find(({ name }) => name === station)?.tags.show(state),
    showAlarms: (station, alarms) => shown.find(({ name }) => name === station)?.alarms.show(alarms),
    tick() {
      for (const { slot, permit } of shown) {
        slot.showLease();
        permit?.show();
      }
    },
  };
}
