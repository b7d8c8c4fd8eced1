import { int32, openPlc, type Plc, type Shown } from "../plc.ts";
import {
  type ControllerParts,
  createStationController,
  readNames,
  type Signals,
  type StationController,
  type WriteState,
} from "./station-controller.ts";
import type { StationPlant } from "./station-plant.ts";

/** Time as the plant has it. */
export interface LineTime {
  nowMs(): number;
  /** Resolves when so much of it has passed. */
  pass(durationMs: number): Promise<void>;
}

/** What people at the station want of its PLC. */
export type Wishes = Pick<Signals, "Enable" | "Load" | "Unload" | "Reset" | "Ready">;

export interface LineParts {
  readonly plant: StationPlant;
  readonly time: LineTime;
  readonly cycleMs: number;
  /** Where the gateway listens now. */
  readonly url: () => string;
  readonly constants: ControllerParts["constants"];
  readonly source?: string | undefined;
}

/** A PLC at the station, with its connection to the gateway. It goes on while that does not answer. */
export interface StationLine {
  readonly wishes: { -readonly [Name in keyof Wishes]: Wishes[Name] };
  /** What is broken of the line to the gateway. */
  readonly broken: {
    heartbeat: boolean;
    link: boolean;
    writes: boolean;
    /** What the block wants written in a step behind this one does not leave; null: all of it leaves. */
    silentAfter: number | null;
  };
  /** Runs one cycle, as long as it takes. */
  cycle(): Promise<void>;
  controller(): StationController;
  /** The power fails for so many cycles. */
  losePower(cycles: number, isMemoryKept: boolean): Promise<void>;
  /** The connection is cut without a word. */
  cut(): Promise<void>;
  close(): Promise<void>;
}

const tag = (name: string) => `Stations.dock.${name}`;
const idle: WriteState = { WriteBusy: false, WriteDone: true, WriteError: false };

export function createStationLine(parts: LineParts): StationLine {
  const { plant, time, cycleMs } = parts;
  const wishes = { Enable: true, Load: false, Unload: false, Reset: false, Ready: true };
  const broken = { heartbeat: false, link: false, writes: false, silentAfter: null as number | null };
  let writes = 0;
  const newController = (retained?: ControllerParts["retained"]) =>
    createStationController({ ...parts, nowMs: time.nowMs, retained });
  let controller = newController();
  let plc: Plc | null = null;
  let connecting = false;
  let reading: Promise<void> | null = null;
  let read: readonly Shown[] | null = null;
  let write = idle;
  let writing: Promise<void> | null = null;
  let beating: Promise<void> | null = null;

  /** Goes on with whatever comes first: what is asked for, or the end of the cycle. */
  const within = (asked: Promise<unknown> | null, end: Promise<void>) => Promise.race([asked ?? end, end]);

  async function drop(gone: Plc | null): Promise<void> {
    if (gone === null || gone !== plc) return;
    plc = null;
    if (write.WriteBusy) write = { WriteBusy: false, WriteDone: false, WriteError: true };
    reading = writing = beating = null;
    await gone.abandon().catch(() => {});
  }

  function connect(): void {
    if (plc !== null || connecting || broken.link) return;
    connecting = true;
    openPlc(parts.url(), undefined, 0)
      .then(
        async (opened) => {
          if (broken.link) return opened.abandon();
          plc = opened;
          opened.lost().catch(() => void drop(opened));
          return undefined;
        },
        () => {},
      )
      .finally(() => {
        connecting = false;
      });
  }

  /** Asks without being waited for; whatever fails ends the connection. */
  function ask(to: Plc, asking: Promise<unknown>, done: () => void): Promise<void> {
    return asking.then(
      () => {
        if (to === plc) done();
      },
      () => drop(to),
    );
  }

  function beginRead(to: Plc): void {
    reading ??= ask(
      to,
      to.shown(...readNames.map(tag)).then((values) => {
        if (to === plc) read = values;
      }),
      () => {
        reading = null;
      },
    );
  }

  const isSilent = () => broken.silentAfter !== null && controller.number("StepNo") > broken.silentAfter;

  function beginWrites(to: Plc): void {
    if (controller.is("DoWrite") && writing === null && !isSilent()) {
      const value = Int32Array.from(controller.command());
      write = { WriteBusy: true, WriteDone: false, WriteError: false };
      writes += 1;
      // While writes are broken, every second one arrives all the same.
      const isLost = broken.writes && writes % 2 === 0;
      const command = { dataType: "Int32", arrayType: "Array", value } as const;
      const asked = isLost ? Promise.resolve() : to.write([tag("Slot.Command"), command]);
      const ended = broken.writes ? { WriteBusy: false, WriteDone: false, WriteError: true } : idle;
      writing = ask(to, asked, () => {
        writing = null;
        write = ended;
      });
    }
    if (broken.heartbeat) return;
    const permit = { dataType: "Boolean", value: controller.is("Permit") } as const;
    const beat = [tag("Slot.Heartbeat"), int32(controller.number("Heartbeat"))] as const;
    beating ??= ask(to, to.write(beat, [tag("Permit"), permit]), () => {
      beating = null;
    });
  }

  return {
    wishes,
    broken,
    controller: () => controller,
    async cycle() {
      const end = time.pass(cycleMs);
      connect();
      if (plc !== null) beginRead(plc);
      await within(reading, end);
      const tags = read;
      read = null;
      plant.tick();
      controller.cycle({ ...wishes, ...plant.signals() }, tags, write);
      plant.drive(controller.is("Run"));
      if (plc !== null) beginWrites(plc);
      await within(writing, end);
      await end;
      plant.tick();
    },
    async losePower(cycles, isMemoryKept) {
      plant.drive(false);
      const retained = controller.retained();
      await drop(plc);
      for (let count = 0; count < cycles; count += 1) {
        await time.pass(cycleMs);
        plant.tick();
      }
      read = null;
      write = idle;
      controller = newController(isMemoryKept ? retained : undefined);
    },
    cut: () => drop(plc),
    async close() {
      broken.link = true;
      await plc?.close();
    },
  };
}
