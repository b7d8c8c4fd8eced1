import { StatusCodes } from "node-opcua";
import type { HoldState } from "../../domain/hold.ts";
import { addHoldTags, type HoldTagParts } from "./hold-tags.ts";
import type { NodeBuilder } from "./node-builder.ts";

/** What the gateway knows of itself, asked for when it is shown. */
export interface GatewayFacts {
  readonly version: string;
  /** When this program was built. */
  readonly builtAt: Date;
  readonly sessionId: string;
  readonly startedAtMs: number;
  /** Changes with the configuration. */
  readonly configHash: string;
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
  /** Counts the heartbeat on and shows what is true now; called once a second. */
  tick(nowMs: number, figures: GatewayFigures): void;
  /** Shows at once whether the link is up: called before robots' qualities are shown, which follow it. */
  showLink(nowMs: number): void;
  /** Shows what holds all robots. */
  showHold(hold: HoldState): void;
}

/** What an INT of a PLC holds; the heartbeat starts again from 0 after it. */
const LAST_HEARTBEAT = 32_767;

/** Adds the folder. */
export function addGatewayTags(
  builder: NodeBuilder,
  facts: GatewayFacts,
  holdParts: HoldTagParts,
): GatewayTags {
  const folder = builder.root("Gateway", "What the gateway says of itself");
  const hold = addHoldTags(builder, folder, null, holdParts);
  const heartbeat = builder.tag(folder, "Heartbeat", "Int32");
  const fleetLinkUp = builder.tag(folder, "FleetLinkUp", "Boolean");
  const robotCount = builder.tag(folder, "RobotCount", "Int32");
  const robotsNotShown = builder.tag(folder, "RobotsNotShown", "Int32");
  const version = builder.tag(folder, "Version", "String");
  const sessionId = builder.tag(folder, "SessionId", "String");
  const configHash = builder.tag(folder, "ConfigHash", "String");
  const startTime = builder.tag(folder, "StartTime", "String");
  const good = StatusCodes.Good;
  let count = 0;
  let shownLink: boolean | null = null;

  return {
    showHold: hold.show,
    showLink(nowMs) {
      const isUp = facts.fleetLinkUp();
      if (isUp === shownLink) return;
      shownLink = isUp;
      const now = new Date(nowMs);
      fleetLinkUp.set(isUp, good, { source: now, server: now });
    },
    tick(nowMs, figures) {
      const now = new Date(nowMs);
      const times = { source: now, server: now };
      count = count === LAST_HEARTBEAT ? 0 : count + 1;
      heartbeat.set(count, good, times);
      shownLink = facts.fleetLinkUp();
      fleetLinkUp.set(shownLink, good, times);
      robotCount.set(figures.robotCount, good, times);
      robotsNotShown.set(figures.robotsNotShown, good, times);
      version.set(facts.version, good, times);
      sessionId.set(facts.sessionId, good, times);
      configHash.set(facts.configHash, good, times);
      startTime.set(new Date(facts.startedAtMs).toISOString(), good, times);
    },
  };
}
