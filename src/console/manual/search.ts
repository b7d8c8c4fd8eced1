import MiniSearch, { type SearchResult } from "minisearch";
import "./manual.css";

/** A part of a page under one heading. `scripts/build-manual.mjs` writes them. */
interface Section {
  /** Beside the page that is open. */
  readonly address: string;
  /** Of its page. */
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

const MOST_SHOWN = 12;
/** Of the text around the first word that was found. */
const EXCERPT_CHARACTERS = 160;

const theme = localStorage.getItem("fleetgate.theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;

let sections: Promise<{ all: readonly Section[]; index: MiniSearch }> | null = null;

/** Read when somebody begins to search. */
async function readSections() {
  const response = await fetch("search.json");
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const all: readonly Section[] = await response.json();
  const index = new MiniSearch({
    fields: ["heading", "title", "text"],
    searchOptions: {
      boost: { heading: 4, title: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      combineWith: "AND",
    },
  });
  await index.addAllAsync(all.map((section, id) => ({ id, ...section })));
  return { all, index };
}

/** Parts with all of the words, first those that have them as typed; else those with any of them. */
function hitsOf(index: MiniSearch, all: readonly Section[], wanted: string): readonly SearchResult[] {
  const typed = wanted.toLowerCase();
  const hasTyped = (id: number) => {
    const section = all[id];
    return section !== undefined && `${section.heading} ${section.text}`.toLowerCase().includes(typed);
  };
  const boostDocument = (id: unknown) => (hasTyped(Number(id)) ? 3 : 1);
  const hits = index.search(wanted, { boostDocument });
  return hits.length > 0 ? hits : index.search(wanted, { boostDocument, combineWith: "OR" });
}

function element<K extends keyof HTMLElementTagNameMap>(tag: K, ...children: ReadonlyArray<Node | string>) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}

/** The text around what was typed, or around the first of the words, with all of them marked. */
function excerpt(text: string, typed: string, words: readonly string[]): readonly Node[] {
  if (words.length === 0) return [element("span", text.slice(0, EXCERPT_CHARACTERS))];
  const escaped = [typed, ...words].map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const pattern = new RegExp(`(${escaped.join("|")})`, "giu");
  const typedAt = text.toLowerCase().indexOf(typed.toLowerCase());
  const first = Math.max(0, (typedAt < 0 ? text.search(pattern) : typedAt) - EXCERPT_CHARACTERS / 4);
  const begin = first === 0 ? 0 : text.indexOf(" ", first) + 1;
  const cut = text.slice(begin, begin + EXCERPT_CHARACTERS);
  const isCut = begin + EXCERPT_CHARACTERS < text.length;
  const parts = (isCut ? cut.replace(/\S*$/, "…") : cut)
    .split(pattern)
    .map((part, at) => element(at % 2 === 1 ? "mark" : "span", part));
  return [...(begin > 0 ? [element("span", "… ")] : []), ...parts];
}

function addSearch(place: HTMLElement): void {
  const field = place.querySelector("input");
  const found = place.querySelector<HTMLElement>(".found");
  const status = place.querySelector("p");
  const list = place.querySelector("ol");
  if (field === null || found === null || status === null || list === null) return;
  const show = (said: string, hits: readonly Node[] = []) => {
    status.textContent = said;
    list.replaceChildren(...hits);
    found.hidden = field.value.trim() === "";
  };
  const begin = () => {
    sections ??= readSections();
    // Another key tries again.
    sections.catch(() => {
      sections = null;
    });
    return sections;
  };
  const search = async () => {
    const wanted = field.value.trim();
    if (wanted === "") return show("");
    try {
      const { all, index } = await begin();
      if (wanted !== field.value.trim()) return;
      const hits = hitsOf(index, all, wanted);
      const shown = hits.slice(0, MOST_SHOWN).flatMap(({ id, terms }) => {
        const section = all[Number(id)];
        return section === undefined ? [] : [hitOf(section, wanted, terms)];
      });
      show(hits.length === 0 ? "Nothing found. Try fewer words." : `${hits.length} found`, shown);
    } catch (error) {
      show(`The search did not load (${error}).`);
    }
  };
  field.addEventListener("focus", () => void begin().catch(() => {}));
  field.addEventListener("input", () => void search());
  place.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const { activeElement } = document;
    const at = activeElement instanceof HTMLAnchorElement ? links.indexOf(activeElement) : -1;
    if (event.key === "Escape") found.hidden = true;
    else if (event.key === "Enter" && at < 0) links[0]?.click();
    else if (event.key === "ArrowDown") links[at + 1]?.focus();
    else if (event.key === "ArrowUp") (links[at - 1] ?? field).focus();
    else return;
    event.preventDefault();
  });
  // A hit on the same page loads nothing.
  list.addEventListener("click", () => {
    found.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || document.activeElement === field) return;
    event.preventDefault();
    field.focus();
  });
  place.hidden = false;
}

function hitOf({ address, title, heading, text }: Section, typed: string, words: readonly string[]): Node {
  const name = element("strong", heading === "" ? title : heading);
  const link = element(
    "a",
    name,
    " ",
    element("small", title),
    element("br"),
    ...excerpt(text, typed, words),
  );
  link.href = address;
  return element("li", link);
}

// As a file, a page is for reading: a browser lets it fetch nothing.
if (location.protocol.startsWith("http")) {
  const place = document.getElementById("search");
  if (place !== null) addSearch(place);
  const back = document.getElementById("console-link");
  if (back !== null) back.hidden = false;
}
