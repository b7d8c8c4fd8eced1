import { useSignal } from "@preact/signals";
import { type CommandFilter, CommandLog } from "./command-log.tsx";

const outcomes = [
  "accepted",
  "sent",
  "succeeded",
  "probably_succeeded",
  "refused",
  "expired",
  "unknown",
  "checked",
];

/** The log of commands, from whatever protocol they came. */
export function Commands() {
  const filter = useSignal<CommandFilter>({ robotId: "", user: "", operation: "", outcome: "" });
  const set = (key: keyof CommandFilter) => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement | HTMLSelectElement;
    filter.value = { ...filter.value, [key]: value };
  };
  return (
    <>
      <h1>Commands</h1>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Robot <input value={filter.value.robotId} onInput={set("robotId")} />
        </label>
        <label>
          Source <input value={filter.value.user} onInput={set("user")} />
        </label>
        <label>
          Operation <input value={filter.value.operation} onInput={set("operation")} />
        </label>
        <label>
          State
          <select value={filter.value.outcome} onChange={set("outcome")}>
            <option value="">any</option>
            {outcomes.map((name) => (
              <option key={name} value={name}>
                {name.replaceAll("_", " ")}
              </option>
            ))}
          </select>
        </label>
      </form>
      <CommandLog caption="Commands, the newest first" filter={filter.value} />
    </>
  );
}
