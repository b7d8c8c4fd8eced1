import type { Argument, Command, Option } from "commander";
import { expect, it } from "vitest";
import { interview } from "../../src/cli/init/interview.ts";
import { questions } from "../../src/cli/init/questions.ts";
import { createProgram } from "../../src/cli/program.ts";

/** The interview of `init` decides on its answers. */
const answers = questions.map(({ flag }) => `fleetgate init ${flag}`);

function valuesOf(command: Command, words: string): ReadonlyArray<readonly [string, Argument | Option]> {
  return [
    ...command.registeredArguments.map((each) => [`${words} ${each.name()}`, each] as const),
    ...command.options.flatMap((each) =>
      each.required || each.optional ? [[`${words} ${each.long}`, each] as const] : [],
    ),
    ...command.commands.flatMap((each) => valuesOf(each, `${words} ${each.name()}`)),
  ];
}

it("refuses an empty name, id, path or number of every command", async () => {
  const values = valuesOf(await createProgram(), "fleetgate").filter(([words]) => !answers.includes(words));
  expect(values.length).toBeGreaterThan(50);
  const taken = values.filter(([, { parseArg }]) => {
    try {
      parseArg?.(" ", undefined);
      return true;
    } catch {
      return false;
    }
  });
  expect(taken.map(([words]) => words)).toEqual([]);
});

it("collects the values of an option or argument that may be repeated", async () => {
  const program = await createProgram();
  const alarms = program.commands.find((each) => each.name() === "alarms");
  const acknowledge = alarms?.commands.find((each) => each.name() === "ack");
  let given: readonly string[] = [];
  acknowledge?.action((ids: readonly string[]) => {
    given = ids;
  });
  await program.parseAsync(["alarms", "ack", "a1", "a2"], { from: "user" });
  expect(given).toEqual(["a1", "a2"]);
});

it.each([
  ["--mqtt-user", { mqtt: "embedded", mqttUser: "" }],
  ["--opcua-user", { opcua: "on", opcuaUser: "" }],
  ["--id", { id: "" }],
  ["--host", { mqtt: "embedded", host: "" }],
])("init refuses an empty %s", async (flag, flags) => {
  await expect(interview(flags, {}, null)).rejects.toThrow(`${flag}: `);
});

it("init takes an empty user at the plant's broker, which asks for none", async () => {
  const refused = interview({ mqtt: "mqtts://broker.plant:8883", mqttUser: "" }, {}, null);
  await expect(refused).rejects.not.toThrow("--mqtt-user");
});
