import type { StateChange } from "../../../domain/change.ts";
import { codeText } from "../../../domain/coded.ts";
import type { FleetEvent } from "../../../domain/event.ts";
import { idleReasonOf } from "../../../domain/idle-reason.ts";
import type { TaskChain } from "../../../domain/mission.ts";
import { type Observed, type Quality, qualities } from "../../../domain/observed.ts";
import type { Family, Presence } from "../../../domain/robot.ts";
import {
  type FlatPlace,
  flatBattery,
  flatConveyor,
  flatMission,
  flatPlace,
} from "../../../models/flat-robot.ts";
import { createDevice, type Device, type DeviceParts } from "./device.ts";
import { type AlarmMetrics, addAlarms, addGroup, type MetricGroup, timeOf } from "./metric-group.ts";
import type { NamedRobot } from "./options.ts";
import type { Sample } from "./payload.ts";
import {
  batteryMetrics,
  chainMetrics,
  conveyorMetrics,
  coordinateMetrics,
  infoMetrics,
  missionMetrics,
  placeMetrics,
  stateMetrics,
} from "./robot-metrics.ts";
import { robotDeviceId } from "./topics.ts";

/** A change of one robot. */
export type RobotChange = Extract<
  StateChange,
  { kind: "robot" | "mission" | "battery" | "conveyor" | "presence" | "hold" | "robot_alarms" }
>;

/** A robot as a device. */
export interface RobotDevice {
  readonly device: Device;
  /** Whether its values are known to be true: it is born then, and dead otherwise. */
  isAlive(): boolean;
  /** Whether nothing was ever received of it. */
  isAwaited(): boolean;
  apply(change: RobotChange): void;
  /** The chain that the online list names, and what is known of it. */
  showChain(chainId: number, chain: Observed<TaskChain> | undefined): void;
  tick(): void;
  /** What an event says of its metrics at that moment; empty: nothing. */
  past(event: FleetEvent): readonly Sample[];
}

type ConveyorGroup = MetricGroup<keyof ReturnType<typeof conveyorMetrics>>;

/** @param named what the configuration says of the robot */
export function createRobotDevice(named: NamedRobot, parts: DeviceParts): RobotDevice {
  const { clock } = parts;
  const device = createDevice(robotDeviceId(named.robotId), parts);
  const info = addGroup(device, infoMetrics);
  const state = addGroup(device, stateMetrics);
  const battery = addGroup(device, batteryMetrics);
  const mission = addGroup(device, missionMetrics);
  const position = addPosition(device, parts);
  const place = addGroup(device, placeMetrics);
  const chain = addGroup(device, chainMetrics);
  const alarms = addAlarms(device, parts);
  const conveyors = new Map<number, ConveyorGroup>();
  let quality: Quality = "unknown";
  let heldBy: readonly string[] = [];
  let listed: Observed<unknown> | null = null;

  function showInfo(family: Family): void {
    const { robotId, alias } = named;
    info.show({ robotId, family, alias: alias ?? "" }, "good", clock.nowMs());
  }

  /** Findings of the gateway itself, which are always known. */
  function showState(): void {
    const nothing = { missions: undefined, presence: undefined, battery: undefined, chain: undefined };
    const { isNotReady, text } = idleReasonOf({
      ...{ quality, heldBy, ...nothing, conveyors: new Map(), leasedBy: null },
    });
    const values = {
      quality: qualities.indexOf(quality),
      readyForCommand: !isNotReady,
      notReadyReason: isNotReady ? text : "",
    };
    state.show(values, "good", clock.nowMs());
  }

  function conveyorOf(index: number): ConveyorGroup {
    let group = conveyors.get(index);
    if (group === undefined) {
      group = addGroup(device, conveyorMetrics(index));
      alarms.add(`CONVEYOR_ERROR_${index}`);
      conveyors.set(index, group);
    }
    return group;
  }

  showInfo("unknown");
  showState();
  return {
    device,
    isAlive: () => quality === "good",
    isAwaited: () => quality === "unknown",
    apply(change) {
      switch (change.kind) {
        case "robot":
          quality = change.quality;
          showInfo(change.family);
          return showState();
        case "hold":
          heldBy = change.hold.by;
          return showState();
        case "mission":
          return showMission(mission, change.observed);
        case "battery":
          return battery.show(
            flatBattery(change.observed.value),
            change.observed.quality,
            timeOf(change.observed),
          );
        case "conveyor": {
          const { value, quality: known } = change.observed;
          return conveyorOf(value.index).show(flatConveyor(value), known, timeOf(change.observed));
        }
        case "presence": {
          const { value, quality: known } = change.observed;
          listed = change.observed;
          position.show(change.observed);
          return place.show(
            { mapId: value.mapId, pointCode: value.position },
            known,
            timeOf(change.observed),
          );
        }
        case "robot_alarms":
          return alarms.show(change.alarms);
      }
    },
    showChain(chainId, known) {
      if (listed === null) return;
      const hasChain = chainId !== 0;
      const status = hasChain ? (known?.value.status ?? null) : "";
      const both =
        hasChain && known !== undefined && listed.quality === "good" ? known.quality : listed.quality;
      chain.show({ id: chainId, status }, both, timeOf(listed));
    },
    tick: position.tick,
    past: (event) => pastOf(event, { mission, battery, conveyors, alarms }),
  };
}

/** Without a mission there is no text, and the numbers are 0, as in the tags of OPC UA. */
function showMission(
  group: MetricGroup<keyof typeof missionMetrics>,
  observed: Extract<RobotChange, { kind: "mission" }>["observed"],
): void {
  const { id, type, owner, goal, state, feedback, goalIndex, goalCount, hasArrived } = flatMission(
    observed.value,
  );
  const values = {
    id: id ?? "",
    type: type ?? "",
    owner: owner ?? "",
    goal: goal ?? "",
    state: state ?? "",
    feedback: feedback ?? "",
    goalIndex: goalIndex ?? 0,
    goalCount: goalCount ?? 0,
    hasArrived,
  };
  group.show(values, observed.quality, timeOf(observed));
}

/** The metrics of which events say what they were. */
interface PastGroups {
  readonly mission: MetricGroup<keyof typeof missionMetrics>;
  readonly battery: MetricGroup<keyof typeof batteryMetrics>;
  readonly conveyors: ReadonlyMap<number, ConveyorGroup>;
  readonly alarms: AlarmMetrics;
}

function pastOf(event: FleetEvent, { mission, battery, conveyors, alarms }: PastGroups): readonly Sample[] {
  const { atMs } = event;
  switch (event.kind) {
    case "mission": {
      const { missionId: id, to, owner } = event;
      return mission.past({ id, owner, state: codeText(to) }, atMs);
    }
    case "conveyor":
      return conveyors.get(event.to.index)?.past(flatConveyor(event.to), atMs) ?? [];
    case "battery": {
      const { to, chargePercent } = event;
      return battery.past({ chargePercent, state: codeText(to), isCharging: to === "STATE_CHARGING" }, atMs);
    }
    case "alarm":
      return event.to === "acknowledged" ? [] : alarms.past(event.alarm.code, event.to === "active", atMs);
    default:
      return [];
  }
}

/** The coordinates of a robot, in metres and radians. */
interface PositionMetrics {
  show(presence: Observed<Presence>): void;
  /** Shows a position that has waited for its time. Call it about once a second. */
  tick(): void;
}

/** A smaller change is not shown, in metres and radians. */
const DEADBAND = 0.1;
const SHORTEST_MS = 1_000;

/** A coordinate that moves is shown once a second at most; another quality at once. */
function addPosition(device: Device, { clock }: Pick<DeviceParts, "clock">): PositionMetrics {
  const group = addGroup(device, coordinateMetrics);
  let shown: { readonly place: FlatPlace; readonly quality: Quality; readonly atMs: number } | null = null;
  let waiting: Observed<Presence> | null = null;

  function show(presence: Observed<Presence>): void {
    const place = flatPlace(presence.value);
    const { quality } = presence;
    const nowMs = clock.monotonicMs();
    if (shown !== null && quality === shown.quality) {
      waiting = null;
      if (!hasMoved(shown.place, place)) return;
      if (nowMs - shown.atMs < SHORTEST_MS) {
        waiting = presence;
        return;
      }
    }
    waiting = null;
    shown = { place, quality, atMs: nowMs };
    group.show(place, quality, timeOf(presence));
  }

  return {
    show,
    tick() {
      if (waiting !== null) show(waiting);
    },
  };
}

function hasMoved(before: FlatPlace, after: FlatPlace): boolean {
  return (["x", "y", "heading"] as const).some((axis) => {
    const [one, other] = [before[axis], after[axis]];
    if (one === null || other === null) return one !== other;
    return Math.abs(one - other) >= DEADBAND;
  });
}
