import { AttributeIds, type DataValue, NumericRange, TimestampsToReturn, UserTokenType } from "node-opcua";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createFakeCommander, type FakeCommander, fakeCatalogue } from "./fake-commands.ts";
import { createFakeDisk, type FakeDisk } from "./memory-store.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

/** Several users at one slot, each with its own sessions: what one of them sees of it. */
export interface SlotReader {
  readonly caller: Caller;
  /** What a Read shows now. */
  answer(): Promise<readonly number[]>;
  /** `Answer[9..11]` alone, by an index range. */
  verdict(): Promise<readonly number[]>;
  acceptedByNo(): Promise<number>;
  rejectedText(): Promise<string>;
  nextId(): Promise<number>;
  /** Resolves when the monitored item of `Answer` shows this. */
  sees(what: string, isSeen: (answer: readonly number[]) => boolean): Promise<readonly number[]>;
  seesAcceptedByNo(number: number): Promise<void>;
  /** What the monitored item of `Answer` has shown, the oldest first. */
  readonly seen: readonly (readonly number[])[];
  /** Writes `Command`: the number, then what it is for. */
  command(...numbers: readonly number[]): Promise<unknown>;
  /** The session gets another user. */
  becomes(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface SlotReaders {
  readonly clock: ManualClock;
  readonly commander: FakeCommander;
  /** A session of a user, with monitored items of its own. */
  logOn(name: string): Promise<SlotReader>;
  /** The gateway stops, and starts again with the same disk. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const COMMAND_LENGTH = 12;
const slot = (name: string) => `Robots.AMR01.MissionSlot.${name}`;
const robots = [{ robotId: "r1", alias: "AMR01", family: "cart", number: 7, conveyorIndexes: [] }] as const;
const stopping = [...fakeCatalogue("stops")].filter(([name]) => name === "UpdateMission");

/** Starts a server with these users; `null`: the user has no number. */
export async function openSlotReaders(
  numbers: Readonly<Record<string, number | null>>,
): Promise<SlotReaders> {
  const clock = createManualClock();
  const commander = createFakeCommander();
  const disk: FakeDisk = createFakeDisk();
  const users = Object.entries(numbers).map(
    ([name, number]): OpcUaUser => ({
      ...{ name, number, role: "operator" },
      secret: { kind: "plain", text: `${name} secret` },
    }),
  );
  const destinations = new Map([[1, "Dock A"]]);
  const catalogue = new Map([...fakeCatalogue(), ...stopping]);
  let running: RunningServer = await start();
  const open: SlotReader[] = [];

  function start(): Promise<RunningServer> {
    return startServer(
      { robots, users, destinations },
      { clock, commander, catalogue, openMemory: disk.open },
    );
  }

  async function closeAll(): Promise<void> {
    for (const reader of open.splice(0)) await reader.close();
    await running.stop();
  }

  return {
    clock,
    commander,
    async logOn(name) {
      const user = { name, password: `${name} secret` };
      const reader = await readerOf(await openSession(running.url, { user }));
      open.push(reader);
      return reader;
    },
    async restart() {
      await closeAll();
      running = await start();
    },
    close: closeAll,
  };
}

async function readerOf(caller: Caller): Promise<SlotReader> {
  const subscription = await caller.session.createSubscription2({
    requestedPublishingInterval: 10,
    requestedLifetimeCount: 1000,
    requestedMaxKeepAliveCount: 100,
    publishingEnabled: true,
  });
  const answers = await follow("Answer", (value) => Array.from(value as Int32Array));
  const byNo = await follow("AcceptedByNo", Number);

  async function follow<T>(name: string, convert: (value: unknown) => T) {
    const seen: T[] = [];
    let wake = () => {};
    const item = await subscription.monitor(
      { nodeId: `ns=2;s=${slot(name)}`, attributeId: AttributeIds.Value },
      { samplingInterval: 0, queueSize: 100, discardOldest: true },
      TimestampsToReturn.Both,
    );
    item.on("changed", ({ value }: DataValue) => {
      seen.push(convert(value.value));
      wake();
    });
    return {
      seen,
      async until(isSeen: (value: T) => boolean): Promise<T> {
        for (;;) {
          const last = seen.at(-1);
          if (last !== undefined && isSeen(last)) return last;
          await new Promise<void>((resolve) => (wake = resolve));
        }
      },
    };
  }

  return {
    caller,
    answer: async () => Array.from((await caller.value(slot("Answer"))) as Int32Array),
    rejectedText: async () => String(await caller.value(slot("RejectedText"))),
    acceptedByNo: async () => Number(await caller.value(slot("AcceptedByNo"))),
    async verdict() {
      const nodeId = `ns=2;s=${slot("Answer")}`;
      const indexRange = new NumericRange("9:11");
      const { value } = await caller.session.read({ nodeId, attributeId: AttributeIds.Value, indexRange });
      return Array.from(value.value as Int32Array);
    },
    nextId: () => caller.nextId(slot("NextId")),
    sees: (_what, isSeen) => answers.until(isSeen),
    seesAcceptedByNo: async (number) => void (await byNo.until((value) => value === number)),
    seen: answers.seen,
    command(...numbers) {
      const value = [...numbers, ...new Array(COMMAND_LENGTH - numbers.length).fill(0)];
      return caller.write([slot("Command"), { dataType: "Int32", arrayType: "Array", value }]);
    },
    async becomes(name) {
      const changeUser: unknown = Reflect.get(caller.session, "changeUser");
      if (typeof changeUser !== "function") throw new Error("node-opcua's client cannot change its user");
      const user = { type: UserTokenType.UserName, userName: name, password: `${name} secret` };
      await changeUser.call(caller.session, user);
    },
    close: caller.close,
  };
}
