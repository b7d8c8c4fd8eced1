// Makes the page that people look at: src/console/ becomes plain files in dist/console/.
// The manual, which it links to, is made beside it.
import { join } from "node:path";
import { build } from "vite";
import { buildManual } from "./build-manual.mjs";
import { consolePackages } from "./console-packages.mjs";

/** @param root the project's folder */
export async function buildConsole(root) {
  // With another value in the environment, vite writes the paths of this machine into the page.
  process.env.NODE_ENV = "production";
  const { output } = await build({
    configFile: false,
    root: join(root, "src", "console"),
    logLevel: "warn",
    build: {
      outDir: join(root, "dist", "console"),
      emptyOutDir: true,
      target: "es2023",
      // What is inlined into the page is refused by its content security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        // On a busy machine it would tell of each plugin of vite.
        checks: { pluginTimings: false },
        input: ["index.html", "manual/page.html"].map((page) => join(root, "src", "console", page)),
      },
    },
  });
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const found = [...new Set(modules.flatMap(packageOf))].sort();
  if (found.join() !== consolePackages.join())
    throw new Error(`the console has the packages ${found.join(", ")}: correct scripts/console-packages.mjs`);
  await buildManual(root, join(root, "dist", "console"));
}

/** The package of a module, or none where it is the project's own. */
function packageOf(id) {
  const [, name] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
  return name === undefined ? [] : [name];
}
