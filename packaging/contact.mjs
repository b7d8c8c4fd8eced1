import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Who made a package of npm, and where to reach them: an e-mail address, or else a page.
 *
 * @throws when its package.json names neither
 */
export function makerOf(folder) {
  const { name, author, maintainers, homepage, repository } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const people = [author, ...(Array.isArray(maintainers) ? maintainers : [])].map(person);
  const pages = [...people.map(({ url }) => url), homepage, repositoryPage(repository)];
  const contact = people.find(({ email }) => email !== undefined)?.email ?? pages.find(isPage);
  if (contact === undefined) throw new Error(`${name} names neither an e-mail address nor a page`);
  return { name: people.find((each) => each.name)?.name ?? `the authors of ${name}`, contact };
}

/** As CycloneDX writes them. The guideline wants the address or the page, never both (8.2.2). */
export function organisation({ name, contact }) {
  return contact.includes("://") ? { name, url: [contact] } : { name, contact: [{ email: contact }] };
}

/** Of `Name <address> (page)`, or of its parts. */
function person(given) {
  if (typeof given === "object" && given !== null) return { ...given, email: emailIn(given.email) };
  const [, name, email, url] = /^([^<(]*)(?:<([^>]*)>)?\s*(?:\(([^)]*)\))?/.exec(given ?? "");
  return { name: name.trim().replace(/\s+/g, " ") || undefined, email: emailIn(email), url };
}

function emailIn(text) {
  return /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/.test(text ?? "") ? text : undefined;
}

function isPage(text) {
  return /^https?:\/\/\S+$/.test(text ?? "");
}

function repositoryPage(repository) {
  const url = typeof repository === "string" ? repository : repository?.url;
  if (url === undefined) return undefined;
  if (/^(github:)?[\w.-]+\/[\w.-]+$/.test(url)) return `https://github.com/${url.replace("github:", "")}`;
  return url
    .replace(/^git\+/, "")
    .replace(/^(git|ssh):\/\/(git@)?/, "https://")
    .replace(/^git@([^:]+):/, "https://$1/")
    .replace(/\.git$/, "");
}
