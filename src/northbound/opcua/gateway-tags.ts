import { StatusCodes, type UAObject } from "node-opcua";
import type { ClusterView } from "../../contracts/cluster.ts";
import type { Alarm } from "../../domain/alarm.ts";
import type { HoldState } from "../../domain/hold.ts";
import { type AlarmTagParts, addAlarmTags } from "./alarm-tags.ts";
import { addHoldTags, type HoldTagParts } from "./hold-tags.ts";
import { clusterGatewayType, clusterTags, gatewayTags, gatewayType } from "./model/gateway.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { timesAt } from "./node-opcua/tag.ts";

/** The gateway's own values, read when they are shown. */
export interface GatewayFacts {
  readonly version: string;
  /** When this program was built. */
  readonly builtAt: Date;
  readonly sessionId: string;
  readonly startedAtMs: number;
  /** Changes with the configuration. */
  configHash(): string;
  /** Whether the session to the fleet service is up. */
  fleetLinkUp(): boolean;
}

/** The figures that the server itself adds. */
interface GatewayFigures {
  readonly robotCount: number;
  readonly robotsNotShown: number;
}

/** The `Gateway` folder. */
export interface GatewayTags {
  /** For events of the gateway. */
  readonly notifier: UAObject;
  /** Increments the heartbeat and shows the present values; called once a second. */
  tick(nowMs: number, figures: GatewayFigures): void;
  /** Shows the state of the link at once: called before robots' qualities, which follow it. */
  showLink(nowMs: number): void;
  /** Shows the place in the cluster, if there is one. */
  showCluster(nowMs: number): void;
  /** Shows the hold on all robots. */
  showHold(hold: HoldState): void;
  /** Shows all alarms. */
  showAlarms(alarms: readonly Alarm[]): void;
}

/** The largest INT of a PLC; the heartbeat then starts again from 0. */
const LAST_HEARTBEAT = 32_767;

/** Adds the folder. */
export function addGatewayTags(
  builder: NodeBuilder,
  facts: GatewayFacts,
  modelHash: () => number,
  holdParts: HoldTagParts,
  alarmParts: AlarmTagParts,
  cluster: ClusterView | null,
): GatewayTags {
  const folder = builder.root("Gateway", cluster === null ? gatewayType : clusterGatewayType);
  builder.addNotifier(folder, null);
  const hold = addHoldTags(builder, folder, null, holdParts);
  const tags = builder.tags(folder, gatewayTags);
  const alarms = addAlarmTags(builder, folder, null, alarmParts);
  const showCluster = cluster === null ? () => {} : addClusterTags(builder, folder, cluster);
  const startTime = new Date(facts.startedAtMs);
  const good = StatusCodes.Good;
  let count = 0;
  let shownLink: boolean | null = null;

  return {
    notifier: folder.node,
    showCluster,
    showHold: hold.show,
    showAlarms: alarms.show,
    showLink(nowMs) {
      const isUp = facts.fleetLinkUp();
      if (isUp === shownLink) return;
      shownLink = isUp;
      tags.FleetLinkUp.set(isUp, good, timesAt(nowMs));
    },
    tick(nowMs, figures) {
      const times = timesAt(nowMs);
      count = count === LAST_HEARTBEAT ? 0 : count + 1;
      tags.Heartbeat.set(count, good, times);
      shownLink = facts.fleetLinkUp();
      tags.FleetLinkUp.set(shownLink, good, times);
      tags.RobotCount.set(figures.robotCount, good, times);
      tags.RobotsNotShown.set(figures.robotsNotShown, good, times);
      tags.Version.set(facts.version, good, times);
      tags.SessionId.set(facts.sessionId, good, times);
      tags.ConfigHash.set(facts.configHash(), good, times);
      tags.ModelHash.set(modelHash(), good, times);
      tags.StartTime.set(startTime, good, times);
      showCluster(nowMs);
    },
  };
}

function addClusterTags(
  builder: NodeBuilder,
  folder: Folder,
  { member, isActive, epoch }: ClusterView,
): GatewayTags["showCluster"] {
  const tags = builder.tags(folder, clusterTags);
  return (nowMs) => {
    const times = timesAt(nowMs);
    tags.Active.set(isActive(), StatusCodes.Good, times);
    tags.Member.set(member, StatusCodes.Good, times);
    tags.Epoch.set(epoch(), StatusCodes.Good, times);
  };
}
