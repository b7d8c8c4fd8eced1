import { z } from "zod";
import {
  type DispatcherOptions,
  type IntakeOptions,
  intakeDefaults,
  type SourceRate,
  dispatcherDefaults as usual,
} from "../../commands/options.ts";
import { count, milliseconds } from "../fields.ts";
import { type Finding, unwise, wrong } from "../finding.ts";

/** `conveyors:` the settings for the conveyors of all robots. */
export const conveyorsSection = z
  .strictObject({
    maxRunMs: z
      .int()
      .min(1_000)
      .max(3_600_000)
      .optional()
      .describe(
        "After so long the gateway stops a conveyor that nobody started through a station. Default: never.",
      ),
  })
  .prefault({})
  .describe("Conveyors of robots.");

type ConveyorsSection = z.output<typeof conveyorsSection>;

/**
 * How long the service waits for a robot before it answers (docs/internals/service.md, How deployed services
 * behave).
 */
const ROBOT_WAIT_MS = 10_000;

const DAY_MS = 86_400_000;
/** A record must outlive every command that may still be sent. */
const SHORTEST_KEEP_MS = 2 * 3_600_000;

/** `commands:` the times and bounds of every command, of every protocol. */
export const commandsSection = z
  .strictObject({
    startByMs: milliseconds(
      100,
      3_600_000,
      intakeDefaults.startByMs,
      "How long after its receipt a command without an expiry may leave.",
    ),
    callDeadlineMs: milliseconds(
      1_000,
      120_000,
      usual.callDeadlineMs,
      "A call waits for the service, which itself waits 10 s for a robot.",
    ),
    evidenceMs: milliseconds(
      0,
      120_000,
      usual.evidenceMs,
      "How long the gateway seeks evidence after an unknown end.",
    ),
    settleMs: milliseconds(
      0,
      60_000,
      usual.settleMs,
      "How long a mission must be the only new one to count as evidence.",
    ),
    pollMs: milliseconds(
      100,
      60_000,
      usual.pollMs,
      "Between two queries for evidence; longest wait before a repetition.",
    ),
    stopSyncMs: milliseconds(
      0,
      5_000,
      usual.stopSyncMs,
      "A stop waits for the disk; then it leaves without a record.",
    ),
    drainMs: milliseconds(0, 120_000, 16_000, "A shutdown waits for answers; then outcomes are unknown."),
    maxQueue: count(1, 1_000, usual.maxQueue, "Commands of a robot behind the one in flight."),
    maxCommands: count(
      1,
      100_000,
      intakeDefaults.maxCommands,
      `Commands under way; of one source ${intakeDefaults.maxCommandsOfSource} at most. Stops have as many again.`,
    ),
    maxReads: count(1, 1_000, usual.maxReads, "Reads of a robot in flight."),
    journal: z
      .strictObject({
        keepMs: milliseconds(
          SHORTEST_KEEP_MS,
          366 * DAY_MS,
          7 * DAY_MS,
          "For so long, in running time, the same id is the same command.",
        ),
        keepCount: count(1_000, 10_000_000, 100_000, "Records at most."),
      })
      .prefault({})
      .describe("Records of commands."),
    audit: z
      .strictObject({
        maxBytes: count(
          100_000,
          1_000_000_000,
          10_000_000,
          "Size at which a new file of the audit log begins.",
        ),
        keep: count(1, 1_000, 10, "Older files that stay."),
        journald: z.boolean().default(false).describe("Whether each line goes to systemd's journal too."),
      })
      .prefault({})
      .describe("The audit log."),
  })
  .prefault({})
  .describe("Times and bounds of commands, of every protocol.");

type CommandsSection = z.output<typeof commandsSection>;

/** What the section says, as the dispatcher wants it. */
export function dispatcherOptions(section: CommandsSection, conveyors: ConveyorsSection): DispatcherOptions {
  const {
    startByMs: _intake,
    maxCommands: _ofIntake,
    journal: _store,
    audit: _log,
    drainMs: _shutdown,
    ...times
  } = section;
  return { ...times, maxRunMs: conveyors.maxRunMs ?? null };
}

/** The options of the intake. `mqttRate` is that of each MQTT client. */
export function intakeOptions(
  { startByMs, maxCommands }: CommandsSection,
  mqttRate: SourceRate | undefined,
): IntakeOptions {
  const rates = mqttRate === undefined ? {} : { mqtt: mqttRate };
  return { ...intakeDefaults, startByMs, maxCommands, rates };
}

/** Keys of `commands` that contradict each other, or the limits of services. */
export function commandsFindings(section: CommandsSection): readonly Finding[] {
  const findings: Finding[] = [];
  if (section.callDeadlineMs <= ROBOT_WAIT_MS) {
    findings.push(
      unwise(
        ["commands", "callDeadlineMs"],
        "the service waits 10 s for a robot: a shorter deadline makes outcomes unknown that it would have told",
      ),
    );
  }
  if (section.settleMs > section.evidenceMs) {
    findings.push(wrong(["commands", "settleMs"], "must not be more than evidenceMs"));
  }
  return findings;
}
