import type { ComponentChild } from "preact";
import type { Command, PendingCommand } from "../../northbound/web/api/command.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { type Asked, commandOf, missionIdOf, withLog } from "../commanding/asked.ts";
import { makesMission, progressText } from "../fleet/command-words.ts";
import { commandKey } from "../fleet/fleet.ts";
import { whyText } from "../fleet/words.ts";
import { codesManualAddress, commandAddress } from "../route.ts";
import { say, word } from "../texts/texts.ts";
import { timeOfDay } from "../trust/time-text.ts";
import { usePage } from "./context.ts";
import { Link, Says } from "./parts.tsx";

const MOST_SHOWN = 5;
/** So long a command is shown here whose outcome is known: the log has all. */
const SHOWN_MS = 600_000;

/** Sent, accepted and standing: each from its own source. */
export function AskedList({ robot }: { readonly robot: Robot | null }) {
  const { asked, store } = usePage();
  const fleet = store.fleet.value;
  const isSilent = store.silence.value !== null;
  const hasSession = fleet?.isFleetLinkUp !== false;
  const log = [...(fleet?.commands.values() ?? [])];
  const oldestMs = store.now.value.wallMs - SHOWN_MS;
  const all = asked.all.value
    .map((each) => withLog(each, log))
    .filter((each) => !isSettled(each) || each.askedAtMs > oldestMs);
  const own = (robot === null ? all : all.filter((each) => each.robotId === robot.robot_id)).slice(
    -MOST_SHOWN,
  );
  if (own.length === 0) return null;
  return (
    <ul aria-label={say("asked")}>
      {own.reverse().map((each) => (
        <li key={each.id}>
          <Line
            asked={each}
            isNamed={robot === null && !each.label.includes(each.robotId)}
            state={
              isTaken(each) ? (
                <Taken
                  command={commandOf(each, log)}
                  missionId={missionIdOf(each)}
                  robot={fleet?.robots.get(each.robotId)?.robot ?? null}
                  isSilent={isSilent}
                />
              ) : (
                <>
                  {knownText(each, hasSession)}
                  {isRefused(each) && (
                    <>
                      {" "}
                      <a href={codesManualAddress}>{say("manual.more")}</a>
                    </>
                  )}
                </>
              )
            }
          />
          {each.known.state === "final" && each.known.response !== "" && (
            <details>
              <summary>{say("asked.answer")}</summary>
              <p class="id">{each.known.response}</p>
            </details>
          )}
        </li>
      ))}
      {robot !== null && <li>{say("asked.robot", { state: idleText(robot, isSilent) })}</li>}
    </ul>
  );
}

function Line(props: { readonly asked: Asked; readonly isNamed: boolean; readonly state: ComponentChild }) {
  const { askedAtMs, label, robotId } = props.asked;
  const shown = { time: timeOfDay(askedAtMs), label, state: props.state };
  return props.isNamed ? (
    <Says of="asked.lineOf" {...shown} robot={robotId} />
  ) : (
    <Says of="asked.line" {...shown} />
  );
}

function isRefused({ known }: Asked): boolean {
  return known.state === "refused" || (known.state === "final" && known.outcome === "refused");
}

/** Its outcome asks nobody to look at the robot. */
function isSettled({ known }: Asked): boolean {
  return known.state === "refused" || (known.state === "final" && known.outcome !== "unknown");
}

function isTaken({ operation, known }: Asked): boolean {
  return makesMission(operation) && known.state === "final" && known.outcome === "succeeded";
}

/** What has become of a command's mission, as far as the robot shows it. */
function Taken(props: {
  /** Null: the page has not received it. */
  readonly command: Command | null;
  readonly missionId: string | null;
  readonly robot: Robot | null;
  readonly isSilent: boolean;
}) {
  const { command, robot, isSilent } = props;
  const id = props.missionId ?? command?.mission_id ?? null;
  const progress = progressText(robot, id, isSilent);
  if (command === null)
    return progress === "" ? <Says of="asked.taken" /> : <Says of="asked.progress" progress={progress} />;
  const link = <Link to={commandAddress(commandKey(command))}>{say("asked.command")}</Link>;
  return progress === "" ? (
    <Says of="asked.takenOf" command={link} />
  ) : (
    <Says of="asked.progressOf" progress={progress} command={link} />
  );
}

/** The robot's own state, as in its first line. */
function idleText(robot: Robot, isSilent: boolean): string {
  const { reason } = robot.idle;
  const why = whyText(robot);
  if (reason === "UNKNOWN") return say("asked.robotUnknown", { why });
  const state = reason === "MOVING" ? say("asked.robotMoves") : say("asked.robotStands", { why });
  return isSilent ? say("asked.robotLast", { state }) : state;
}

/** The stage of a command that the gateway has. It is sent only when its call to the service leaves. */
function stageText(stage: PendingCommand["stage"], hasSession: boolean): string {
  if (stage !== "accepted") return word(stage);
  return say(hasSession ? "asked.notSentYet" : "asked.waitsForSession");
}

function knownText({ known }: Asked, hasSession: boolean): string {
  switch (known.state) {
    case "asked":
      return known.problem === "" ? say("asked.asked") : say("asked.notKnown", { problem: known.problem });
    case "taken": {
      const { problem, stage: reached } = known;
      const stage = stageText(reached, hasSession);
      if (problem === undefined)
        return reached === "received" ? say("asked.asked") : say("asked.stage", { stage });
      return reached === "received"
        ? say("asked.askedBut", { problem })
        : say("asked.stageBut", { stage, problem });
    }
    case "late":
      return say("asked.late", { problem: known.problem });
    case "not_known":
      return say(known.wasTaken ? "asked.lostTaken" : "asked.lost");
    case "final":
      return known.message === ""
        ? word(known.outcome)
        : say("asked.final", { outcome: word(known.outcome), message: known.message });
    case "refused":
      return say("asked.refused", { reason: known.reason });
  }
}
