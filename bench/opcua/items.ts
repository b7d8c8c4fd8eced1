import { AttributeIds, ClientMonitoredItemGroup, type DataValue, TimestampsToReturn } from "node-opcua";
import { nodeIdOf, openPlantSession } from "./session.ts";

/** As PLC programs and SCADA systems ask by habit. */
const ASKED_SAMPLING_MS = 100;
const PUBLISHING_MS = 100;
const QUEUE_SIZE = 10;
/** Change with each message of the load service. */
const changing = ["SequenceNumber", "CurrentGoalIndex", "CurrentGoal", "Feedback", "Arrived"] as const;
const others = ["MissionId", "State", "StateText", "GoalCount", "Owner"] as const;
const names = [...changing, ...others];
/** What the server may give by itself to a new subscription. */
const FIRST_VALUES_MS = 2_000;

/** Ten subscribed tags of each robot, five of which change with each message. */
export interface Items {
  readonly count: number;
  /** The intervals that the server grants, each once. */
  readonly samplingMs: readonly number[];
  /** That messages made since the last reset, and how many of them came. */
  readonly changes: number;
  readonly delivered: number;
  reset(): void;
  noteSent(robot: string): void;
  /** Whether the robot's last message has come. */
  isSeen(robot: string): boolean;
  close(): Promise<void>;
}

export async function subscribe(port: number, robots: readonly string[]): Promise<Items> {
  const { session, close } = await openPlantSession(port);
  const subscription = await session.createSubscription2({
    requestedPublishingInterval: PUBLISHING_MS,
    requestedLifetimeCount: 1_000,
    requestedMaxKeepAliveCount: 10,
    maxNotificationsPerPublish: 20_000,
    publishingEnabled: true,
    priority: 1,
  });
  const tags = robots.flatMap((robot) => names.map((name) => ({ robot, name })));
  const group = ClientMonitoredItemGroup.create(
    subscription,
    tags.map(({ robot, name }) => ({
      nodeId: nodeIdOf(`Robots.${robot}.Mission.${name}`),
      attributeId: AttributeIds.Value,
    })),
    { samplingInterval: ASKED_SAMPLING_MS, queueSize: QUEUE_SIZE, discardOldest: true },
    TimestampsToReturn.Both,
  );
  const unseen = new Map<string, number>();
  let changes = 0;
  let delivered = 0;
  let isCounting = false;
  group.on("changed", (_item, _value: DataValue, at: number) => {
    if (!isCounting) return;
    delivered += 1;
    const robot = tags[at]?.robot ?? "";
    unseen.set(robot, (unseen.get(robot) ?? 0) - 1);
  });
  await new Promise<void>((resolve, reject) => {
    group.once("initialized", resolve);
    group.once("err", (message) => reject(new Error(String(message))));
  });
  await new Promise((resolve) => setTimeout(resolve, FIRST_VALUES_MS));
  isCounting = true;
  return {
    count: tags.length,
    samplingMs: [
      ...new Set(
        group.monitoredItems.map(({ monitoringParameters: { samplingInterval } }) => samplingInterval),
      ),
    ],
    get changes() {
      return changes;
    },
    get delivered() {
      return delivered;
    },
    reset() {
      changes = 0;
      delivered = 0;
      unseen.clear();
    },
    noteSent(robot) {
      changes += changing.length;
      unseen.set(robot, (unseen.get(robot) ?? 0) + changing.length);
    },
    isSeen: (robot) => (unseen.get(robot) ?? 0) === 0,
    async close() {
      await subscription.terminate();
      await close();
    },
  };
}
