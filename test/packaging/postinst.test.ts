import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const postinst = readFileSync(new URL("../../packaging/debian/postinst", import.meta.url), "utf8");
/** Its functions alone. */
const [functions = ""] = postinst.split('\ncase "$1" in\nconfigure)');

test("what a gateway has said reaches the terminal of apt letter by letter", () => {
  const reason = String.raw`mqtt is down: \033[2J \0302\0233 \c and the rest`;
  const script = `${functions}\nupgrade=/nonexistent/fleetgate\nfail "$1"`;
  const { stderr, status } = spawnSync("sh", ["-c", script, "postinst", reason], { encoding: "utf8" });
  expect({ stderr, status }).toEqual({ stderr: `fleetgate: ${reason}\n`, status: 1 });
  // Any other message of a process goes the same way.
  expect(postinst.match(/echo .*(last_lines|reason|\$\*)/g)).toBeNull();
});
