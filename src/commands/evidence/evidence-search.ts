import type { FleetPort } from "../../contracts/fleet-port.ts";
import type { EvidenceQuery, EvidenceRule } from "../../contracts/operation.ts";
import type { MissionQueue } from "../../domain/mission.ts";
import type { Observed } from "../../domain/observed.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { Conveyor, RobotId } from "../../domain/robot.ts";
import type { Log } from "../../platform/log.ts";
import type { Attribution } from "../attribution/attribution.ts";
import type { Shared } from "../parts.ts";
import { seekInAnswers, seekInWatch } from "./seek.ts";
import {
  type OpenWatch,
  type SeenTimes,
  seeConveyor,
  seeMissions,
  startWatch,
  verdict,
  type Watch,
  type WatchBaseline,
  type WatchRule,
} from "./watch.ts";

export interface EvidenceSearchParts extends Pick<Shared, "options" | "clock" | "port" | "log"> {
  readonly attribution: Pick<Attribution, "isOthers" | "isExpected">;
  /** Called for a finding about a command whose outcome was already final. */
  readonly onLate: (commandId: string, text: string) => void;
}

/** Finds evidence of the effects of commands, in the messages of robots and in answers of the service. */
export interface EvidenceSearch {
  /** Begins to watch, before the call leaves. `sentAtMs` is wall time, as in the journal. */
  watch(
    commandId: string,
    rule: WatchRule,
    robotId: RobotId,
    baseline: WatchBaseline,
    sentAtMs: number,
  ): void;
  /** The answers from before the call, condensed; null: they could not be read. */
  baseline(rule: QueryRule): Promise<unknown>;
  /** Resolves with the outcome that the evidence shows, or with `otherwise` if there is none in time. */
  seek(commandId: string, rule: EvidenceRule, baseline: unknown, otherwise: Outcome): Promise<Outcome>;
  /** Ends the watch, or (`isLate`) keeps it for a while for findings that are only published as an event. */
  release(commandId: string, isLate: boolean): void;
  missions(robotId: RobotId, observed: Observed<MissionQueue>): void;
  conveyor(robotId: RobotId, observed: Observed<Conveyor>): void;
}

const LATE_MS = 600_000;
const LOOK_AGAIN_MS = 1_000;
const MAX_LATE = 256;

export function createEvidenceSearch(parts: EvidenceSearchParts): EvidenceSearch {
  const { clock, options, attribution } = parts;
  const watches = createOpenWatches();
  const late = createLateFindings(parts, watches);
  const answers = createServiceAnswers(parts.port, parts.log, Math.ceil(options.evidenceMs / 3));

  /**
   * Converts a wall time to the monotonic clock. Right for recent times only: the wall clock may have been
   * set since.
   */
  const monotonicOf = (wallMs: number) => wallMs - (clock.nowMs() - clock.monotonicMs());
  const timesOf = ({ stamp }: Observed<unknown>): SeenTimes => ({
    receivedMs: monotonicOf(stamp.receivedAtMs),
    nowMs: clock.monotonicMs(),
  });

  /**
   * Every watch takes the message before any of them decides: a mission that fits two is evidence for
   * neither.
   */
  function update(
    robotId: RobotId,
    observed: Observed<unknown>,
    see: (open: OpenWatch, times: SeenTimes) => Watch,
  ): void {
    // Nearly every message is of a robot that no command watches.
    if (!watches.areOf(robotId)) return;
    const times = timesOf(observed);
    for (const open of watches.update(robotId, (each) => see(each, times))) {
      if (open.use.kind === "seeking") open.use.look();
      else late.look(open);
    }
  }

  return {
    watch(commandId, rule, robotId, baseline, sentAtMs) {
      // A command of an earlier run left before now, whatever the wall clock says.
      const sentMs = Math.min(monotonicOf(sentAtMs), clock.monotonicMs());
      watches.open(commandId, startWatch(rule, robotId, baseline, sentMs));
    },
    baseline: answers.baseline,
    seek(commandId, rule, baseline, otherwise) {
      if (rule.kind === "none") return Promise.resolve(otherwise);
      if (rule.kind === "query") {
        return seekInAnswers(parts, () => answers.evaluate(rule, baseline), otherwise);
      }
      const open = watches.find(commandId);
      return open === undefined ? Promise.resolve(otherwise) : seekInWatch(parts, open, otherwise);
    },
    release(commandId, isLate) {
      const open = watches.find(commandId);
      if (isLate && open !== undefined) late.begin(open);
      else watches.close(commandId);
    },
    missions(robotId, observed) {
      update(robotId, observed, ({ watch, commandId }, times) =>
        seeMissions(watch, observed, (missionId) => attribution.isOthers(missionId, commandId), times),
      );
    },
    conveyor(robotId, observed) {
      update(robotId, observed, ({ watch }, times) => seeConveyor(watch, observed, times));
    },
  };
}

/** Every open watch, by command and by robot. */
interface OpenWatches {
  /** Opens a watch, and replaces an earlier one of the same command. */
  open(commandId: string, watch: Watch): void;
  find(commandId: string): OpenWatch | undefined;
  close(commandId: string): void;
  /** Whether any command watches the robot. */
  areOf(robotId: RobotId): boolean;
  /** The watches of other commands on the same robot. */
  besides(open: OpenWatch): readonly OpenWatch[];
  /** Replaces the watches of a robot by the results of `see`. Returns the changed ones. */
  update(robotId: RobotId, see: (open: OpenWatch) => Watch): readonly OpenWatch[];
}

function createOpenWatches(): OpenWatches {
  const byCommand = new Map<string, OpenWatch>();
  const byRobot = new Map<RobotId, Set<OpenWatch>>();

  function close(commandId: string): void {
    const open = byCommand.get(commandId);
    if (open === undefined) return;
    byCommand.delete(commandId);
    const ofRobot = byRobot.get(open.watch.robotId);
    ofRobot?.delete(open);
    if (ofRobot?.size === 0) byRobot.delete(open.watch.robotId);
  }

  return {
    open(commandId, watch) {
      close(commandId);
      const open: OpenWatch = { commandId, watch, use: { kind: "idle" } };
      byCommand.set(commandId, open);
      const ofRobot = byRobot.get(watch.robotId) ?? new Set();
      byRobot.set(watch.robotId, ofRobot.add(open));
    },
    find: (commandId) => byCommand.get(commandId),
    close,
    areOf: (robotId) => byRobot.has(robotId),
    besides: (open) => [...(byRobot.get(open.watch.robotId) ?? [])].filter((other) => other !== open),
    update(robotId, see) {
      const changed: OpenWatch[] = [];
      for (const open of byRobot.get(robotId) ?? []) {
        const watch = see(open);
        if (watch === open.watch) continue;
        open.watch = watch;
        changed.push(open);
      }
      return changed;
    },
  };
}

/** Keeps watching for a while after an outcome is final. */
function createLateFindings({ clock, attribution, onLate }: EvidenceSearchParts, watches: OpenWatches) {
  const late: string[] = [];

  function look(open: OpenWatch): void {
    const { commandId, use, watch } = open;
    if (use.kind !== "late" || use.isPlanned || watches.find(commandId) !== open) return;
    const findings = watch.findings.filter(
      ({ missionId }) => missionId === null || !attribution.isOthers(missionId, commandId),
    );
    open.watch = { ...watch, findings };
    const said = verdict(open.watch, clock.monotonicMs(), 0);
    const isOver = clock.monotonicMs() > use.untilMs;
    if (said.kind === "found" && !isOver) {
      if (mayBelongToAnother(open)) {
        plan(open, use.untilMs);
        return;
      }
      onLate(commandId, said.text);
    }
    if (said.kind !== "nothing" || isOver) watches.close(commandId);
  }

  function plan(open: OpenWatch, untilMs: number): void {
    open.use = { kind: "late", untilMs, isPlanned: true };
    clock.after(LOOK_AGAIN_MS, () => {
      open.use = { kind: "late", untilMs, isPlanned: false };
      look(open);
    });
  }

  /**
   * Streams are faster than answers: a new mission may be that of the next command, whose answer has not come
   * yet. Only missions can be confused in this way: the state of a mission or a conveyor belongs to no
   * command.
   */
  function mayBelongToAnother(open: OpenWatch): boolean {
    if (open.watch.rule.kind !== "new_mission") return false;
    const keys = new Set(open.watch.findings.map(({ key }) => key));
    const isShared = watches
      .besides(open)
      .some(({ watch }) => watch.findings.some(({ key }) => keys.has(key)));
    return isShared || attribution.isExpected(open.watch.robotId);
  }

  return {
    begin(open: OpenWatch): void {
      const untilMs = clock.monotonicMs() + LATE_MS;
      open.use = { kind: "late", untilMs, isPlanned: false };
      late.push(open.commandId);
      const oldest = late.length > MAX_LATE ? late.shift() : undefined;
      if (oldest !== undefined) watches.close(oldest);
      // A finding that came just before the end has not stood alone for long enough yet.
      if (open.watch.findings.length > 0) plan(open, untilMs);
    },
    /** The watch has changed. */
    look,
  };
}

type QueryRule = Extract<EvidenceRule, { kind: "query" }>;

/** Finds evidence in answers of the service. Never rejects. */
export interface ServiceAnswers {
  /** The answers from before the call, condensed; null: they could not be read. */
  baseline(rule: QueryRule): Promise<unknown>;
  /** The evidence in the answers, as one sentence; null: none. */
  evaluate(rule: QueryRule, baseline: unknown): Promise<string | null>;
}

/** @param deadlineMs how long the service has for one answer */
function createServiceAnswers(port: FleetPort, log: Log, deadlineMs: number): ServiceAnswers {
  async function askAll(queries: readonly EvidenceQuery[]): Promise<readonly unknown[] | null> {
    const answers: unknown[] = [];
    for (const query of queries) {
      const request = query.request(answers);
      if (request === null) return answers;
      const ending = await port.call(request, deadlineMs);
      if (ending.kind !== "ok") return null;
      answers.push(JSON.parse(ending.responseJson));
    }
    return answers;
  }

  return {
    async baseline(rule) {
      if (rule.baseline === undefined) return null;
      try {
        const answers = await askAll(rule.queries);
        return answers === null ? null : rule.baseline(answers);
      } catch (error) {
        log.warn({ err: error }, "an answer of the service could not be kept as the state before a command");
        return null;
      }
    },
    async evaluate(rule, baseline) {
      try {
        const answers = await askAll(rule.queries);
        return answers === null ? null : rule.evaluate(answers, baseline);
      } catch (error) {
        log.warn({ err: error }, "an answer of the service could not be judged as evidence");
        return null;
      }
    },
  };
}
