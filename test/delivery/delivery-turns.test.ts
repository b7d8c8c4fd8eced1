import { describe, expect, it } from "vitest";
import type { Batch } from "../../src/contracts/link.ts";
import { createFanOut, type FanOut, type Outlet } from "../../src/delivery/fan-out.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { alarmEvent } from "../support/test-alarms.ts";
import { createFakeState, type FakeState, turn } from "./fake-state.ts";

/** As fan-out.ts has it: changes and events that the northbounds share in a turn. */
const TURN_LENGTH = 100;
const ROBOTS = 1_000;
const CHAINS = 20;
const PER_TURN = 60;
const limits = { changes: 300, events: 100_000, perTurn: PER_TURN };
/** So many turns in which nothing is handed over are a rest, also for the slowest link. */
const REST_TURNS = 12;
const MOST_TURNS = 20_000;
/** Two rounds of six northbounds, if each turn has room for one. */
const MOST_WAIT = 12;

type Random = (below: number) => number;

function random(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** What a northbound shows, and what was wrong about what it got. */
interface Display {
  readonly name: string;
  readonly numbers: Map<string, number>;
  readonly chains: Set<number>;
  /** The number of the last event of each robot. */
  events: Map<string, number>;
  readonly problems: string[];
  /** Turns since it could take something and got nothing; the most of them. */
  waited: number;
  longestWait: number;
}

const createDisplay = (name: string): Display => ({
  ...{ name, numbers: new Map(), chains: new Set(), events: new Map(), problems: [] },
  ...{ waited: 0, longestWait: 0 },
});

/** Numbers of a robot only grow, and its events are counted from 1. */
function show(display: Display, { changes, events }: Batch): void {
  const { name, numbers, chains, problems } = display;
  for (const change of changes) {
    if (change.kind === "task_chain") chains.add(change.chainId);
    if (change.kind === "task_chain_evicted") chains.delete(change.chainId);
    if (change.kind !== "battery") continue;
    const { robotId, observed } = change;
    const number = observed.value.chargePercent ?? 0;
    if (number < (numbers.get(robotId) ?? 0)) problems.push(`${name}: ${robotId} is older again`);
    numbers.set(robotId, number);
  }
  for (const { eventId } of events) {
    const [robotId = "", number = ""] = eventId.split("/");
    if (Number(number) !== (display.events.get(robotId) ?? 0) + 1)
      problems.push(`${name}: event ${eventId} is out of order`);
    display.events.set(robotId, Number(number));
  }
  display.waited = 0;
}

/** A plant of many robots: a number for each, which grows with each change; chains; events. */
interface Plant {
  readonly state: FakeState;
  readonly fanOut: FanOut;
  readonly clock: ManualClock;
  readonly below: Random;
  readonly displays: readonly Display[];
  /** What was handed over in this turn. */
  handedOver: number;
  /** Nothing changes by itself then. */
  isResting: boolean;
  change(): void;
  sink(name: string, msASlice: number): () => void;
  link(name: string, slowest: number): Link;
}

/** A client northbound that connects, and is cut off at any time. */
interface Link {
  cut(): void;
  end(): Promise<void>;
}

function createPlant(seed: number): Plant {
  const [state, clock, below] = [createFakeState(), createManualClock(), random(seed)];
  const fanOut = createFanOut({ state, clock, log: silentLog });
  const displays: Display[] = [];
  const numbers = new Map<string, number>();
  const events = new Map<string, number>();

  const next = (counts: Map<string, number>, robotId: string) => {
    const number = (counts.get(robotId) ?? 0) + 1;
    counts.set(robotId, number);
    return number;
  };

  const plant: Plant = {
    ...{ state, fanOut, clock, below, displays },
    handedOver: 0,
    isResting: false,
    change() {
      const robotId = `r${below(ROBOTS)}`;
      const kind = below(20);
      if (kind === 0) fanOut.offer(state.setChain(below(CHAINS), below(2) === 0));
      else if (kind < 4)
        fanOut.offer({ changes: [], events: [alarmEvent(`${robotId}/${next(events, robotId)}`, robotId)] });
      else fanOut.offer(state.set(robotId, next(numbers, robotId)));
    },
    sink(name, msASlice) {
      const display = createDisplay(name);
      // Its events begin with the next of each robot, as those of a browser that opens the page now.
      display.events = new Map(events);
      displays.push(display);
      const write = (batch: Batch) => {
        clock.advance(msASlice);
        plant.handedOver += batch.changes.length + batch.events.length;
        show(display, batch);
        // What a northbound shows may change something: a command of its own, or an alarm.
        if (below(4) === 0 && !plant.isResting) plant.change();
      };
      const detach = fanOut.attachSink(name, { write }, limits);
      return () => {
        detach();
        displays.splice(displays.indexOf(display), 1);
      };
    },
    link(name, slowest) {
      const display = createDisplay(name);
      displays.push(display);
      const outlet = fanOut.attachOutlet(name, limits);
      return connectAgain(outlet, display, async (batch) => {
        plant.handedOver += batch.changes.length + batch.events.length;
        for (let turns = below(slowest); turns > 0; turns -= 1) await turn();
      });
    },
  };
  return plant;
}

/** Writes slice by slice, and connects again when it was cut off: that slice is lost with its connection. */
function connectAgain(outlet: Outlet, display: Display, write: (batch: Batch) => Promise<void>): Link {
  let isEnded = false;
  let cuts = 0;

  async function run(): Promise<void> {
    while (!isEnded) {
      outlet.open();
      const connection = cuts;
      for (
        let slice = await outlet.next();
        slice !== null && cuts === connection;
        slice = await outlet.next()
      ) {
        await write(slice);
        if (cuts !== connection) break;
        show(display, slice);
        outlet.release(slice);
      }
    }
  }

  const ended = run();
  return {
    cut() {
      cuts += 1;
      outlet.close();
    },
    async end() {
      isEnded = true;
      outlet.close();
      await ended;
    },
  };
}

/** Waits until nothing more is handed over. */
async function rest(plant: Plant): Promise<void> {
  plant.isResting = true;
  let quietTurns = 0;
  for (let turns = 0; quietTurns < REST_TURNS; turns += 1) {
    if (turns > MOST_TURNS) throw new Error("the delivery does not come to rest");
    plant.handedOver = 0;
    await turn();
    quietTurns = plant.handedOver === 0 ? quietTurns + 1 : 0;
  }
  plant.isResting = false;
}

/** What a display lacks of the state, at rest. */
function differences({ state, displays }: Plant): readonly string[] {
  const robots = new Map<string, number>();
  const chains = new Set<number>();
  for (const change of state.snapshot()) {
    if (change.kind === "battery") robots.set(change.robotId, change.observed.value.chargePercent ?? 0);
    else if (change.kind === "task_chain") chains.add(change.chainId);
  }
  return displays.flatMap(({ name, numbers, chains: shown, problems }) => {
    const old = [...robots].filter(([robotId, number]) => numbers.get(robotId) !== number).length;
    const isWrong = [...chains].some((id) => !shown.has(id)) || shown.size !== chains.size;
    return [
      ...problems,
      ...(old > 0 ? [`${name}: ${old} robots are not the newest`] : []),
      ...(isWrong ? [`${name}: other chains`] : []),
    ];
  });
}

describe.each([1, 2, 3, 4])("1,000 robots and northbounds of different speed (seed %i)", (seed) => {
  it("have the newest state of every robot at rest, and each robot's events in order", async () => {
    const plant = createPlant(seed);
    const { below, state, fanOut } = plant;
    for (let robot = 0; robot < ROBOTS; robot += 1) fanOut.offer(state.set(`r${robot}`, 0));
    plant.sink("opcua", 1);
    plant.sink("api", 3);
    const links = [plant.link("mqtt", 2), plant.link("sparkplug", 5), plant.link("broker", 9)];
    let leave = () => {};
    await rest(plant);
    expect(differences(plant)).toEqual([]);
    for (let burst = 0; burst < 60; burst += 1) {
      for (let turns = 1 + below(6); turns > 0; turns -= 1) {
        // A few changes end between two turns, many overflow the queues.
        const most = [3, 30, 900][below(3)] ?? 1;
        for (let changes = below(most); changes >= 0; changes -= 1) plant.change();
        if (below(4) === 0) links[below(links.length)]?.cut();
        if (below(5) === 0) {
          leave();
          leave = plant.sink("page", 1 + below(9));
        }
        await turn();
      }
      await rest(plant);
      expect(differences(plant), `after burst ${burst}`).toEqual([]);
    }
    await Promise.all(links.map((link) => link.end()));
  });
});

it("a flood starves no northbound, and a turn hands over little more than its share", async () => {
  const plant = createPlant(5);
  for (const [name, ms] of Object.entries({ opcua: 3, api: 5, tail: 9 })) plant.sink(name, ms);
  const links = [plant.link("mqtt", 1), plant.link("mqtt2", 1), plant.link("sparkplug", 1)];
  let most = 0;
  for (let turns = 0; turns < 300; turns += 1) {
    plant.handedOver = 0;
    for (let changes = 0; changes < 400; changes += 1) plant.change();
    await turn();
    most = Math.max(most, plant.handedOver);
    for (const display of plant.displays) {
      display.waited += 1;
      display.longestWait = Math.max(display.longestWait, display.waited);
    }
  }
  // A slice has up to so many changes and as many events.
  expect(most).toBeLessThan(TURN_LENGTH + 2 * PER_TURN);
  for (const { name, longestWait } of plant.displays)
    expect(longestWait, name).toBeLessThanOrEqual(MOST_WAIT);
  await rest(plant);
  expect(differences(plant)).toEqual([]);
  await Promise.all(links.map((link) => link.end()));
});

it("a sink with room for more gets no slice longer than a turn", async () => {
  const state = createFakeState();
  const fanOut = createFanOut({ state, clock: createManualClock(), log: silentLog });
  const lengths: number[] = [];
  const write = ({ events }: Batch) => void lengths.push(events.length);
  fanOut.attachSink("opcua", { write }, { ...limits, perTurn: 500 });
  fanOut.offer({
    changes: [],
    events: Array.from({ length: 500 }, (_, index) => alarmEvent(`a${index}`, "r1")),
  });
  for (let turns = 0; turns < 10; turns += 1) await turn();
  expect(lengths).toEqual(Array(5).fill(TURN_LENGTH));
});
