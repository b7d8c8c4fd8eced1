import type { UAObject } from "node-opcua";
import type { Acts } from "../../contracts/acts.ts";
import type { ReloadRefusal } from "../../contracts/reload.ts";
import type { Permits, Stations, VisibleStations } from "../../contracts/stations.ts";
import type { Alarm } from "../../domain/alarm.ts";
import type { VisibleStation } from "../../domain/station-visits.ts";
import type { Live } from "../../platform/live.ts";
import { type AlarmTagParts, addAlarmTags } from "./alarm-tags.ts";
import type { SlotKindParts } from "./commands/slot.ts";
import type { FindRobot } from "./commands/station-order.ts";
import { addStationSlot } from "./commands/station-slot.ts";
import { stationsType } from "./model/station.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import type { StationNode } from "./options.ts";
import { nodeName } from "./robot-register.ts";
import { addPermitTags, addStationTags, type NameOfRobot } from "./station-tags.ts";

/** The dependencies of a station's nodes. */
export interface StationFolderParts {
  readonly slots: SlotKindParts;
  readonly alarms: AlarmTagParts;
  readonly stations: Stations & VisibleStations;
  readonly permits: Permits;
  readonly acts: Pick<Acts, "run">;
  readonly addWritable: AddWritableTag;
  readonly robots: { readonly find: FindRobot; readonly nameOf: NameOfRobot };
}

/** The folder `Stations`: each station with its slot and its tags. */
export interface StationFolder {
  /** The configuration has other stations: adds the nodes of new ones, hides those of removed ones. */
  follow(): void;
  /** Why the stations cannot become `next` now, by the key of the configuration. */
  refusals(next: readonly StationNode[]): readonly ReloadRefusal[];
  show(station: string, shown: VisibleStation): void;
  showAlarms(station: string, alarms: readonly Alarm[]): void;
  /** A station, for events of it; undefined: it has no nodes. */
  notifier(station: string): UAObject | undefined;
  /** Updates what changes with time. Call it about once a second. */
  tick(): void;
}

type StationNodes = ReturnType<typeof addStation>;

/** @param hiddenNodes the names of nodes that a reload has removed; kept up to date here */
export function addStationFolder(
  builder: NodeBuilder,
  stations: Live<readonly StationNode[]>,
  hiddenNodes: Set<string>,
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
      hiddenNodes.delete(nodeName(name));
    }
    root ??= addRoot();
    const found = made.get(name) ?? addStation(builder, root, station, loadOf(name), parts);
    made.set(name, found);
    return found.folder;
  }

  function addRoot(): Folder {
    const folder = builder.root("Stations", stationsType);
    builder.addNotifier(folder, null);
    return folder;
  }

  function hide(name: string, { folder }: StationNodes): void {
    if (root === null) return;
    hidden.set(name, builder.detach(root, folder));
    hiddenNodes.add(nodeName(name));
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
    notifier: (station) => (isShown(station) ? made.get(station)?.folder.node : undefined),
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
  load: Live<StationNode["load"]>,
  { slots, alarms, stations, permits, acts, addWritable, robots }: StationFolderParts,
) {
  const folder = builder.folder(root, nodeName(name));
  builder.addNotifier(folder, root);
  const permit = needsPermit ? addPermitTags(builder, folder, name, { permits, acts, addWritable }) : null;
  const tags = addStationTags(builder, folder, name, {
    shown: stations.shown,
    acts,
    rights: slots.rights,
    addWritable,
    nameOf: robots.nameOf,
  });
  return {
    name,
    folder,
    permit,
    tags,
    alarms: addAlarmTags(builder, folder, name, alarms),
    slot: addStationSlot(builder, folder, name, load, { stations, acts, findRobot: robots.find, slots }),
  };
}
