import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";

interface Named {
  readonly words: readonly string[];
  readonly command: Command;
}

function below(command: Command, words: readonly string[] = []): readonly Named[] {
  return command.commands.flatMap((each) => {
    const its = [...words, each.name()];
    return [{ words: its, command: each }, ...below(each, its)];
  });
}

/** The help as it is printed, with what stands after the options. */
function helpOf(command: Command): string {
  const said: string[] = [];
  command.configureOutput({ writeOut: (text) => void said.push(text) });
  command.outputHelp();
  return said.join("");
}

const commands = below(await createProgram());

describe("the help", () => {
  it("has looked at all commands", () => expect(commands.length).toBeGreaterThan(25));

  it.each(commands.map((each) => [each.words.join(" "), each] as const))(
    "%s has an example that exists",
    (name, { command }) => {
      const example = /Examples?:\s+(?:sudo )?fleetgate (.*)/.exec(helpOf(command))?.[1];
      expect(example, "no example").toBeDefined();
      const options = [...(example ?? "").matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option);
      const said = commands.findLast(({ words }) => `${example} `.startsWith(`${words.join(" ")} `));
      expect(said?.words.join(" ").startsWith(name)).toBe(true);
      const known = ["--help", ...(said?.command.options.map(({ long }) => long) ?? [])];
      expect(options.filter((option) => !known.includes(option))).toEqual([]);
    },
  );
});
