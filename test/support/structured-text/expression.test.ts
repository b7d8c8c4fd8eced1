import { describe, expect, it } from "vitest";
import { errorOf, resultOf } from "./structured-text-harness.ts";

describe("a literal", () => {
  it.each([
    ["DINT", "1_000_000", 1_000_000],
    ["DINT", "-2147483648", -2_147_483_648],
    ["DINT", "16#7FFF_FFFF", 2_147_483_647],
    ["INT", "2#1010_0101", 165],
    ["INT", "8#17", 15],
    ["INT", "INT#5", 5],
    ["INT", "int#-16#FF", -255],
    ["DINT", "DINT#70000", 70_000],
    ["BOOL", "true", true],
    ["BOOL", "BOOL#0", false],
    ["BOOL", "BOOL#TRUE", true],
    ["REAL", "0.1", Math.fround(0.1)],
    ["LREAL", "1.5E3", 1500],
    ["LREAL", "2.5e-1", 0.25],
    ["LREAL", "3", 3],
    ["LREAL", "LREAL#-0.1", -0.1],
    ["TIME", "T#5s", 5_000],
    ["TIME", "t#1m30s", 90_000],
    ["TIME", "TIME#1d2h3m4s5ms", 93_784_005],
    ["TIME", "T#1.5s", 1_500],
    ["TIME", "T#-20ms", -20],
    ["STRING", "''", ""],
    ["STRING", "'Dock A'", "Dock A"],
    ["STRING", "'it$'s $$5$N$L$R$T$P$41'", "it's $5\n\n\r\t\fA"],
    ["STRING", "'(* no comment *) // none'", "(* no comment *) // none"],
  ])("of %s: %s", (type, literal, value) => {
    expect(resultOf(type, `result := ${literal};`)).toBe(value);
  });

  it.each([
    ["INT", "32768", "32768 is outside INT (-32768 to 32767)"],
    ["DINT", "2147483648", "2147483648 is outside DINT (-2147483648 to 2147483647)"],
    ["INT", "INT#40000", "40000 is outside INT (-32768 to 32767)"],
    ["INT", "2#102", '"2#102" is no integer of base 2'],
    ["INT", "12ab", '"12ab" is no integer of base 10'],
    ["INT", "WORD#1", 'unknown type "WORD" of a literal; T, TIME, INT, DINT, REAL, LREAL or BOOL expected'],
    ["BOOL", "BOOL#2", 'BOOL#TRUE or BOOL#FALSE expected, found "BOOL#2"'],
    ["REAL", "1.5x", '"1.5x" is no number, such as 1.5 or 2.0E-3'],
    ["TIME", "T#5", '"5" is no duration, such as T#1m30s or T#500ms'],
    ["TIME", "T#5s1m", '"5s1m" is no duration, such as T#1m30s or T#500ms'],
    ["STRING", "'no end", "this string does not end in its line; ' expected"],
    ["STRING", "'$Q'", '"$Q" is no escape; one of $$, $\', $L, $N, $P, $R, $T or $0D expected'],
  ])("of %s is none: %s", (type, literal, message) => {
    expect(errorOf(`VAR result : ${type}; END_VAR\nresult := ${literal};`)).toBe(
      `line 2, column 11: ${message}`,
    );
  });
});

describe("operators bind as the standard has it", () => {
  it.each([
    ["2 + 3 * 4", 14],
    ["(2 + 3) * 4", 20],
    ["20 - 5 - 3", 12],
    ["100 / 10 / 5", 2],
    ["-2 + 5", 3],
    ["2 * -3", -6],
    ["- - 3", 3],
    ["7 MOD 4 * 2", 6],
    ["-7 / 2", -3],
    ["-7 MOD 4", -3],
  ])("%s = %d", (expression, value) => {
    expect(resultOf("DINT", `result := ${expression};`)).toBe(value);
  });

  it.each([
    ["TRUE OR TRUE AND FALSE", true],
    ["(TRUE OR TRUE) AND FALSE", false],
    ["TRUE OR TRUE XOR TRUE", true],
    ["TRUE XOR TRUE AND FALSE", true],
    ["TRUE & FALSE OR TRUE", true],
    ["NOT FALSE AND FALSE", false],
    ["NOT (FALSE AND FALSE)", true],
    ["NOT FALSE = TRUE", true],
    ["NOT TRUE OR TRUE", true],
    ["1 + 1 = 2 AND 2 < 3", true],
    ["FALSE = 3 < 2", true],
    ["1 < 2 = TRUE", true],
    ["2 >= 2 AND 2 <= 2 AND NOT (2 > 2) AND 2 <> 3", true],
    ["'abc' = 'abc' AND 'abc' < 'abd'", true],
    ["T#1m = T#60s AND T#1s + T#500ms > T#1s", true],
    ["1.5 > 1", true],
  ])("%s is %s", (expression, value) => {
    expect(resultOf("BOOL", `result := ${expression};`)).toBe(value);
  });
});

describe("numbers of several types", () => {
  const variables = "i : INT := 7; d : DINT := 70000; r : REAL := 0.5; l : LREAL := 0.25;";

  it.each([
    ["DINT", "i + d", 70_007],
    ["DINT", "i + 40000", 40_007],
    ["REAL", "i * r", 3.5],
    ["LREAL", "d * r + l", 35_000.25],
    ["LREAL", "i / 2", 3],
    ["LREAL", "i / 2.0 * l", null],
    ["REAL", "r / 3", Math.fround(0.5 / 3)],
  ])("%s: %s", (type, expression, value) => {
    const text = `result := ${expression};`;
    if (value === null) expect(() => resultOf(type, text, variables)).toThrow("two numbers expected");
    else expect(resultOf(type, text, variables)).toBe(value);
  });
});

describe("a standard function", () => {
  it.each([
    ["INT", "ABS(-5)", 5],
    ["INT", "min(3, 1, 2)", 1],
    ["LREAL", "MAX(1, 2.5)", 2.5],
    ["TIME", "MAX(T#1s, T#2s)", 2_000],
    ["INT", "LEN('Dock ä')", 7],
    ["STRING", "CONCAT('a', 'b', 'c')", "abc"],
    ["STRING", "INT_TO_STRING(-12)", "-12"],
    ["STRING", "CONCAT('Dock ', DINT_TO_STRING(70000))", "Dock 70000"],
    ["INT", "DINT_TO_INT(12)", 12],
    ["INT", "SEL(TRUE, 1, 2)", 2],
    ["STRING", "SEL(FALSE, 'a', 'bb')", "a"],
  ])("of %s: %s", (type, call, value) => {
    expect(resultOf(type, `result := ${call};`)).toBe(value);
  });

  it.each([
    ["INT", "ABS(1, 2)", "column 11: 1 value expected in ABS( ), found 2"],
    ["INT", "MIN(1)", "column 11: 2 or more values expected in MIN( ), found 1"],
    ["INT", "MAX(1, TRUE)", "column 11: numbers of one type expected, found integer literal, BOOL"],
    [
      "INT",
      "SEL(TRUE, 1, 'a')",
      "column 11: two values of one type expected, found integer literal, STRING[1]",
    ],
    ["INT", "DINT_TO_INT(70000)", "column 11: 70000 is outside INT (-32768 to 32767)"],
    ["INT", "LEN(5)", "column 15: STRING expected, found integer literal"],
  ])("of %s is refused: %s", (type, call, message) => {
    expect(errorOf(`VAR result : ${type}; END_VAR\nresult := ${call};`)).toBe(`line 2, ${message}`);
  });

  it("that is not known is named, with those that are", () => {
    expect(errorOf("VAR x : REAL; END_VAR\nx := SQRT(x);")).toBe(
      'line 2, column 6: unknown function "SQRT"; one of ABS, MIN, MAX, SEL, LEN, CONCAT, ' +
        "INT_TO_STRING, DINT_TO_STRING, DINT_TO_INT expected",
    );
  });
});
