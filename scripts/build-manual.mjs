// Makes the manual that the gateway serves under /docs: the pages of docs/ become dist/console/docs/*.html,
// with the text that their search reads. The frame of a page is src/console/manual/page.html, which vite has
// built.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import Eleventy from "@11ty/eleventy";
import { amend } from "./manual-markdown.mjs";

/** Pages that lie outside docs/, by their name in the manual. */
const beside = { changelog: "CHANGELOG.md", security: "SECURITY.md" };
/** The part of README that is the manual's first page. */
const map = "## Where to read on";

/**
 * @param root the project's folder
 * @param built the folder of the console's files
 */
export async function buildManual(root, built) {
  const target = join(built, "docs");
  const framePath = join(built, "manual", "page.html");
  // Each page lies in a folder beside that of the assets, also where it is read as a file.
  const frame = readFileSync(framePath, "utf8")
    .replaceAll('"/assets/', '"../assets/')
    // A browser refuses it for a file.
    .replaceAll(" crossorigin", "");
  rmSync(dirname(framePath), { recursive: true });

  const texts = pagesOf(root);
  const names = [...texts.keys()].filter((name) => name !== "index");
  const titles = Object.fromEntries(
    [...texts].map(([name, text]) => [name, /^# (.+)$/m.exec(text)?.[1] ?? name]),
  );
  const manual = { root, names, sections: [], parts: {}, files: new Set() };
  // It asks for a folder of its own. The pages are given to it one by one.
  const folder = join(root, "src", "console", "manual");
  const eleventy = new Eleventy(relative(process.cwd(), folder), relative(process.cwd(), target), {
    quietMode: true,
    configPath: false,
    config(config) {
      config.setUseGitIgnore(false);
      config.setTemplateFormats(["md", "njk"]);
      config.addTemplate("_includes/page.njk", frame);
      for (const [name, text] of texts) {
        const data = { layout: "page.njk", permalink: `/${name}.html`, name };
        config.addTemplate(`${name}.md`, text, data);
      }
      config.addGlobalData("titles", titles);
      config.addGlobalData("names", names);
      // Those of a page are known once its text is rendered, which comes before its frame.
      config.addFilter("partsOf", (name) => manual.parts[name] ?? []);
      config.amendLibrary("md", (markdown) => amend(markdown, manual));
      return { markdownTemplateEngine: false };
    },
  });
  eleventy.disableLogger();
  await eleventy.write();
  cpSync(join(root, "docs", "images"), join(target, "images"), { recursive: true });
  for (const path of manual.files) cpSync(join(root, path), join(target, "files", path));
  writeFileSync(join(target, "search.json"), JSON.stringify(inOrder(manual, titles)));
}

/** The Markdown of each page by its name: those that README's map names first, in its order. */
function pagesOf(root) {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, after = ""] = readme.split(`\n${map}\n`);
  const [section = ""] = after.split("\n## ");
  if (section === "") throw new Error(`README.md has no ${map}`);
  const mapped = Array.from(section.matchAll(/\]\(docs\/([\w-]+)\.md/g), ([, name]) => name);
  const there = readdirSync(join(root, "docs")).flatMap((name) => /^(.+)\.md$/.exec(name)?.[1] ?? []);
  const names = [...new Set([...mapped.filter((name) => there.includes(name)), ...there.sort()])];
  return new Map([
    [
      "index",
      `# The manual\n${section.replaceAll(/\]\((?!https?:)/g, "](../").replaceAll("](../docs/", "](")}`,
    ],
    ...names.map((name) => [name, readFileSync(join(root, "docs", `${name}.md`), "utf8")]),
    ...Object.entries(beside).map(([name, path]) => [name, readFileSync(join(root, path), "utf8")]),
  ]);
}

/** The parts of all pages in the order of the pages, as the search reads them. */
function inOrder({ sections, names }, titles) {
  const place = (name) => names.indexOf(name);
  return sections
    .sort((one, other) => place(one.name) - place(other.name) || one.at - other.at)
    .map(({ name, anchor, heading, text }) => ({
      address: anchor === "" ? `${name}.html` : `${name}.html#${anchor}`,
      title: titles[name],
      heading,
      text: text.join(" ").replace(/\s+/g, " ").trim(),
    }));
}
