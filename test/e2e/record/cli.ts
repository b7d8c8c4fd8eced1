import type { Command } from "commander";
import { vi } from "vitest";
import { createProgram } from "../../../src/cli/program.ts";

/** The help of every command, as a terminal shows it. */
export async function helpTexts(): Promise<string> {
  return below(await createProgram(), ["fleetgate"])
    .map(([words, command]) => `$ ${words} --help\n${helpOf(command)}`)
    .join("\n");
}

function below(command: Command, words: readonly string[]): ReadonlyArray<readonly [string, Command]> {
  const deeper = command.commands.flatMap((each) => below(each, [...words, each.name()]));
  return [[words.join(" "), command], ...deeper];
}

function helpOf(command: Command): string {
  const said: string[] = [];
  command.configureOutput({ writeOut: (text) => void said.push(text), getOutHelpWidth: () => 100 });
  command.outputHelp();
  return said.join("");
}

/** What a command prints, that ends by itself. */
export async function programText(...words: readonly string[]): Promise<string> {
  const said: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => said.push(String(text)) > 0);
  const code = process.exitCode;
  process.exitCode = undefined;
  try {
    await (await createProgram(words[0])).parseAsync(words, { from: "user" });
    return `$ fleetgate ${words.join(" ")}\n${said.join("")}exit code ${process.exitCode ?? 0}\n`;
  } finally {
    write.mockRestore();
    process.exitCode = code;
  }
}
