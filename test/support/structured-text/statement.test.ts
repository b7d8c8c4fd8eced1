import { describe, expect, it } from "vitest";
import { plcOf, resultOf } from "./structured-text-harness.ts";

describe("IF", () => {
  const text = "IF i = 1 THEN result := 10; ELSIF i = 2 THEN result := 20; ELSE result := 30; END_IF;";

  it.each([
    [1, 10],
    [2, 20],
    [3, 30],
  ])("takes the branch for %d", (i, result) => {
    expect(resultOf("INT", text, `i : INT := ${i};`)).toBe(result);
  });

  it("does nothing if no condition is met and there is no ELSE", () => {
    expect(resultOf("INT", "IF FALSE THEN result := 1; END_IF;")).toBe(0);
  });
});

describe("CASE", () => {
  const text = `
    CASE i OF
        1, 3:        result := 1;
        5..7, -2:    result := 2; result := result * 10;
        -10..-8:     ;
        8:           CASE j OF 0: result := 3; END_CASE;
    ELSE
        result := 99;
    END_CASE;`;

  it.each([
    [1, 1],
    [2, 99],
    [3, 1],
    [6, 20],
    [-2, 20],
    [-9, 0],
    [8, 3],
  ])("takes the branch for %d", (i, result) => {
    expect(resultOf("INT", text, `i : INT := ${i}; j : INT;`)).toBe(result);
  });
});

describe("loops", () => {
  it.each([
    ["FOR i := 1 TO 4 DO result := result + i; END_FOR;", 10],
    ["FOR i := 10 TO 1 BY -3 DO result := result + i; END_FOR;", 22],
    ["FOR i := 2 TO 1 DO result := 9; END_FOR;", 0],
    ["FOR i := 1 TO 3 DO ; END_FOR; result := i;", 4],
    ["FOR i := 1 TO 9 DO IF i = 4 THEN EXIT; END_IF; result := result + 1; END_FOR;", 3],
    ["FOR i := 1 TO 3 DO FOR j := 1 TO 9 DO EXIT; END_FOR; result := result + 1; END_FOR;", 3],
    ["WHILE i < 5 DO i := i + 1; result := result + i; END_WHILE;", 15],
    ["WHILE FALSE DO result := 1; END_WHILE;", 0],
    ["REPEAT result := result + 1; UNTIL result >= 3 END_REPEAT;", 3],
    ["REPEAT result := 1; UNTIL TRUE END_REPEAT;", 1],
    ["result := 1; WHILE TRUE DO RETURN; END_WHILE; result := 2;", 1],
  ])("%s", (text, result) => {
    expect(resultOf("INT", text, "i, j : INT;")).toBe(result);
  });

  it.each([
    ["WHILE", "WHILE TRUE DO END_WHILE;"],
    ["REPEAT", "REPEAT ; UNTIL FALSE END_REPEAT;"],
    ["FOR", "FOR i := 1 TO 2 DO i := 1; END_FOR;"],
  ])("a %s that does not end stops the PLC, and the next cycle counts anew", (_, loop) => {
    const plc = plcOf(`VAR i, n : INT; on : BOOL; END_VAR\nn := n + 1;\nIF on THEN\n  ${loop}\nEND_IF;`);
    plc.set("on", true);
    expect(() => plc.cycle()).toThrow(/^line 4, .*end of the cycle expected within 100000 statements$/);
    plc.set("on", false);
    plc.cycle();
    expect(plc.get("n")).toBe(2);
  });
});

describe("arrays", () => {
  it("have elements, initial values and bounds of their own", () => {
    const plc = plcOf(`VAR
        a : ARRAY[-1..2] OF INT := [2(7), 1];
        b : ARRAY[0..1] OF ARRAY[1..2] OF BOOL := [[TRUE, FALSE], 1([FALSE, TRUE])];
        i : INT := 2;
      END_VAR
      a[i] := a[-1] + a[i - 1];
      b[1][1] := b[0][1];`);
    plc.cycle();
    expect(plc.get("a")).toEqual([7, 7, 1, 8]);
    expect(plc.get("b")).toEqual([
      [true, false],
      [true, true],
    ]);
  });

  it("are assigned whole, by value", () => {
    const plc = plcOf(`VAR a, b : ARRAY[0..1] OF INT; END_VAR a[0] := 1; b := a; a[0] := 2;`);
    plc.cycle();
    expect(plc.get("a")).toEqual([2, 0]);
    expect(plc.get("b")).toEqual([1, 0]);
  });

  it("are given and taken by value", () => {
    const plc = plcOf("VAR a : ARRAY[0..1] OF INT; END_VAR a[0] := a[0] + 1;");
    const given = [5, 6];
    plc.set("a", given);
    const before = plc.get("a");
    plc.cycle();
    expect([given, before, plc.get("a")]).toEqual([
      [5, 6],
      [5, 6],
      [6, 6],
    ]);
  });
});

describe("the text itself", () => {
  it("may have comments, nested ones too, and any case", () => {
    const plc = plcOf(`
      (* a (* nested *) comment
         of two lines *)
      var Count : Int := 5; end_var // and one to the end of the line
      if COUNT = 5 Then count := (* here *) Count + 1; End_If;`);
    plc.cycle();
    expect(plc.get("cOUNT")).toBe(6);
  });

  it("evaluates both sides of AND and OR", () => {
    const text = "IF i > 1 AND a[i] = 0 THEN ; END_IF;";
    expect(() => resultOf("INT", text, "i : INT; a : ARRAY[1..2] OF INT;")).toThrow(
      "index 0 is outside ARRAY[1..2]",
    );
  });
});
