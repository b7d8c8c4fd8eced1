import { useSignal } from "@preact/signals";
import type { Tag, Tags as TagPage } from "../../northbound/web/api/tag.ts";
import { qualityWord, tagsRequest, valueStart, valueText } from "../fleet/words.ts";
import { robotAddress, type TagFilter, tagAddress, tagsAddress } from "../route.ts";
import { usePage } from "./context.ts";
import { Link, Table, Time, Word } from "./parts.tsx";
import { Confirmed, usePolled } from "./polled.tsx";

/** The shown page of a search; another search begins with its first page. */
interface Position {
  readonly search: string;
  readonly cursor: string;
  /** The cursors of the pages before this one. */
  readonly before: readonly string[];
}

function positionIn(position: Position, search: TagFilter): Position {
  const address = tagsAddress(search);
  return position.search === address ? position : { search: address, cursor: "", before: [] };
}

/** Every OPC UA node and MQTT topic that matches the search. */
export function Tags({ query }: { readonly query: TagFilter }) {
  const { go, route } = usePage();
  const position = useSignal<Position>({ search: "", cursor: "", before: [] });
  const polled = usePolled<TagPage>(() => {
    const { value: shown } = route;
    const search = shown.view === "tags" ? shown : query;
    const { cursor } = positionIn(position.value, search);
    return tagsRequest({ ...search, address: "", cursor });
  });
  // The address can be shared.
  const ask = (change: Partial<TagFilter>) => go(tagsAddress({ ...query, ...change }), "replace");
  const now = positionIn(position.value, query);
  const turn = (cursor: string, before: readonly string[]) => {
    position.value = { ...now, cursor, before };
  };
  const next = polled.value?.next ?? null;
  return (
    <>
      <h1>Tags</h1>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Search{" "}
          <input
            type="search"
            maxLength={256}
            value={query.text}
            onInput={(event) => ask({ text: event.currentTarget.value })}
          />
        </label>
        <label>
          Robot{" "}
          <input
            type="search"
            maxLength={256}
            value={query.robot}
            onInput={(event) => ask({ robot: event.currentTarget.value })}
          />
        </label>
        <label>
          Protocol{" "}
          <select value={query.protocol} onChange={(event) => ask({ protocol: event.currentTarget.value })}>
            <option value="">any</option>
            <option value="opcua">OPC UA</option>
            <option value="mqtt">MQTT</option>
          </select>
        </label>
      </form>
      <Confirmed polled={polled}>
        <Counted page={polled.value} />
        {query.robot.trim() !== "" && polled.value?.count === 0 && (
          <p>Write the id of the robot as a whole, with its capital letters.</p>
        )}
        <TagTable tags={polled.value?.tags ?? []} />
      </Confirmed>
      <p>
        <button
          type="button"
          disabled={now.before.length === 0}
          onClick={() => turn(now.before.at(-1) ?? "", now.before.slice(0, -1))}
        >
          Page before
        </button>{" "}
        <button
          type="button"
          disabled={next === null}
          onClick={() => turn(next ?? "", [...now.before, now.cursor])}
        >
          Next page
        </button>
      </p>
    </>
  );
}

function Counted({ page }: { readonly page: TagPage | null }) {
  const { count = 0, missing_robots: missing = 0, tags = [] } = page ?? {};
  return (
    <p>
      {count} tags, {tags.length} shown.
      {missing > 0 && ` OPC UA nodes of ${missing} robots are still being made, and are not in the list.`}
    </p>
  );
}

function TagTable({ tags }: { readonly tags: readonly Tag[] }) {
  if (tags.length === 0) return null;
  return (
    <Table caption="Tags" columns={["Address", "Value", "Quality", "Source time", "Received", "Of"]}>
      {tags.map((tag) => (
        <tr key={`${tag.protocol} ${tag.address}`}>
          <td class="id address">
            <Link to={tagAddress(tag)}>{tag.address}</Link> <Copy text={tag.address} />
          </td>
          <td class="id">{valueStart(tag)}</td>
          <td>
            <Word {...qualityWord(tag)} />
          </td>
          <td>
            <Time iso={tag.source_time} isDated />
          </td>
          <td>
            <Time iso={tag.received_at} isDated />
          </td>
          <td>
            <Subject tag={tag} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Subject({ tag: { robot_id: robotId, station } }: { readonly tag: Tag }) {
  if (robotId !== null) return <Link to={robotAddress(robotId)}>{robotId}</Link>;
  return <>{station ?? "the gateway"}</>;
}

const protocolNames: Readonly<Record<string, string>> = { opcua: "OPC UA node", mqtt: "MQTT topic" };

/** One tag, under an address of its own. */
export function OneTag({ protocol, address }: { readonly protocol: string; readonly address: string }) {
  const request = tagsRequest({ protocol, address, text: "", robot: "", cursor: "" });
  const polled = usePolled<TagPage>(() => request);
  const tag = polled.value?.tags[0];
  return (
    <>
      <h1>{address}</h1>
      <p>
        {protocolNames[protocol]} <Copy text={address} />
      </p>
      <Confirmed polled={polled}>
        {tag === undefined ? <p>There is no such tag now.</p> : <TagFacts tag={tag} />}
      </Confirmed>
    </>
  );
}

function TagFacts({ tag }: { readonly tag: Tag }) {
  return (
    <dl>
      <dt>Value</dt>
      <dd class="id">{valueText(tag)}</dd>
      <dt>Quality</dt>
      <dd>
        <Word {...qualityWord(tag)} />
      </dd>
      <dt>Type</dt>
      <dd>{tag.type}</dd>
      <dt>Source time</dt>
      <dd>
        <Time iso={tag.source_time} isDated />
      </dd>
      <dt>Received</dt>
      <dd>
        <Time iso={tag.received_at} isDated />
      </dd>
      <dt>Of</dt>
      <dd>
        <Subject tag={tag} />
      </dd>
    </dl>
  );
}

/** Puts a text onto the clipboard. */
function Copy({ text }: { readonly text: string }) {
  const said = useSignal("");
  const copy = async () => {
    said.value = (await copied(text)) ? "copied" : "not copied: the browser refuses it";
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        Copy<span class="unseen"> {text}</span>
      </button>
      {said.value !== "" && <span role="status"> {said.value}</span>}
    </>
  );
}

/** Browsers give the clipboard to trusted pages: those by TLS, or of their own machine. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
