import { useSignal } from "@preact/signals";
import type { Command } from "../../northbound/web/api/command.ts";
import { getLines } from "../api.ts";
import { type CommandFilter, commandsAddress } from "../route.ts";
import { say, word } from "../texts/texts.ts";
import { CommandLog, isWanted } from "./command-log.tsx";
import { usePage } from "./context.ts";
import { viewLater } from "./later.tsx";
import { Icon, TimeZone } from "./parts.tsx";

const LatencyHours = viewLater(() => import("./trends.tsx").then((module) => module.LatencyHours));

const states = [
  "accepted",
  "sent",
  "succeeded",
  "probably_succeeded",
  "refused",
  "expired",
  "unknown",
  "checked",
];

/** The log of commands of all protocols. The address has the filter. */
export function Commands({ filter }: { readonly filter: CommandFilter }) {
  const { go } = usePage();
  const isLatencyShown = useSignal(false);
  const set = (key: keyof CommandFilter) => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement | HTMLSelectElement;
    go(commandsAddress({ ...filter, [key]: value }), "replace");
  };
  return (
    <>
      <div class="heading">
        <div>
          <h1>{say("rail.commands")}</h1>
          <TimeZone />
        </div>
        <Download filter={filter} />
      </div>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          {say("log.robot")} <input value={filter.robot} onInput={set("robot")} />
        </label>
        <label>
          {say("log.source")} <input value={filter.source} onInput={set("source")} />
        </label>
        <label>
          {say("log.operation")} <input value={filter.operation} onInput={set("operation")} />
        </label>
        <label>
          {say("command.requestId")} <input value={filter.id} onInput={set("id")} />
        </label>
        <label>
          {say("log.state")}{" "}
          <select value={filter.state} onChange={set("state")}>
            <option value="">{say("log.any")}</option>
            {states.map((name) => (
              <option key={name} value={name}>
                {word(name)}
              </option>
            ))}
          </select>
        </label>
      </form>
      <details
        onToggle={(event) => {
          isLatencyShown.value = event.currentTarget.open;
        }}
      >
        <summary>{say("log.hours")}</summary>
        {isLatencyShown.value && <LatencyHours />}
      </details>
      <CommandLog caption={say("log.caption")} filter={filter} />
    </>
  );
}

/** All commands in the gateway's memory that pass the filter, as lines of JSON. */
function Download({ filter }: { readonly filter: CommandFilter }) {
  const problem = useSignal("");
  const download = async () => {
    const answer = await getLines("/commands");
    problem.value = "problem" in answer ? say("log.unread", { problem: answer.problem }) : "";
    if ("problem" in answer) return;
    const lines = answer.value.filter((line) => isWanted(JSON.parse(line) as Command, filter));
    saveAs("commands.jsonl", lines.map((line) => `${line}\n`).join(""));
  };
  return (
    <div class="line-up">
      {problem.value !== "" && <span role="status"> {problem.value}</span>}
      <button type="button" onClick={() => void download()}>
        <Icon name="download" />
        {say("log.download")}
      </button>
    </div>
  );
}

function saveAs(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
