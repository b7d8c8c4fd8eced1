import { describe, expect, it } from "vitest";
import { errorOf } from "./structured-text-harness.ts";

const variables = [
  "VAR b : BOOL; i : INT; d : DINT; r : REAL; s : STRING[3];",
  "a : ARRAY[0..11] OF INT; t : ARRAY[0..1] OF TON; END_VAR",
].join(" ");

describe("a mistake in a statement is told with its line and column, though the statement never runs", () => {
  it.each([
    ["i := nextId;", 'column 6: "nextId" is declared nowhere; a declaration in a VAR block expected'],
    ["nextId := i;", 'column 1: "nextId" is declared nowhere; a declaration in a VAR block expected'],
    ["b := i;", "column 6: BOOL expected, found INT"],
    ["i := b;", "column 6: INT expected, found BOOL"],
    ["i := d;", "column 6: INT expected, found DINT"],
    ["i := 1.5;", "column 6: INT expected, found decimal literal"],
    ["i := 40000;", "column 6: 40000 is outside INT (-32768 to 32767)"],
    ["s := 5;", "column 6: STRING[3] expected, found integer literal"],
    ["a := i;", "column 6: ARRAY[0..11] OF INT expected, found INT"],
    ["i[0] := 1;", "column 2: an ARRAY expected, found INT"],
    ["i := a[b];", "column 8: DINT expected, found BOOL"],
    ["b := i AND b;", "column 6: BOOL expected, found INT"],
    ["b := NOT i;", "column 10: BOOL expected, found INT"],
    ["b := b < b;", 'column 8: two values of one type expected beside "<", found BOOL and BOOL'],
    ["b := i = s;", 'column 8: two values of one type expected beside "=", found INT and STRING[3]'],
    ["b := a = a;", 'column 8: two values of one type expected beside "=", found ARRAY[0..11] OF INT and '],
    ["i := i + b;", 'column 8: two numbers expected beside "+", found INT and BOOL'],
    ["r := r MOD r;", 'column 8: two integers expected beside "MOD", found REAL and REAL'],
    ["i := -b;", 'column 6: a number or TIME expected after "-", found BOOL'],
    ["IF i THEN ; END_IF;", "column 4: BOOL expected, found INT"],
    ["CASE b OF 1: ; END_CASE;", "column 6: DINT expected, found BOOL"],
    ["FOR r := 1 TO 2 DO ; END_FOR;", "column 5: a variable of INT or DINT expected, found REAL"],
    [
      "t := t;",
      "column 6: ARRAY[0..1] OF function block TON expected, found ARRAY[0..1] OF function block TON",
    ],
    ["EXIT;", "column 1: a loop expected around EXIT"],
  ])("%s", (statement, message) => {
    const text = `${variables}\nIF FALSE THEN\n${statement}\nEND_IF;`;
    expect(errorOf(text)).toContain(`line 3, ${message}`);
  });
});

describe("what goes wrong as the program runs is told with its line and column", () => {
  it.each([
    ["i := 32767; i := i + 1;", "column 20: 32768 is outside INT (-32768 to 32767)"],
    ["i := -32768; i := -i;", "column 19: 32768 is outside INT"],
    ["d := 65536; d := d * d;", "column 20: 4294967296 is outside DINT"],
    ["i := -32768; i := ABS(i);", "column 19: 32768 is outside INT"],
    ["d := 70000; i := DINT_TO_INT(d);", "column 18: 70000 is outside INT"],
    ["i := 1 / i;", "column 8: division by zero; another divisor expected"],
    ["i := 1 MOD i;", "column 8: division by zero; another divisor expected"],
    ["r := 3.0E38; r := r * 10;", "column 21: the result is too large for its type; a smaller one expected"],
    ["i := 12; a[i] := 1;", "column 11: index 12 is outside ARRAY[0..11]"],
    ["a[i - 1] := 1;", "column 2: index -1 is outside ARRAY[0..11]"],
    ["s := CONCAT('ab', 'cd');", "column 6: the text has 4 bytes, its variable takes 3"],
    ["s := 'äö';", "column 6: the text has 4 bytes, its variable takes 3"],
    ["FOR i := 32766 TO 32767 DO ; END_FOR;", "column 1: 32768 is outside INT"],
    ["FOR i := 1 TO 2 BY d DO ; END_FOR;", "column 20: INT expected, found DINT"],
    ["FOR d := 1 TO 2 BY i DO ; END_FOR;", "column 1: a step other than 0 expected after BY"],
  ])("%s", (statements, message) => {
    expect(errorOf(`${variables}\n${statements}`)).toContain(`line 2, ${message}`);
  });
});

describe("a mistake in a text is told with its line and column, and what was expected", () => {
  it.each([
    [
      "IF b THEN\n  i := 1;",
      '2, column 10: "END_IF" for the IF of line 1 expected, found the end of the text',
    ],
    [
      "IF b THEN\nCASE i OF 1: ; END_IF;",
      '2, column 16: "END_CASE" for the CASE of line 2 expected, found "END_IF"',
    ],
    ["CASE i OF\n1: i := 2;\n)", '3, column 1: "END_CASE" for the CASE of line 1 expected, found ")"'],
    ["FOR i := 1 TO 2 DO\nEND_IF", '2, column 1: "END_FOR" for the FOR of line 1 expected, found "END_IF"'],
    ["WHILE b DO\n", '2, column 1: "END_WHILE" for the WHILE of line 1 expected, found the end of the text'],
    ["REPEAT\n;", '2, column 2: "UNTIL" for the REPEAT of line 1 expected, found the end of the text'],
    [
      "PROGRAM P\n",
      '2, column 1: "END_PROGRAM" for the PROGRAM of line 1 expected, found the end of the text',
    ],
    ["VAR\n x : INT;", '2, column 10: "END_VAR" for the VAR of line 1 expected, found the end of the text'],
    ["(* (* *)\n", '1, column 1: this comment has no end; "*)" expected'],
    ["IF b i := 1;", '1, column 6: "THEN" after the condition expected, found "i"'],
    ["i := 1\nb := TRUE;", '2, column 1: ";" after the statement expected, found "b"'],
    ["i = 1;", '1, column 3: ":=" or "(" after "i" expected, found "="'],
    ["i := ;", '1, column 6: an expression expected, found ";"'],
    ["i := (1 + 2;", '1, column 12: ")" expected, found ";"'],
    ["i := 1 ? 2;", '1, column 8: "?" has no meaning in structured text'],
    ["CASE i OF x: ; END_CASE;", '1, column 11: an integer as label expected, found "x"'],
    ["CASE i OF 3..1: ; END_CASE;", "1, column 11: the range 3..1 is empty"],
    ["END_IF;", '1, column 1: a statement or the end of the text expected, found "END_IF"'],
    ["VAR x : 5; END_VAR", '1, column 9: a type expected, found "5"'],
    ["VAR IF : INT; END_VAR", '1, column 5: "END_VAR" for the VAR of line 1 expected, found "IF"'],
    ["VAR x : WORD; END_VAR", '1, column 5: unknown type "WORD"; a type or a function block expected'],
    ["VAR x : INT; END_VAR\nVAR X : INT; END_VAR", '2, column 5: "X" is declared already, in line 1; '],
    ["VAR x : ARRAY[2..1] OF INT; END_VAR", "1, column 15: ARRAY[2..1] has no element"],
    ["VAR x : STRING[0]; END_VAR", "1, column 15: a STRING has at least 1 byte, found 0"],
    ["VAR x : INT := y; END_VAR", '1, column 16: a constant expected, found "y"'],
    ["VAR x : INT := TRUE; END_VAR", "1, column 16: INT expected, found BOOL"],
    ["VAR x : INT := [1]; END_VAR", '1, column 16: a value of INT expected, found "["'],
    ["VAR x : ARRAY[0..1] OF INT := [3(0)]; END_VAR", "1, column 31: at most 2 values expected"],
    ["VAR_IN_OUT x : INT := 1; END_VAR", "1, column 20: a VAR_IN_OUT has no initial value"],
    ["VAR_IN_OUT RETAIN x : INT; END_VAR", "1, column 12: a VAR_IN_OUT has no value of its own to retain"],
  ])("%j", (text, message) => {
    const externals = text.includes("VAR") ? {} : { b: "BOOL", i: "INT" };
    expect(errorOf(text, { externals })).toContain(`line ${message}`);
  });
});
