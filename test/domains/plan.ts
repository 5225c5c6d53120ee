import type { Json } from '#kernel/base/json.ts';

/**
 * A declaration as data, so that it can be grown, shrunk, and printed. Everything but fields is written as in
 * a declaration; a text that begins with `CODE` is a function or a pattern.
 */
export type DomainPlan = {
  readonly roles: string[];
  readonly user: { readonly fields: FieldPlans; readonly fieldRights: JsonRecord; hold?: JsonRecord };
  readonly aggregates: Record<string, AggregatePlan>;
  readonly views: Record<string, ViewPlan>;
  readonly senders: Record<string, SenderPlan>;
};

export type JsonRecord = Record<string, Json | undefined>;
export type FieldPlans = Record<string, FieldPlan>;

/** `line(100).optional()` is `{ type: 'line', given: [100], options: { optional: [] } }`. */
export type FieldPlan = {
  type: string;
  /** The arguments of its type; of a reference, the name of its target. */
  given: Json[];
  item?: FieldPlans;
  options: Record<string, Json[]>;
};

type EventPlan = JsonRecord & {
  creates?: string[];
  changes?: string[];
  adds?: string;
  ends?: boolean;
};
type CommandPlan = JsonRecord & { emits: string | string[] };

export type AggregatePlan = {
  owner?: string;
  parent?: string;
  label?: string;
  fields: FieldPlans;
  events: Record<string, EventPlan>;
  commands: Record<string, CommandPlan>;
  rights: Record<string, JsonRecord>;
  /** The other parts: facts, limits, timers, and so on. */
  more: Record<string, JsonRecord | string>;
};

/** A service that sends signed messages. */
export type SenderPlan = {
  as: string;
  refusals?: string;
  says?: string;
  on: Record<string, { kind: string; command: string; given: string }>;
};

export type ViewPlan = {
  readonly of: string[];
  readonly key: FieldPlans;
  readonly values: Record<string, ValuePlan>;
  readonly from: JsonRecord;
  readonly read: JsonRecord;
};
type ValuePlan = {
  readonly value: 'sum' | 'avg' | 'latest' | 'min' | 'max';
  readonly field?: FieldPlan;
  readonly isSorted?: boolean;
};

export const CODE = '\u0000code ';
export const code = (text: string): string => `${CODE}${text}`;

export const clone = <Plan>(plan: Plan): Plan => structuredClone(plan);
