import { createDispatcher, type Dispatcher } from "../../src/commands/dispatcher.ts";
import type { Intake } from "../../src/commands/intake/intake.ts";
import { dispatcherDefaults, type Rights } from "../../src/commands/options.ts";
import type { CallEnding } from "../../src/contracts/fleet-port.ts";
import type { Catalogue, ParsedRequest } from "../../src/contracts/operation.ts";
import type { Mission } from "../../src/domain/mission.ts";
import { isJsonObject } from "../../src/platform/json.ts";
import { createLive } from "../../src/platform/live.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createRunningTime, type RunningTime } from "../../src/platform/running-time.ts";
import { createTestIntake, envelopeOf } from "../support/intake-harness.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { emptyAlarmBook } from "../support/test-alarms.ts";
import { openTestRequest } from "../support/test-requests.ts";
import { mission, missions, plc } from "./commands-harness.ts";
import { createLossyDisk } from "./lossy-store.ts";
import {
  BrokenPromise,
  checkSender,
  isNotYetRecorded,
  isUnrecorded,
  type Received,
  type Sender,
} from "./model-record.ts";
import { type Answer, answers, robots, type Step } from "./model-steps.ts";
import { testCatalogue, testStopRequest } from "./operations.ts";

/** Longer than a world lives, and shorter than its wall clock is set by. */
const KEEP_MS = 7 * 86_400_000;

/** A part of the dispatcher's promise that is taken away, to see that the model misses it. */
export type Defect = "sync" | "expiry" | "queue" | "evidence" | "pruning";

interface PendingCall {
  readonly received: Received;
  readonly resolve: (ending: CallEnding) => void;
}

/** The world around one dispatcher, and the promises that are checked in it. */
export class World {
  readonly clock = createManualClock();
  readonly disk;
  readonly received: Received[] = [];
  readonly senders: Sender[] = [];
  readonly lists = new Map<string, Mission[]>(robots.map((robotId) => [robotId, []]));
  /** Robots whose list is known to this dispatcher, and commands that were sent when it was. */
  readonly listed = new Set<string>();
  readonly late: Received[] = [];
  readonly good = new Set<string>(robots);
  readonly defect: Defect | null;
  pending: PendingCall[] = [];
  /** Promises seen broken where nothing can be thrown. */
  readonly broken: string[] = [];
  life = 0;
  /** What the file of the running time says. */
  keptTimeMs = 0;
  queues = 0;
  names = 0;
  dispatcher: Dispatcher;

  constructor(defect: Defect | null) {
    this.defect = defect;
    this.disk = createLossyDisk(defect === "sync");
    this.dispatcher = this.open();
  }

  open(): Dispatcher {
    this.life += 1;
    const { life } = this;
    return createDispatcher({
      config: {
        options: dispatcherDefaults,
        rights: createLive<Rights>({ rules: [{ source: plc, role: "engineer" }], accounts: [] }),
        stations: createLive([]),
      },
      fleet: {
        catalogue: this.catalogue(),
        port: {
          call: (request, _deadlineMs, _leaveWithinMs, order) => {
            const { operation, requestJson } = openTestRequest(request);
            order?.leaves?.();
            return life === this.life ? this.receive(operation, requestJson) : new Promise(() => {});
          },
        },
        robot: (robotId) => ({
          robotId,
          family: "cart",
          quality: this.good.has(robotId.slice(0, 5)) ? "good" : "stale",
        }),
        stopRequest: testStopRequest,
      },
      journal: openJournalOn(this.disk.open(), { keepMs: KEEP_MS, keepCount: 1_000 }, this.time()),
      earlierRuns: {},
      outputs: { deliver() {}, alarmRegistry: emptyAlarmBook(this.clock), audit() {} },
      clock: this.clock,
      log: silentLog,
      sessionId: `life${life}`,
    });
  }

  /**
   * What records age by: with the defect, the wall clock, though not how it is set while the gateway runs.
   */
  time(): RunningTime {
    const { clock } = this;
    if (this.defect !== "pruning") return createRunningTime(this.keptTimeMs, clock);
    const startedAtMs = clock.nowMs() - clock.monotonicMs();
    return { totalMs: () => Math.min(clock.nowMs(), startedAtMs + clock.monotonicMs()), atLeast() {} };
  }

  intake(): Intake {
    const { clock, dispatcher: execution } = this;
    return createTestIntake({ catalogue: this.catalogue(), clock, execution });
  }

  /** The test operations, with what a planted defect takes away. */
  catalogue(): Catalogue {
    const bent = (request: ParsedRequest): ParsedRequest => {
      if (this.defect === "evidence") return { ...request, evidence: { kind: "none" } };
      if (this.defect !== "queue" || request.robotId === null) return request;
      this.queues += 1;
      return { ...request, subject: { kind: "robot", robotId: `${request.robotId}#${this.queues}` } };
    };
    return new Map(
      [...testCatalogue].map(([name, operation]) => [
        name,
        {
          ...operation,
          parse(json: unknown) {
            const parsed = operation.parse(json);
            return parsed.ok ? { ok: true as const, request: bent(parsed.request) } : parsed;
          },
        },
      ]),
    );
  }

  async begin(): Promise<void> {
    const starting = this.dispatcher.start();
    this.disk.sync();
    await this.clock.settle(0);
    this.disk.sync();
    await starting;
    this.dispatcher.fleetLink(true);
    // A subscription begins with what is the case.
    for (const robotId of robots) this.stream(robotId);
  }

  async step(step: Step): Promise<void> {
    switch (step.kind) {
      case "send":
        this.submit(this.compose(step));
        break;
      case "repeat":
      case "reuse": {
        const sender = this.senders[step.which];
        if (sender === undefined) return;
        if (step.kind === "repeat") this.submit(sender);
        else this.submitOther(sender);
        break;
      }
      case "answer":
        this.answer(step.which, answers[step.answer] ?? "ok");
        break;
      case "sync":
        this.disk.sync();
        break;
      case "crash":
        await this.crash(step.jumpMs);
        break;
      case "late_effects":
        for (const received of this.late.splice(0)) this.takeEffect(received);
        break;
      case "stream":
        this.stream(robots[step.robot] ?? "AMR01");
        break;
      case "foreign":
        this.names += 1;
        this.lists
          .get(robots[step.robot] ?? "AMR01")
          ?.push(mission(`f${this.names}`, `elsewhere${this.names}`));
        break;
      case "quality": {
        const robotId = robots[step.robot] ?? "AMR01";
        if (step.good) this.good.add(robotId);
        else this.good.delete(robotId);
        break;
      }
      case "pass":
        await this.clock.settle(step.ms);
        break;
      case "jump":
        this.clock.jump(step.ms);
        break;
    }
    await this.clock.settle(0);
    this.checkQueues();
  }

  compose(step: Extract<Step, { kind: "send" }>): Sender {
    const token = `t${this.senders.length}`;
    const robotId = robots[step.robot] ?? "AMR01";
    const operation = ["Go", "Go", "Go", "Skip", "Halt"][step.operation] ?? "Go";
    const sender: Sender = {
      token,
      command: {
        source: plc,
        requestId: token,
        operation,
        effect: "moves",
        robotId,
        requestJson: JSON.stringify({ robot: robotId, to: token }),
        startByMs: this.clock.nowMs() + step.startMs,
      },
      told: [],
      startByMs: 0,
      shownAtMs: null,
      finalAtMs: null,
      crashedBeforeEnd: false,
    };
    this.senders.push(sender);
    return sender;
  }

  submit(sender: Sender): void {
    const { life } = this;
    const { command } = sender;
    const leftMs = command.startByMs - this.clock.nowMs();
    sender.startByMs = Math.max(sender.startByMs, this.clock.monotonicMs() + leftMs);
    const startByMs = this.defect === "expiry" ? Number.MAX_SAFE_INTEGER : command.startByMs;
    const envelope = envelopeOf({ ...command, startByMs }, this.clock.nowMs());
    void this.intake()
      .submit(envelope, null)
      .then((outcome) => {
        if (life !== this.life) return;
        const isForgotten =
          isUnrecorded(outcome) || (isNotYetRecorded(outcome) && outcome.outcome === "expired");
        if (isForgotten && this.received.some(({ token }) => token === sender.token)) {
          this.broken.push(`${sender.token} was told ${outcome.code}, and was sent`);
        }
        sender.told.push(outcome);
        if (!isNotYetRecorded(outcome)) sender.finalAtMs ??= this.clock.monotonicMs();
      });
  }

  /** Another command under the same identity: it must be refused, always. */
  submitOther({ command, told }: Sender): void {
    if (told.length === 0) return;
    const request = { robot: command.robotId, to: "another" };
    const other = { ...command, operation: "Go", requestJson: JSON.stringify(request) };
    const envelope = envelopeOf(other, this.clock.nowMs());
    void this.intake()
      .submit(envelope, null)
      .then((outcome) => {
        if (outcome.code !== "IDENTITY_REUSED") this.broken.push(`another command got ${outcome.code}`);
      });
  }

  /** The service hears a call. Here the journal must already know of it. */
  receive(operation: string, requestJson: string): Promise<CallEnding> {
    const request: unknown = JSON.parse(requestJson);
    const { robot, to } = isJsonObject(request) ? request : {};
    const token = String(to);
    const received: Received = {
      token,
      operation,
      robotId: String(robot),
      life: this.life,
      answered: null,
      hadEffect: false,
      lostAtMs: null,
    };
    this.received.push(received);
    if (this.listed.has(received.robotId)) this.listed.add(token);
    const entry = this.disk.durable(`commands/opcua:plc/${token}`);
    if (operation !== "Halt" && (!isJsonObject(entry) || entry.sentAtMs === null)) {
      this.broken.push(`${operation} ${token} left before its record was synced`);
    }
    const sender = this.senders.find((each) => each.token === token);
    if (operation !== "Halt" && sender !== undefined && this.isTooLate(sender)) {
      this.broken.push(`${operation} ${token} left after its expiry`);
    }
    return new Promise((resolve) => this.pending.push({ received, resolve }));
  }

  /** Its senders name a time from the receipt, which a wall clock that is set does not change. */
  isTooLate({ startByMs }: Sender): boolean {
    return this.clock.monotonicMs() > startByMs;
  }

  answer(which: number, answer: Answer): void {
    const call = this.pending[which % Math.max(1, this.pending.length)];
    if (call === undefined) return;
    this.pending = this.pending.filter((other) => other !== call);
    const { received, resolve } = call;
    const ending = this.endingOf(received, answer);
    if (ending.kind === "unknown") received.lostAtMs = this.clock.monotonicMs();
    resolve(ending);
  }

  endingOf(received: Received, answer: Answer): CallEnding {
    const lost: CallEnding = { kind: "unknown", code: "UNAVAILABLE", message: "cut" };
    switch (answer) {
      case "ok":
        received.answered = "ok";
        this.takeEffect(received);
        return { kind: "ok", responseJson: "{}", missionId: `m-${received.token}` };
      case "refused":
        received.answered = "refused";
        return { kind: "refused", code: "FAILED_PRECONDITION", message: "no" };
      case "not_sent":
        this.received.splice(this.received.indexOf(received), 1);
        return { kind: "not_sent", message: "no connection" };
      case "lost_before":
        return lost;
      case "lost_after":
        this.takeEffect(received);
        return lost;
      case "late":
        this.late.push(received);
        return lost;
    }
  }

  takeEffect(received: Received): void {
    received.hadEffect = true;
    if (received.operation === "Go") {
      this.lists.get(received.robotId)?.push(mission(`m-${received.token}`, received.token));
    }
  }

  /** A message of the mission stream. Those that never come are dropped ones. */
  stream(robotId: string): void {
    const list = this.lists.get(robotId) ?? [];
    const nowMs = this.clock.monotonicMs();
    for (const sender of this.senders) {
      const sent = this.received.find(({ token }) => token === sender.token);
      const isShown = list.some(({ missionId }) => missionId === `m-${sender.token}`);
      if (isShown && sent?.life === this.life && this.listed.has(sender.token)) sender.shownAtMs ??= nowMs;
    }
    this.dispatcher.stage.apply(
      { changes: [missions(robotId, this.clock.nowMs(), ...list)], events: [] },
      () => {},
    );
    // Whatever is sent from now on has a list from before its call.
    this.listed.add(robotId);
  }

  /** Also what is kept in memory of times is gone: only the wall clock is there to go by, and it may lie. */
  async crash(jumpMs: number): Promise<void> {
    this.disk.crash();
    for (const sender of this.senders) if (sender.finalAtMs === null) sender.crashedBeforeEnd = true;
    // What is on the wire may still reach the robot.
    for (const { received } of this.pending) this.late.push(received);
    this.pending = [];
    this.listed.clear();
    this.clock.jump(jumpMs);
    this.dispatcher = this.open();
    await this.begin();
  }

  /**
   * Everything comes to its end: the service answers, the disk syncs, senders without an outcome ask again.
   */
  async finish(): Promise<void> {
    for (let round = 0; round < 40; round += 1) {
      for (const sender of this.senders) if (sender.told.length === 0) this.submit(sender);
      this.disk.sync();
      await this.clock.settle(0);
      while (this.pending.length > 0) this.answer(0, "ok");
      for (const robotId of robots) this.stream(robotId);
      await this.clock.settle(1_000);
      this.disk.sync();
      await this.clock.settle(0);
    }
    for (const sender of this.senders) this.submit(sender);
    await this.clock.settle(0);
    this.disk.sync();
    await this.clock.settle(0);
  }

  /** One command in flight for a robot; stops are beside it. */
  checkQueues(): void {
    for (const robotId of robots) {
      const inFlight = this.pending.filter(
        ({ received }) => received.robotId === robotId && received.operation !== "Halt",
      );
      if (inFlight.length > 1)
        throw new BrokenPromise(`${inFlight.length} commands in flight for ${robotId}`);
    }
  }

  /** Holds every outcome that was told against the service's own record. */
  check(): void {
    if (this.broken.length > 0) throw new BrokenPromise(this.broken.join("; "));
    for (const sender of this.senders) checkSender(sender, this.received);
  }
}
