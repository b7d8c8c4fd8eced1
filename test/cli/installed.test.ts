import type { Command } from "commander";
import { afterEach, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "./program.ts";

afterEach(endPrograms);

/** Every command with its subcommands, by its words. */
function commandsOf(command: Command, words: string): ReadonlyArray<readonly [string, Command]> {
  const inner = command.commands.flatMap((each) => [...commandsOf(each, `${words} ${each.name()}`.trim())]);
  return inner.length > 0 ? inner : [[words, command]];
}

it("every command that takes a gateway's configuration takes the package's without an option", async () => {
  const configs = commandsOf(await createProgram(), "").flatMap(([words, { options }]) =>
    options.filter(({ long }) => long === "--config").map((option) => [words, option.defaultValue]),
  );
  const isWithout = ([, value]: unknown[]) => value !== "/etc/fleetgate/fleetgate.yaml";
  expect(configs.length).toBeGreaterThan(15);
  // They work without a configuration, and make one.
  expect(configs.filter(isWithout).map(([words]) => words)).toEqual(["init", "export opcua"]);
});

it(
  "a command asks the package's gateway at its usual socket when its configuration cannot be read",
  async () => {
    const { ended, err } = fleetgate(newFolder(), "hold", "cart-01");
    expect((await ended).code).toBe(1);
    expect(err.entries.join("\n")).toContain("/var/lib/fleetgate/control.sock");
  },
  TEST_TIMEOUT_MS,
);
