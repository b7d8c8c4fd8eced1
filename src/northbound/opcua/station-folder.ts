import type { ReloadRefusal } from "../../contracts/reload.ts";
import type { Permits } from "../../contracts/stations.ts";
import type { Alarm } from "../../domain/alarm.ts";
import type { VisibleStation } from "../../domain/station-visits.ts";
import type { Live } from "../../platform/live.ts";
import { type AlarmTagParts, addAlarmTags } from "./alarm-tags.ts";
import { addStationSlot, type StationParts, type StationSlot } from "./commands/station-slot.ts";
import { stationsType } from "./model/station.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { StationNode } from "./options.ts";
import { nodeName } from "./robot-register.ts";
import { addPermitTags, addStationTags, type PermitTagParts, type StationTagParts } from "./station-tags.ts";

export interface StationFolderParts extends Omit<StationParts, "name" | "load"> {
  readonly permits: Permits;
  readonly alarms: AlarmTagParts;
  readonly tags: Omit<PermitTagParts, "permits"> & StationTagParts;
  /** Registers a new slot for writes. */
  readonly addSlot: (slot: StationSlot) => void;
  /** The names of hidden nodes. */
  readonly hidden: Set<string>;
}

/** The folder `Stations`: each station with its slot and its tags. */
export interface StationFolder {
  /** The configuration has other stations: adds the nodes of new ones, hides those of removed ones. */
  follow(): void;
  /** Why the stations cannot become `next` now, by the key of the configuration. */
  refusals(next: readonly StationNode[]): readonly ReloadRefusal[];
  show(station: string, shown: VisibleStation): void;
  showAlarms(station: string, alarms: readonly Alarm[]): void;
  /** Updates what changes with time. Call it about once a second. */
  tick(): void;
}

type StationNodes = ReturnType<typeof addStation>;

export function addStationFolder(
  builder: NodeBuilder,
  stations: Live<readonly StationNode[]>,
  parts: StationFolderParts,
): StationFolder {
  let root: Folder | null = null;
  /** Including hidden ones: a slot that comes back continues its numbers. */
  const made = new Map<string, StationNodes>();
  /** Functions that put the nodes of a hidden station back. */
  const hidden = new Map<string, () => void>();
  const loadOf = (name: string) =>
    stations.pick((list) => list.find((station) => station.name === name)?.load ?? null);
  const isShown = (name: string) => made.has(name) && !hidden.has(name);
  const shown = () => [...made].flatMap(([name, station]) => (isShown(name) ? [station] : []));

  function add(station: StationNode): Folder {
    const { name } = station;
    const attach = hidden.get(name);
    if (attach !== undefined) {
      attach();
      hidden.delete(name);
      parts.hidden.delete(nodeName(name));
    }
    root ??= builder.root("Stations", stationsType);
    const found = made.get(name) ?? addStation(builder, root, station, { ...parts, load: loadOf(name) });
    made.set(name, found);
    return found.folder;
  }

  function hide(name: string, { folder }: StationNodes): void {
    if (root === null) return;
    hidden.set(name, builder.detach(root, folder));
    parts.hidden.add(nodeName(name));
  }

  function follow(): void {
    const now = stations.now();
    const names = new Set(now.map(({ name }) => name));
    const gone = shown().filter(({ name }) => !names.has(name));
    for (const station of gone) hide(station.name, station);
    const added = now.filter(({ name }) => !isShown(name)).map(add);
    if (root === null) return;
    const { node } = root;
    builder.changed([
      ...(added.length === 0 ? [] : [{ node, verb: "extended" } as const]),
      ...(gone.length === 0 ? [] : [{ node, verb: "reduced" } as const]),
      ...added.map((folder) => ({ node: folder.node, verb: "added" }) as const),
      ...gone.map(({ folder }) => ({ node: folder.node, verb: "deleted" }) as const),
    ]);
  }

  follow();
  return {
    follow,
    refusals(next) {
      const names = new Set(next.map(({ name }) => name));
      const busy = shown().filter(({ name, slot }) => !names.has(name) && slot.isBusy());
      const others = next.filter(({ name, needsPermit }) => {
        const known = made.get(name);
        return known !== undefined && (known.permit !== null) !== needsPermit;
      });
      return [
        ...busy.map(({ name }) => ({ path: `stations.${name}`, reason: BUSY })),
        ...others.map(({ name }) => ({ path: `stations.${name}.permit`, reason: OTHER_PERMIT })),
      ];
    },
    show: (station, state) => made.get(station)?.tags.show(state),
    showAlarms: (station, alarms) => made.get(station)?.alarms.show(alarms),
    tick() {
      for (const { slot, permit } of shown()) {
        slot.showLease();
        permit?.show();
      }
    },
  };
}

const BUSY = "a command of its slot has no outcome yet: wait for it, or restart";
const OTHER_PERMIT = "restart to change it: its tags were made otherwise";

function addStation(
  builder: NodeBuilder,
  root: Folder,
  { name, needsPermit }: StationNode,
  parts: StationFolderParts & Pick<StationParts, "load">,
) {
  const folder = builder.folder(root, nodeName(name));
  const permit = needsPermit ? addPermitTags(builder, folder, name, { ...parts, ...parts.tags }) : null;
  const tags = addStationTags(builder, folder, name, parts.tags);
  const alarms = addAlarmTags(builder, folder, name, parts.alarms);
  const slot = addStationSlot(builder, folder, { ...parts, name });
  parts.addSlot(slot);
  return { name, folder, alarms, slot, permit, tags };
}
