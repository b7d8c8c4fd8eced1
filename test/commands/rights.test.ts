import { describe, expect, it } from "vitest";
import { type Rights, refusedRight } from "../../src/commands/rights.ts";
import type { Role, Source } from "../../src/domain/command.ts";

const line1 = { protocol: "opcua", name: "line1" } as const;
const hmi = { protocol: "mqtt", name: "hmi" } as const;
const account = (role: Role) => ({ source: line1, role, key: "opcua.users.line1.role" });

function refused(
  { rules = [], accounts = [] }: Partial<Rights>,
  source: Source,
  role: Role,
  { operation = "Go", robotId = "AMR01" }: { operation?: string; robotId?: string | null } = {},
): string | null {
  return refusedRight({ rules, accounts }, { source, operation, role, robotId });
}

describe("a role of the user's own", () => {
  it("gives all that it may, where no rule names the user", () => {
    expect(refused({ accounts: [account("operator")] }, line1, "operator")).toBeNull();
    expect(refused({ accounts: [account("operator")] }, line1, "engineer")).toBe(
      'opcua "line1" may not send Go, which needs engineer: opcua.users.line1.role makes it operator',
    );
    expect(refused({ accounts: [account("observer")] }, line1, "operator")).toBe(
      'opcua "line1" may not send Go, which needs operator: opcua.users.line1.role makes it observer',
    );
  });

  it("is narrowed by the rules that name the user", () => {
    const rights = {
      accounts: [account("engineer")],
      rules: [{ source: line1, role: "operator" as const, robots: ["AMR02"] }],
    };
    expect(refused(rights, line1, "operator", { robotId: "AMR02" })).toBeNull();
    expect(refused(rights, line1, "operator")).toBe(
      'opcua "line1" may not send Go, which needs operator: rights[0] names only AMR02',
    );
    expect(refused(rights, line1, "engineer", { robotId: "AMR02" })).toBe(
      'opcua "line1" may not send Go, which needs engineer: rights[0] makes it operator',
    );
  });

  it("is the most that a rule can give", () => {
    const everybody = { protocol: "opcua", name: "*" } as const;
    const rights = {
      accounts: [account("observer")],
      rules: [{ source: everybody, role: "engineer" as const }],
    };
    expect(refused(rights, line1, "operator")).toBe(
      'opcua "line1" may not send Go, which needs operator: opcua.users.line1.role makes it observer',
    );
    expect(refused(rights, { protocol: "opcua", name: "other" }, "engineer")).toBeNull();
  });
});

describe("reading", () => {
  it("is everybody's, whatever rules name", () => {
    const rules = [{ source: hmi, role: "operator" as const, operations: ["Go"], robots: ["AMR02"] }];
    for (const source of [hmi, line1]) {
      expect(refused({ rules }, source, "observer", { operation: "Look" })).toBeNull();
      expect(refused({ rules }, source, "observer", { operation: "Look", robotId: null })).toBeNull();
    }
  });
});

it("without a role and a rule nothing but reading is left", () => {
  expect(refused({}, hmi, "operator")).toBe(
    'mqtt "hmi" may not send Go, which needs operator: no rule names it, so it may only read',
  );
});
