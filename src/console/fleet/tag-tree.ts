import type { Tag } from "../../northbound/web/api/tag.ts";

/** Tags of one folder of a protocol, as *Battery* of a robot. */
export interface TagFolder {
  /** Below the robot or station: the folders on the way, as `Battery`. Empty: it lies at the top. */
  readonly name: string;
  readonly protocol: Tag["protocol"];
  readonly tags: readonly Tag[];
}

/** The tags of a page by their folders, in the order in which they came. */
export function foldersOf(tags: readonly Tag[]): readonly TagFolder[] {
  const found = new Map<string, { name: string; protocol: Tag["protocol"]; tags: Tag[] }>();
  for (const tag of tags) {
    const { protocol } = tag;
    const name = partsOf(tag).slice(0, -1).join(" / ");
    const key = `${protocol} ${name}`;
    const folder = found.get(key) ?? { name, protocol, tags: [] };
    folder.tags.push(tag);
    found.set(key, folder);
  }
  return [...found.values()];
}

/** The last part of the address: its folder is told beside it. */
export function tagName(tag: Pick<Tag, "protocol" | "address">): string {
  return partsOf(tag).at(-1) ?? tag.address;
}

/** `ns=2;s=Robots.cart-1.Battery.Charge` and `fleetgate/plant1/robots/cart-1/battery` as their parts. */
function partsOf({ protocol, address }: Pick<Tag, "protocol" | "address">): readonly string[] {
  if (protocol === "mqtt") return address.split("/");
  const [, name = address] = /^ns=\d+;[a-z]=(.*)$/s.exec(address) ?? [];
  return name.split(".");
}
