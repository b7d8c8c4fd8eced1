import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { Command, Commands } from "../../northbound/web/api/command.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { getOnce } from "../api.ts";
import {
  commandWord,
  makesMission,
  operationText,
  progressText,
  saysText,
  sourceText,
} from "../fleet/command-words.ts";
import { commandKey, MOST_COMMANDS, withCommands } from "../fleet/fleet.ts";
import { pauseOf } from "../fleet/pauses.ts";
import { type CommandFilter, commandAddress, robotAddress } from "../route.ts";
import { say } from "../texts/texts.ts";
import { usePage } from "./context.ts";
import { Ago, Link, Says, Table, Time, Word } from "./parts.tsx";

/** The newest commands first: those in the gateway's memory, and those of the stream. */
export function CommandLog(props: {
  readonly caption: string;
  readonly robotId?: string;
  readonly filter?: CommandFilter;
}) {
  const { filter, robotId } = props;
  const { remembered, problem, isRead } = useCommands();
  const isShown = (command: Command) =>
    filter === undefined ? command.robot_id === robotId : isWanted(command, filter);
  const shown = [...remembered.values()].filter(isShown).reverse();
  return (
    <>
      {problem !== "" && <p class="warning">{say("log.problem", { problem })}</p>}
      {shown.length > 0 && <CommandTable {...props} commands={shown} />}
      {shown.length === 0 && problem === "" && (
        <p class="muted">{isRead ? say("log.none", { caption: props.caption }) : say("command.reading")}</p>
      )}
    </>
  );
}

/**
 * The commands in the gateway's memory, with those that the stream has brought since.
 *
 * @param robotId reads those of this robot alone; it must stay the same as long as the view is there
 * @param isNeeded false: it reads none yet
 */
export function useCommands(robotId?: string, isNeeded = true) {
  const { store } = usePage();
  const read = useSignal<readonly Command[]>([]);
  const problem = useSignal("");
  const isRead = useSignal(false);
  const needed = useSignal(isNeeded);
  if (isNeeded && !needed.peek()) needed.value = true;
  const session = useComputed(() => (needed.value ? (store.fleet.value?.sessionId ?? "") : ""));
  useSignalEffect(() => {
    // Read again when another run of the gateway answers.
    if (session.value === "") return;
    const ofRobot = robotId === undefined ? "" : `&robot=${encodeURIComponent(robotId)}`;
    return getOnce<Commands>(`/commands?limit=${MOST_COMMANDS}${ofRobot}`, (answer) => {
      problem.value = "problem" in answer ? answer.problem : "";
      if ("value" in answer) read.value = [...answer.value.commands].reverse();
      isRead.value = true;
    });
  });
  const received = [...(store.fleet.value?.commands.values() ?? [])];
  return {
    remembered: withCommands(withCommands(new Map(), read.value), received),
    problem: problem.value,
    isRead: isRead.value,
  };
}

/** What has paused a robot, of any. @param isNeeded false: none is paused, and no commands are read */
export function usePauses(isNeeded: boolean): (robot: Robot) => Command | null {
  const { remembered } = useCommands(undefined, isNeeded);
  const commands = [...remembered.values()];
  return (robot) => pauseOf(commands, robot);
}

function CommandTable(props: {
  readonly caption: string;
  readonly robotId?: string;
  readonly commands: readonly Command[];
}) {
  const { caption, commands } = props;
  // A table of one robot need not name it in each row.
  const isOfAll = props.robotId === undefined;
  return (
    <Table
      caption={caption}
      columns={[
        { name: say("log.command"), class: "title wide" },
        ...(isOfAll ? [say("log.robot")] : []),
        say("log.state"),
        say("log.source"),
        { name: say("log.when"), class: "fixed" },
        { name: say("log.sent"), class: "spare" },
        { name: say("log.final"), class: "spare" },
        { name: say("log.says"), class: "wide" },
      ]}
      rows={commands.map((command) => ({
        key: commandKey(command),
        cells: [
          <Link to={commandAddress(commandKey(command))}>{operationText(command)}</Link>,
          ...(isOfAll ? [<OfRobot robotId={command.robot_id} />] : []),
          <CommandState command={command} />,
          sourceText(command),
          // An act is done at once.
          <Ago iso={command.accepted_at ?? command.final_at} />,
          <Time iso={command.sent_at} />,
          <Time iso={command.final_at} />,
          saysText(command),
        ],
      }))}
    />
  );
}

function OfRobot({ robotId }: { readonly robotId: string | null }) {
  return robotId === null ? null : <Link to={robotAddress(robotId)}>{robotId}</Link>;
}

/** Its stage or outcome; of a mission that the service has taken, also what the robot has made of it. */
export function CommandState({ command }: { readonly command: Command }) {
  const { store } = usePage();
  const { robot_id: robotId, mission_id: missionId, operation, outcome } = command;
  const shown = <Word {...commandWord(command)} />;
  const isTaken = outcome === "succeeded" || outcome === "probably_succeeded";
  if (robotId === null || !isTaken || !makesMission(operation)) return shown;
  const robot = store.fleet.value?.robots.get(robotId)?.robot ?? null;
  const progress = progressText(robot, missionId, store.silence.value !== null);
  const link = progress === "" ? say("log.notKnown") : <Link to={robotAddress(robotId)}>{progress}</Link>;
  return (
    <span class="progress">
      <Says of="log.progress" state={shown} progress={link} />
    </span>
  );
}

/** Whether a command is listed. Filters match parts of names, in any case. */
export function isWanted(command: Command, { robot, source, operation, state, id }: CommandFilter): boolean {
  const has = (text: string, part: string) => text.toLowerCase().includes(part.trim().toLowerCase());
  return (
    has(command.robot_id ?? "", robot) &&
    has(sourceText(command), source) &&
    // In any language, also by the name that other programs read.
    has(`${operationText(command)} ${command.operation}`, operation) &&
    has(command.request_id ?? "", id) &&
    (state === "" || (command.outcome ?? command.stage) === state)
  );
}
