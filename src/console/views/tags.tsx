import { useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Tag, Tags as TagPage } from "../../northbound/web/api/tag.ts";
import { byName } from "../fleet/list.ts";
import { qualityWord, tagsRequest, valueStart, valueText } from "../fleet/plant-words.ts";
import { foldersOf, type TagFolder, tagName } from "../fleet/tag-tree.ts";
import { robotAddress, stationTagsAddress, type TagFilter, tagAddress, tagsAddress } from "../route.ts";
import { inLanguage, say } from "../texts/texts.ts";
import type { Moment } from "../trust/time-text.ts";
import { Address } from "./address.tsx";
import { usePage } from "./context.ts";
import { Ago, Empty, Icon, Link, Table, Time, TimeZone, Word } from "./parts.tsx";
import { Confirmed, usePolled } from "./polled.tsx";
import { Pages, type Position } from "./tag-pages.tsx";
import "../style/tags.css";

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
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <>
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {say("tags.title")}
        </h1>
        <TimeZone />
      </div>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          {say("tags.search")}{" "}
          <input
            type="search"
            maxLength={256}
            placeholder={say("tags.words")}
            value={query.text}
            onInput={(event) => ask({ text: event.currentTarget.value })}
          />
        </label>
        <label>
          {say("tags.robot")}{" "}
          <input
            type="search"
            maxLength={256}
            value={query.robot}
            onInput={(event) => ask({ robot: event.currentTarget.value })}
          />
        </label>
        <label>
          {say("tags.protocol")}{" "}
          <select value={query.protocol} onChange={(event) => ask({ protocol: event.currentTarget.value })}>
            <option value="">{say("tags.any")}</option>
            <option value="opcua">{protocolNames.opcua}</option>
            <option value="mqtt">{protocolNames.mqtt}</option>
          </select>
        </label>
      </form>
      <div class="tree">
        <Branches query={query} />
        <div class="stack">
          <Confirmed polled={polled}>
            <Counted page={polled.value} />
            {polled.value?.count === 0 && (
              <p class="says">{say(query.robot.trim() === "" ? "tags.fewerWords" : "tags.wholeId")}</p>
            )}
            {foldersOf(polled.value?.tags ?? []).map((folder) => (
              <Folder key={`${folder.protocol} ${folder.name}`} folder={folder} />
            ))}
          </Confirmed>
          <Pages page={polled.value} position={now} turn={turn} heading={heading} />
        </div>
      </div>
    </>
  );
}

const noNames: readonly string[] = [];
/** More would be no help: the fields above find every robot. */
const MOST_BRANCHES = 300;

/** The robots and stations as the first branches of the tree: each leaves its own tags. */
function Branches({ query }: { readonly query: TagFilter }) {
  const { store } = usePage();
  const names = useComputed(() => store.listing.value?.names ?? noNames).value;
  const known = useComputed(() => store.fleet.value?.stations ?? null).value;
  const robots = names.slice(0, MOST_BRANCHES);
  const stations = [...(known?.keys() ?? [])].sort(byName);
  const { protocol } = query;
  const isAll = query.robot === "" && query.text === "";
  return (
    <nav class="branches" aria-label={say("tags.of")}>
      <Link to={tagsAddress({ protocol })} current={isAll}>
        {say("tags.all")}
      </Link>
      {robots.length > 0 && <h2>{say("tags.robots")}</h2>}
      {robots.map((robot) => (
        <Link key={robot} to={tagsAddress({ protocol, robot })} current={query.robot === robot}>
          {robot}
        </Link>
      ))}
      {stations.length > 0 && <h2>{say("tags.stations")}</h2>}
      {stations.map((station) => (
        <Link
          key={station}
          to={tagsAddress({ protocol, text: `station ${station}` })}
          current={query.text === `station ${station}`}
        >
          {station}
        </Link>
      ))}
    </nav>
  );
}

function Counted({ page }: { readonly page: TagPage | null }) {
  const { count = 0, missing_robots: missing = 0, tags = [] } = page ?? {};
  return (
    <p>
      {say("tags.counted", { count, shown: tags.length })}
      {missing > 0 && ` ${say("tags.missing", { count: missing })}`}
    </p>
  );
}

/** The tags of one folder. */
function Folder({ folder: { name, protocol, tags } }: { readonly folder: TagFolder }) {
  const caption = say("tags.folder", {
    name: name === "" ? say("tags.top") : name,
    protocol: protocolNames[protocol],
  });
  return (
    <Table
      caption={caption}
      columns={[
        { name: say("tags.address"), class: "title address" },
        { name: say("tags.value"), class: "value" },
        say("tags.quality"),
        say("tags.sourceTime"),
        { name: say("tags.received"), class: "fixed" },
        say("tags.ofWhat"),
      ]}
      rows={tags.map((tag) => ({
        key: tag.address,
        cells: [
          <div class="beside">
            <Link to={tagAddress(tag)}>
              <strong>{tagName(tag)}</strong>
              <br />
              <small class="id">
                <Address text={tag.address} />
              </small>
            </Link>
            <Copy text={tag.address} />
          </div>,
          <span class="id start">{valueStart(tag)}</span>,
          <Word {...qualityWord(tag)} />,
          <Time iso={tag.source_time} />,
          <Ago iso={tag.received_at} />,
          <Subject tag={tag} />,
        ],
      }))}
    />
  );
}

function Subject({ tag: { robot_id: robotId, station } }: { readonly tag: Tag }) {
  if (robotId !== null) return <Link to={robotAddress(robotId)}>{robotId}</Link>;
  return <>{station ?? say("tags.gateway")}</>;
}

const protocolNames: Readonly<Record<Tag["protocol"], string>> = { opcua: "OPC UA", mqtt: "MQTT" };

/** One tag, under an address of its own. */
export function OneTag({ protocol, address }: { readonly protocol: string; readonly address: string }) {
  const request = tagsRequest({ protocol, address, text: "", robot: "", cursor: "" });
  const polled = usePolled<TagPage>(() => request);
  const tag = polled.value?.tags[0];
  return (
    <>
      <h1>
        <Address text={address} />
      </h1>
      <div class="line-up">
        {say(protocol === "opcua" ? "tags.opcua" : "tags.mqtt")} <Copy text={address} />
      </div>
      <Confirmed polled={polled}>
        {tag === undefined ? (
          <Empty icon="tags" title={say("tags.none")} />
        ) : (
          <div class="columns">
            <TagFacts tag={tag} />
            <Sparkline key={tag.address} tag={tag} askedAt={polled.askedAt} />
          </div>
        )}
      </Confirmed>
    </>
  );
}

function TagFacts({ tag }: { readonly tag: Tag }) {
  return (
    <dl class="facts card">
      {tag.description !== null && <dt>{say("tags.description")}</dt>}
      {tag.description !== null && <dd>{inLanguage(tag.description)}</dd>}
      <dt>{say("tags.value")}</dt>
      <dd class="id">{valueText(tag)}</dd>
      <dt>{say("tags.quality")}</dt>
      <dd>
        <Word {...qualityWord(tag)} />
      </dd>
      <dt>{say("tags.type")}</dt>
      <dd>{tag.type}</dd>
      <dt>{say("tags.sourceTime")}</dt>
      <dd>
        <Time iso={tag.source_time} isDated />
      </dd>
      <dt>{say("tags.received")}</dt>
      <dd>
        <Time iso={tag.received_at} isDated />
      </dd>
      <dt>{say("tags.ofWhat")}</dt>
      <dd>
        <Subject tag={tag} />
      </dd>
      <dt>{say("tags.title")}</dt>
      <dd>
        <AllTags tag={tag} />
      </dd>
      <Equivalents tag={tag} />
    </dl>
  );
}

/** The list that this tag is in. */
function AllTags({ tag: { robot_id: robot, station } }: { readonly tag: Tag }) {
  if (robot !== null) return <Link to={tagsAddress({ robot })}>{say("facts.allTags", { of: robot })}</Link>;
  if (station === null) return <Link to={tagsAddress({})}>{say("tags.all")}</Link>;
  return <Link to={stationTagsAddress(station)}>{say("facts.allTags", { of: station })}</Link>;
}

/** The addresses of the same value in the other protocol. */
function Equivalents({ tag: { protocol, equivalents } }: { readonly tag: Tag }) {
  if (equivalents.length === 0) return null;
  const other = protocol === "opcua" ? "mqtt" : "opcua";
  return (
    <>
      <dt>{say(other === "mqtt" ? "tags.sameMqtt" : "tags.sameOpcua")}</dt>
      {equivalents.map((address) => (
        <dd key={address} class="beside">
          <Link class="id" to={tagAddress({ protocol: other, address })}>
            <Address text={address} />
          </Link>
          <Copy text={address} />
        </dd>
      ))}
    </>
  );
}

/** Those of half an hour, as a value is read every other second. */
const MOST_VALUES = 900;

interface Seen {
  readonly values: readonly number[];
  /** Of the newest one. */
  readonly askedAt: Moment | null;
}

/** The numbers that the page has read, an unchanged one again each time. */
function Sparkline(props: { readonly tag: Tag; readonly askedAt: Moment | null }) {
  const { tag, askedAt } = props;
  const { quality } = tag;
  const value = numberOf(tag);
  const seen = useRef<Seen>({ values: [], askedAt: null });
  if (value === null) return null;
  // The view is rendered for other reasons too.
  if (quality === "good" && seen.current.askedAt !== askedAt)
    seen.current = { values: [...seen.current.values.slice(1 - MOST_VALUES), value], askedAt };
  const { values } = seen.current;
  if (values.length < 2) return null;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = most - least || 1;
  const points = values.map((each, at) => {
    const x = (100 * at) / (values.length - 1);
    return `${x.toFixed(1)},${(38 - (36 * (each - least)) / span).toFixed(1)}`;
  });
  return (
    <figure class="card">
      <figcaption>
        {values.length < MOST_VALUES
          ? say("tags.sinceOpened", { least, most })
          : say("tags.lastValues", { count: MOST_VALUES, least, most })}
      </figcaption>
      <svg class="spark" viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">
        <polyline points={points.join(" ")} vector-effect="non-scaling-stroke" />
      </svg>
    </figure>
  );
}

/** A topic's payload is text, also that of a number. */
function numberOf({ protocol, value }: Tag): number | null {
  const isText = protocol === "mqtt" && typeof value === "string" && value !== "";
  const number = isText ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

/** Puts a text onto the clipboard. */
function Copy({ text }: { readonly text: string }) {
  const said = useSignal("");
  const copy = async () => {
    said.value = say((await copied(text)) ? "copy.done" : "copy.refused");
  };
  return (
    <>
      <button type="button" class="quiet icon-only" title={say("copy")} onClick={() => void copy()}>
        <Icon name="copy" />
        <span class="unseen">{say("copy.text", { text })}</span>
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
