import { isUser } from '#kernel/base/users.ts';
import { conditionOnItem, resolve } from '#kernel/conditions/expression.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { type Alternatives, alternativesOf } from '../meaning/alternatives.ts';
import { describeAlso, describeLimits, describeReactions } from '../meaning/description.ts';
import { describeSchedules } from '../meaning/schedules.ts';
import { describeTimers } from '../meaning/timers.ts';

/** Refusals and effects beyond those of forms, rights and events. */
export type KindRules = {
  /** Without those of the kernel. */
  readonly limits?: Readonly<Record<string, LimitRule>>;
  /** Conditions that hold after every command, in alternatives. */
  readonly invariants?: Readonly<Record<string, Alternatives>>;
  readonly commands?: Readonly<Record<string, CommandRule>>;
  /** The maximum of items in each list. */
  readonly lists?: Readonly<Record<string, number>>;
  /** The files that fields accept, by their names: `letter`, or `items.receipt`. */
  readonly files?: Readonly<Record<string, FileRule>>;
  /** Reactions by the event that triggers them: one of a referenced aggregate, or an own one by code. */
  readonly reactions?: Readonly<Record<string, string>>;
  /** The events that commands append to targets of references, by command and reference. */
  readonly also?: Readonly<Record<string, string>>;
  readonly timers?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly schedules?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Numbers derived from lists, with their sources. */
  readonly derived?: Readonly<Record<string, string>>;
};
type FileRule = { readonly types: readonly string[]; readonly bytesMax: number };
export type LimitRule = {
  readonly max: number;
  readonly per: readonly string[];
  readonly while?: string;
  readonly refusal: string;
};

export type CommandRule = {
  readonly emits: readonly string[];
  /** A condition on the aggregate, with facts resolved; without one it is always possible. */
  readonly when?: Alternatives;
  /** A condition on the item that it changes. */
  readonly whenItem?: Alternatives;
  /** No client sends it. */
  readonly internal?: true;
  /** Its callers must say why. */
  readonly needsReason?: true;
  /** A person signs it, with this meaning. */
  readonly signed?: string;
  /** A person must approve the call of an agent. */
  readonly confirm?: true;
};

/** Of aggregates that have any. */
export const rulesOf = (domain: Domain): Readonly<Record<string, KindRules>> =>
  named(Object.values(domain.kinds), (kind) => [kind.name, rulesOfKind(domain, kind)]);

const rulesOfKind = (domain: Domain, kind: Kind): KindRules => ({
  ...unlessEmpty(
    'limits',
    named(describeLimits(domain, ownLimits(kind)), ({ name, ...limit }) => [name, limit]),
  ),
  ...unlessEmpty(
    'invariants',
    named(Object.entries(kind.invariants), ([name, condition]) => [
      name,
      alternativesOf(resolve(domain, kind, condition)),
    ]),
  ),
  ...unlessEmpty(
    'commands',
    named(ownCommands(kind), (command) => [command.name, commandRule(domain, kind, command)]),
  ),
  ...unlessEmpty(
    'lists',
    named(Object.values(kind.lists), ({ name, max }) => [name, max]),
  ),
  ...unlessEmpty(
    'files',
    named(
      uploadFieldsOf(kind).filter(({ accepts }) => !accepts.isPicture),
      ({ name, list, accepts: { types, bytesMax } }) => [
        list === undefined ? name : `${list.name}.${name}`,
        { types, bytesMax },
      ],
    ),
  ),
  ...unlessEmpty(
    'reactions',
    named(describeReactions(domain, kind), ({ to, runs, if: when }) => [
      to,
      when === undefined ? runs : `${runs} if ${when}`,
    ]),
  ),
  ...unlessEmpty(
    'also',
    named(describeAlso(domain, kind), ({ command, reference, events }) => [
      `${command} ${reference}`,
      events.join(', '),
    ]),
  ),
  ...unlessEmpty(
    'timers',
    named(describeTimers(domain, kind), ({ name, ...timer }) => [name, timer]),
  ),
  ...unlessEmpty(
    'schedules',
    named(describeSchedules(domain, kind), ({ name, ...schedule }) => [name, schedule]),
  ),
  ...unlessEmpty(
    'derived',
    named(kind.derived, ({ name, list, field }) => [
      name,
      field === undefined ? `count of ${list.name}` : `sum of ${list.name}.${field}`,
    ]),
  ),
});

/** Commands of users are the kernel’s own. */
const ownCommands = (kind: Kind): readonly CommandInfo[] =>
  isUser(kind) ? [] : Object.values(kind.commands);

const commandRule = (domain: Domain, kind: Kind, command: CommandInfo): CommandRule => ({
  emits: command.events.map(({ name }) => name),
  ...(command.when !== undefined && { when: alternativesOf(resolve(domain, kind, command.when)) }),
  ...(command.whenItem !== undefined && {
    whenItem: alternativesOf(conditionOnItem(domain, kind, command)),
  }),
  ...(command.internal && { internal: true }),
  ...(command.reason === 'required' && { needsReason: true }),
  ...(command.signed !== undefined && { signed: command.signed }),
  ...(command.confirm === true && { confirm: true }),
});

/** The unique address of users is the kernel’s own limit. */
const ownLimits = (kind: Kind): Kind =>
  isUser(kind) ? { ...kind, limits: kind.limits.filter(({ name }) => name !== 'email') } : kind;

const named = <T, Value extends object | string | number>(
  all: readonly T[],
  of: (each: T) => readonly [string, Value],
) =>
  Object.fromEntries(
    all.map(of).filter(([, value]) => typeof value !== 'object' || Object.keys(value).length > 0),
  ) as Readonly<Record<string, Value>>;
export const unlessEmpty = <Name extends string, Value extends object>(name: Name, value: Value) =>
  (Object.keys(value).length === 0 ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
