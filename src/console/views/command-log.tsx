import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { Command, Commands } from "../../northbound/web/api/command.ts";
import { get } from "../api.ts";
import { commandKey, MOST_COMMANDS, withCommands } from "../fleet/fleet.ts";
import { sentence } from "../fleet/words.ts";
import type { Emphasis } from "../floor/scene.ts";
import { commandAddress, robotAddress } from "../route.ts";
import { usePage } from "./context.ts";
import { Link, Table, Time, Word } from "./parts.tsx";

/** What a command must have to be listed; an empty text: anything. */
export interface CommandFilter {
  readonly robotId: string;
  readonly user: string;
  readonly operation: string;
  readonly outcome: string;
}

const anything: CommandFilter = { robotId: "", user: "", operation: "", outcome: "" };

/** The newest commands first: those that the gateway remembers, and those that the stream brings. */
export function CommandLog(props: {
  readonly caption: string;
  readonly robotId?: string;
  readonly filter?: CommandFilter;
}) {
  const filter = props.filter ?? { ...anything, robotId: props.robotId ?? "" };
  const { remembered, problem } = useCommands();
  const shown = [...remembered.values()].filter((command) => isWanted(command, filter)).reverse();
  return (
    <>
      {problem !== "" && <p class="warning">◆ The log could not be read: {problem}.</p>}
      {shown.length === 0 ? <p>{props.caption}: none.</p> : <CommandTable {...props} commands={shown} />}
    </>
  );
}

/** The commands that the gateway remembers, with those that the stream has brought since. */
export function useCommands() {
  const { store } = usePage();
  const read = useSignal<readonly Command[]>([]);
  const problem = useSignal("");
  const isRead = useSignal(false);
  const session = useComputed(() => store.fleet.value?.sessionId ?? "");
  useSignalEffect(() => {
    // Read again when another run of the gateway answers.
    if (session.value === "") return;
    const over = new AbortController();
    void get<Commands>(`/commands?limit=${MOST_COMMANDS}`, over.signal).then((answer) => {
      if (over.signal.aborted) return;
      problem.value = "problem" in answer ? answer.problem : "";
      if ("value" in answer) read.value = [...answer.value.commands].reverse();
      isRead.value = true;
    });
    return () => over.abort();
  });
  const heard = [...(store.fleet.value?.commands.values() ?? [])];
  return {
    remembered: withCommands(withCommands(new Map(), read.value), heard),
    problem: problem.value,
    isRead: isRead.value,
  };
}

function CommandTable({ caption, commands }: { caption: string; commands: readonly Command[] }) {
  return (
    <Table caption={caption} columns={["Began", "Command", "Robot", "Source", "State", "Says"]}>
      {commands.map((command) => (
        <tr key={commandKey(command)}>
          <td>
            <Time iso={beganAt(command)} isDated />
          </td>
          <td>
            <Link to={commandAddress(commandKey(command))}>{command.operation}</Link>
          </td>
          <td>
            {command.robot_id !== null && <Link to={robotAddress(command.robot_id)}>{command.robot_id}</Link>}
          </td>
          <td>{sourceText(command)}</td>
          <td>
            <Word {...commandWord(command)} />
          </td>
          <td>{command.message}</td>
        </tr>
      ))}
    </Table>
  );
}

function isWanted(command: Command, filter: CommandFilter): boolean {
  return (
    (filter.robotId === "" || command.robot_id === filter.robotId) &&
    (filter.user === "" || sourceText(command).includes(filter.user)) &&
    (filter.operation === "" || command.operation.toLowerCase().includes(filter.operation.toLowerCase())) &&
    (filter.outcome === "" || (command.outcome ?? command.stage) === filter.outcome)
  );
}

function beganAt(command: Command): string | null {
  return command.accepted_at ?? command.sent_at ?? command.final_at;
}

export function sourceText({ protocol, user, on_behalf_of: owner }: Command): string {
  return owner === null ? `${protocol}:${user}` : `${protocol}:${user} for ${owner}`;
}

/** How far a command has come, or how it ended. */
export function commandWord({ outcome, stage }: Command): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  if (outcome === null) return { word: stage, emphasis: "normal" };
  const word = sentence(outcome);
  if (outcome === "unknown") return { word, emphasis: "alarm" };
  return { word, emphasis: outcome === "refused" || outcome === "expired" ? "abnormal" : "normal" };
}
