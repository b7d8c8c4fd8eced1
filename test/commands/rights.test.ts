import { describe, expect, it } from "vitest";
import type { Rights } from "../../src/commands/options.ts";
import { refusedRight, rightsAnywhere } from "../../src/commands/rights.ts";
import type { Role, Source } from "../../src/domain/command.ts";
import { createLive } from "../../src/platform/live.ts";

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

describe("robots of the user's own", () => {
  const anna = { protocol: "web", name: "anna" } as const;
  const bound = { robots: ["AMR01"], key: "web.users.anna.robots" };
  const accounts = [{ source: anna, role: "operator" as const, key: "web.users.anna.role", bound }];

  it("are all that it may command", () => {
    expect(refused({ accounts }, anna, "operator")).toBeNull();
    expect(refused({ accounts }, anna, "operator", { robotId: "AMR02" })).toBe(
      'web "anna" may not send Go, which needs operator: web.users.anna.robots names only AMR01',
    );
    expect(refused({ accounts }, anna, "operator", { robotId: null })).not.toBeNull();
  });

  it("bound what rules give", () => {
    const all = [{ source: anna, role: "operator" as const }];
    expect(refused({ accounts, rules: all }, anna, "operator")).toBeNull();
    expect(refused({ accounts, rules: all }, anna, "operator", { robotId: "AMR02" })).toContain(
      "web.users.anna.robots names only AMR01",
    );
    const another = [{ source: anna, role: "operator" as const, robots: ["AMR02"] }];
    for (const robotId of ["AMR01", "AMR02"])
      expect(refused({ accounts, rules: another }, anna, "operator", { robotId })).not.toBeNull();
  });

  it("do not count before it is known which robot a command is for", () => {
    const anywhere = rightsAnywhere(createLive<Rights>({ rules: [], accounts })).now();
    expect(refused(anywhere, anna, "operator", { robotId: null })).toBeNull();
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
    'mqtt "hmi" may not send Go, which needs operator: no rule names it, so it may only read; in the configuration, rights: [{source: {protocol: mqtt, name: "hmi"}, role: operator}] would allow it',
  );
});
