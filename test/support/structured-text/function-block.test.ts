import { describe, expect, it } from "vitest";
import { createManualClock } from "../manual-clock.ts";
import { errorOf, plcOf } from "./structured-text-harness.ts";

const counter = `
FUNCTION_BLOCK Counter
VAR_INPUT  IN : BOOL; STEP : INT := 1; END_VAR
VAR_OUTPUT Total : INT; END_VAR
VAR_IN_OUT Calls : DINT; END_VAR
VAR        edge : R_TRIG; END_VAR
    edge(CLK := IN);
    IF edge.Q THEN Total := Total + STEP; END_IF;
    Calls := Calls + 1;
END_FUNCTION_BLOCK
`;

describe("a function block", () => {
  it("keeps its state between calls, each instance its own", () => {
    const plc = plcOf(`${counter}
      PROGRAM Main
      VAR a : counter; b : Counter; x : BOOL; total : DINT; calls : DINT; END_VAR
        a(IN := x, Calls := calls, Total => total);
        b(IN := NOT x, STEP := 10, Calls := calls);
      END_PROGRAM`);
    for (const x of [true, true, false, true]) {
      plc.set("x", x);
      plc.cycle();
    }
    expect([plc.get("total"), plc.get("b.total"), plc.get("calls")]).toEqual([2, 10, 8]);
    expect(plc.get("a.edge.Q")).toBe(true);
  });

  it("keeps inputs that a call does not name, and takes those that are assigned", () => {
    const plc = plcOf(`${counter}
      PROGRAM Main
      VAR a : ARRAY[1..2] OF Counter; calls : DINT; END_VAR
        a[2].STEP := 5;
        a[2](IN := TRUE, Calls := calls);
        a[2](Calls := calls, IN := FALSE);
        a[2](IN := TRUE, Calls := calls);
        calls := a[2].Total;
      END_PROGRAM`);
    plc.cycle();
    expect(plc.get("calls")).toBe(10);
  });

  it("can be run by itself, the host being its caller", () => {
    const plc = plcOf(counter, { run: "counter" });
    plc.set("IN", true);
    plc.set("Calls", 41);
    plc.cycle();
    expect([plc.get("Total"), plc.get("Calls")]).toEqual([1, 42]);
  });

  it("ends at RETURN, its caller goes on", () => {
    const plc = plcOf(`
      FUNCTION_BLOCK Half VAR_OUTPUT Q : INT; END_VAR Q := 1; RETURN; Q := 2; END_FUNCTION_BLOCK
      VAR half : Half; after : BOOL; END_VAR half(); after := TRUE;`);
    plc.cycle();
    expect([plc.get("half.Q"), plc.get("after")]).toEqual([1, true]);
  });

  it("may stand behind the block that uses it, and see what is global", () => {
    const plc = plcOf(`
      VAR_GLOBAL total : INT := 5; inner : Inner; END_VAR
      FUNCTION_BLOCK Outer VAR i : Inner; END_VAR i(); END_FUNCTION_BLOCK
      FUNCTION_BLOCK Inner total := total + 1; END_FUNCTION_BLOCK
      VAR o : Outer; END_VAR o(); inner();`);
    expect(plc.cycle()).toEqual(["total"]);
    expect(plc.get("total")).toBe(7);
  });
});

describe("a call is refused", () => {
  it.each([
    ["a(IN := 1, Calls := n);", "column 9: BOOL expected, found integer literal"],
    ["a(INN := TRUE, Calls := n);", 'column 3: function block Counter has no input "INN"'],
    ["a(IN := TRUE);", 'column 1: a variable expected for the VAR_IN_OUT "Calls" of Counter'],
    ["a(Calls := 5);", 'column 3: a variable expected for the VAR_IN_OUT "Calls"'],
    ["a(Calls := i);", "column 12: DINT expected, found INT"],
    ["a(Calls := n, IN => n);", 'column 15: function block Counter has no output "IN"'],
    ["a(Calls := n, Total => b);", "column 15: BOOL expected, found INT"],
    ["a(TRUE);", 'column 3: a parameter (name := value, or name => variable) expected, found "TRUE"'],
    ["n(IN := TRUE);", "column 1: an instance of a function block expected, found DINT"],
    ["a.Total := 5;", 'column 3: the output "Total" is set by its block only; another variable expected'],
    ["b := a.edge.Q;", 'column 8: function block Counter has no input or output "edge"'],
    ["n := n.Q;", 'column 8: a function block expected before ".Q", found DINT'],
  ])("%s", (call, message) => {
    const text = `${counter}VAR a : Counter; n : DINT; i : INT; b : BOOL; END_VAR\n${call}`;
    expect(errorOf(text)).toBe(`line 12, ${message}`);
  });

  it("when blocks contain each other, have one name, or assign their inputs", () => {
    const block = (name: string, rest: string) => `FUNCTION_BLOCK ${name} ${rest} END_FUNCTION_BLOCK\n`;
    const ring = block("A", "VAR b : B; END_VAR") + block("B", "VAR a : A; END_VAR");
    expect(errorOf(ring)).toBe("line 2, column 22: function block A contains itself; another type expected");
    expect(errorOf(block("TON", ""))).toBe(
      'line 1, column 1: there is a block "TON" already; another name expected',
    );
    expect(errorOf(block("A", "VAR_INPUT x : INT; END_VAR\nx := 1;"), { run: "A" })).toBe(
      'line 2, column 1: the input "x" is set by its caller only; another variable expected',
    );
  });
});

describe("edges", () => {
  it("R_TRIG and F_TRIG show a change for one cycle", () => {
    const plc = plcOf("VAR x : BOOL; up : R_TRIG; down : F_TRIG; END_VAR up(CLK := x); down(CLK := x);");
    const seen = [true, true, false, false, true].map((x) => {
      plc.set("x", x);
      plc.cycle();
      return [plc.get("up.Q"), plc.get("down.Q")];
    });
    expect(seen).toEqual([
      [true, false],
      [false, false],
      [false, true],
      [false, false],
      [true, false],
    ]);
  });
});

it("F_TRIG shows an input that is FALSE in the first cycle, as the standard's own text of it does", () => {
  const plc = plcOf("VAR down : F_TRIG; END_VAR down(CLK := FALSE);");
  const seen = [1, 2].map(() => {
    plc.cycle();
    return plc.get("down.Q");
  });
  expect(seen).toEqual([true, false]);
});

describe("timers run by the clock of the host", () => {
  const step = (block: "TON" | "TOF") => {
    const clock = createManualClock();
    const plc = plcOf(`VAR x : BOOL; t : ${block}; END_VAR t(IN := x, PT := T#5s);`, {
      nowMs: clock.monotonicMs,
    });
    return (x: boolean, afterMs: number) => {
      clock.advance(afterMs);
      plc.set("x", x);
      plc.cycle();
      return [plc.get("t.Q"), plc.get("t.ET")];
    };
  };

  it("TON follows its input late when it rises", () => {
    const on = step("TON");
    expect(on(false, 10_000)).toEqual([false, 0]);
    expect(on(true, 10_000)).toEqual([false, 0]);
    expect(on(true, 4_999)).toEqual([false, 4_999]);
    expect(on(true, 1)).toEqual([true, 5_000]);
    expect(on(true, 60_000)).toEqual([true, 5_000]);
    expect(on(false, 1)).toEqual([false, 0]);
    expect(on(true, 1)).toEqual([false, 0]);
    expect(on(true, 3_000)).toEqual([false, 3_000]);
    expect(on(false, 0)).toEqual([false, 0]);
    expect(on(true, 3_000)).toEqual([false, 0]);
  });

  it("TOF follows its input late when it falls", () => {
    const off = step("TOF");
    expect(off(false, 10_000)).toEqual([false, 0]);
    expect(off(true, 1)).toEqual([true, 0]);
    expect(off(false, 10_000)).toEqual([true, 0]);
    expect(off(false, 4_999)).toEqual([true, 4_999]);
    expect(off(true, 0)).toEqual([true, 0]);
    expect(off(false, 0)).toEqual([true, 0]);
    expect(off(false, 5_000)).toEqual([false, 5_000]);
    expect(off(false, 5_000)).toEqual([false, 5_000]);
  });
});
