import { describe, expect, it } from "vitest";
import { parseStructuredText } from "./parser.ts";
import { createPlc } from "./plc.ts";
import { errorOf, plcOf } from "./structured-text-harness.ts";

const nowMs = () => 0;

describe("external variables", () => {
  const externals = {
    NextId: "DINT",
    RequestId: "DINT",
    Destination: "STRING[8]",
    Command: "ARRAY[0..2] OF DINT",
  };

  it("are given by the host before a cycle, and those written are told after it, the last one last", () => {
    const plc = plcOf(
      `VAR my : DINT; END_VAR
       IF nextid <> 0 THEN
         my := NextId;  RequestId := 0;  Destination := 'Dock A';  Command[1] := 7;  RequestId := my;
       END_IF;`,
      { externals },
    );
    expect(plc.cycle()).toEqual([]);
    plc.set("NEXTID", 42);
    expect(plc.cycle()).toEqual(["Destination", "Command", "RequestId"]);
    expect(plc.get("RequestId")).toBe(42);
    expect(plc.get("Command")).toEqual([0, 7, 0]);
    plc.set("NextId", 0);
    expect(plc.cycle()).toEqual([]);
  });

  it("count as written through a VAR_IN_OUT, an output and a loop too", () => {
    const plc = plcOf(
      `FUNCTION_BLOCK B VAR_IN_OUT io : DINT; END_VAR VAR_OUTPUT q : DINT; END_VAR
         io := 1; q := 2;
       END_FUNCTION_BLOCK
       VAR b : B; END_VAR
       b(io := Command[0], q => RequestId);  FOR NextId := 1 TO 1 DO ; END_FOR;`,
      { externals },
    );
    expect(plc.cycle()).toEqual(["Command", "RequestId", "NextId"]);
    expect(plc.get("Command")).toEqual([1, 0, 0]);
  });

  it.each([
    ["NextId", 2 ** 31, "a value of DINT expected, found 2147483648"],
    ["NextId", 1.5, "a value of DINT expected, found 1.5"],
    ["NextId", "1", 'a value of DINT expected, found "1"'],
    ["Destination", "123456789", 'a value of STRING[8] expected, found "123456789"'],
    ["Command", [1, 2], "a value of ARRAY[0..2] OF DINT expected, found [1,2]"],
    ["Command", [1, 2, true], "a value of DINT expected, found true"],
    ["Nonsense", 1, "the program has no such variable"],
  ])("refuse what is not of their type: %s", (name, value, message) => {
    const plc = plcOf(";", { externals });
    expect(() => plc.set(name, value)).toThrow(`${name}: ${message}`);
  });

  it("of REAL take the nearest value that a REAL can hold", () => {
    const plc = plcOf(";", { externals: { x: "REAL" } });
    plc.set("x", 0.1);
    expect(plc.get("x")).toBe(Math.fround(0.1));
    expect(() => plc.set("x", 1e39)).toThrow("x: a value of REAL expected, found 1e+39");
  });

  it("have a type that is known", () => {
    expect(errorOf(";", { externals: { x: "WORD+" } })).toBe(
      'external x: a type such as "DINT" expected, found "WORD+"',
    );
  });
});

describe("a restart", () => {
  const text = `
    VAR_GLOBAL RETAIN total : INT; END_VAR
    FUNCTION_BLOCK Step
    VAR RETAIN kept : INT; END_VAR
    VAR lost : INT; names : ARRAY[0..1] OF STRING(5); END_VAR
      kept := kept + 1; lost := lost + 1; names[1] := 'a'; total := total + 1;
    END_FUNCTION_BLOCK
    PROGRAM Main
    VAR RETAIN all : Step; count : INT := 10; list : ARRAY[1..2] OF INT; END_VAR
    VAR some : Step; two : ARRAY[1..2] OF Step; END_VAR
      all(); some(); two[2](); count := count + 1; list[2] := count;
    END_PROGRAM`;

  it("with its memory brings back the RETAIN variables alone, those in instances too", () => {
    const before = plcOf(text);
    before.cycle();
    const retained = before.retained();
    before.cycle();
    expect(retained).toEqual({
      "all.kept": 1,
      "all.lost": 1,
      "all.names": ["", "a"],
      count: 11,
      list: [0, 11],
      "some.kept": 1,
      "two[1].kept": 0,
      "two[2].kept": 1,
      "VAR_GLOBAL.total": 3,
    });
    const after = plcOf(text, { retained: JSON.parse(JSON.stringify(retained)) });
    expect(after.retained()).toEqual(retained);
    expect([after.get("some.kept"), after.get("some.lost"), after.get("all.lost")]).toEqual([1, 0, 1]);
    after.cycle();
    expect([after.get("some.kept"), after.get("some.lost"), after.get("all.lost")]).toEqual([2, 1, 2]);
    expect([after.get("count"), after.get("total")]).toEqual([12, 6]);
  });

  it("without its memory begins with the initial values", () => {
    expect([plcOf(text).get("count"), plcOf(text).get("all.kept")]).toEqual([10, 0]);
  });

  it("with the memory of another program is refused", () => {
    expect(errorOf(text, { retained: { counter: 1 } })).toBe("counter: the program retains no such variable");
    expect(errorOf(text, { retained: { count: true } })).toBe("count: a value of INT expected, found true");
  });
});

describe("the program to run", () => {
  const two = "PROGRAM A VAR x : INT; END_VAR x := 1; END_PROGRAM PROGRAM B END_PROGRAM";

  it("is the only one, or the one that is named", () => {
    const plc = plcOf(two, { run: "a" });
    plc.cycle();
    expect(plc.get("x")).toBe(1);
    expect(errorOf(two)).toBe("one PROGRAM to run expected, found: A, B");
    expect(errorOf("")).toBe("one PROGRAM to run expected, found: nothing");
    expect(errorOf(two, { run: "C" })).toBe("one C to run expected, found: A, B");
  });

  it("may be made of several texts", () => {
    const program = parseStructuredText(
      "VAR b : B; END_VAR b();",
      "FUNCTION_BLOCK B VAR_OUTPUT q : BOOL := TRUE; END_VAR END_FUNCTION_BLOCK",
    );
    expect(createPlc(program, { nowMs }).get("b.q")).toBe(true);
  });

  it("has no value where there is an instance", () => {
    const plc = plcOf("VAR t : TON; END_VAR");
    expect(() => plc.get("t")).toThrow("t: a variable expected, found function block TON");
    expect(() => plc.get("t.q.x")).toThrow("t.q.x: the program has no such variable");
  });
});
