/** An element of XML, with what a NodeSet uses: no comments, no CDATA, no mixed content. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** As it stands in the file: white space counts. */
  readonly text: string;
}

export interface ReadReference {
  readonly type: string;
  readonly isForward: boolean;
  readonly to: string;
}

/** A node of a NodeSet, with the defaults of the schema. NodeIds stand where the file has aliases. */
export interface ReadNode {
  readonly element: Element;
  /** The element without `UA`. */
  readonly nodeClass: string;
  readonly id: string;
  readonly browseName: string;
  readonly parentId: string | null;
  readonly references: readonly ReadReference[];
  readonly dataType: string;
  readonly valueRank: number;
  readonly arrayDimensions: readonly number[];
}

export interface ReadNodeSet {
  readonly root: Element;
  readonly aliases: ReadonlyMap<string, string>;
  readonly nodes: readonly ReadNode[];
}

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

function unescaped(text: string): string {
  return text.replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole);
}

/** Reads XML. An element that is not closed, or is closed by another name, is an error. */
function readXml(xml: string): Element {
  const top: Element[] = [];
  const open: Array<{ name: string; element: Element; children: Element[]; fromText: number }> = [];
  for (const found of xml.matchAll(/<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([\w:.]+)([^<>]*?)(\/?)>/g)) {
    const [tag, isEnd, name, rest = "", isEmpty] = found;
    if (name === undefined) continue;
    if (isEnd === "/") {
      const ended = open.pop();
      if (ended?.name !== name) throw new Error(`</${name}> closes ${ended?.name ?? "nothing"}`);
      const text = ended.children.length > 0 ? "" : xml.slice(ended.fromText, found.index);
      Object.assign(ended.element, { text: unescaped(text.replaceAll(/<!--[\s\S]*?-->/g, "")) });
      continue;
    }
    const attributes = Object.fromEntries(
      [...rest.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, unescaped(value)]),
    );
    const children: Element[] = [];
    const element: Element = { name, attributes, children, text: "" };
    (open.at(-1)?.children ?? top).push(element);
    if (isEmpty !== "/") open.push({ name, element, children, fromText: found.index + tag.length });
  }
  const [root] = top;
  if (root === undefined || top.length > 1 || open.length > 0) throw new Error("this is no XML document");
  return root;
}

export function childrenOf({ children }: Element, name: string): readonly Element[] {
  return children.filter((child) => child.name === name);
}

/** The elements at the end of a path, from `element` on. */
export function at(element: Element, ...path: readonly string[]): readonly Element[] {
  return path.reduce<readonly Element[]>(
    (all, name) => all.flatMap((each) => childrenOf(each, name)),
    [element],
  );
}

export function readNodeSet(xml: string): ReadNodeSet {
  const root = readXml(xml);
  const aliases = new Map(
    at(root, "Aliases", "Alias").map(({ attributes, text }) => [attributes.Alias ?? "", text] as const),
  );
  const idOf = (text: string) => aliases.get(text) ?? text;
  const nodes = root.children
    .filter(({ name }) => name.startsWith("UA"))
    .map((element): ReadNode => {
      const { attributes, name } = element;
      const dimensions = attributes.ArrayDimensions ?? "";
      return {
        element,
        nodeClass: name.slice("UA".length),
        id: attributes.NodeId ?? "",
        browseName: attributes.BrowseName ?? "",
        parentId: attributes.ParentNodeId ?? null,
        references: at(element, "References", "Reference").map((reference) => ({
          type: idOf(reference.attributes.ReferenceType ?? ""),
          isForward: reference.attributes.IsForward !== "false",
          to: idOf(reference.text),
        })),
        dataType: idOf(attributes.DataType ?? "i=24"),
        valueRank: Number(attributes.ValueRank ?? -1),
        arrayDimensions: dimensions === "" ? [] : dimensions.split(",").map(Number),
      };
    });
  return { root, aliases, nodes };
}
