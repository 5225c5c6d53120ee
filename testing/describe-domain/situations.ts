// Over 200 lines, because it is one search: for the commands that lead an aggregate to each of its states.

import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { targetOf, wire } from '#kernel/base/names.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { isUser } from '#kernel/base/users.ts';
import { decidingIn } from '#kernel/conditions/declared.ts';
import { always, resolve } from '#kernel/conditions/expression.ts';
import { type Holds, holdsOf, type State } from '#kernel/conditions/holds.ts';
import { guardOfField, partOfItems } from '#kernel/conditions/parts-of.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { isEventOf } from '#kernel/decide/elsewhere.ts';
import type { Context } from '#kernel/decide/guards.ts';
import { isRelease } from '#kernel/decide/holds.ts';
import { referencesAfter } from '#kernel/decide/reads.ts';
import { retainedCode } from '#kernel/decide/retention.ts';
import { ABSENT, type AggregateState, type Present } from '#kernel/decide/state.ts';
import type { CommandInfo, Defs, Domain, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import { isRoleOfKernel } from '#kernel/registry/roles.ts';
import { type Caller, may, policyOf } from '#shared/policy.ts';
import { pathOf, rolesAskedAt } from './asked-persons.ts';
import { comparedFields } from './compared-fields.ts';
import { type Examples, isToUser, itemsIn, referencesIn, variantsOf } from './forms.ts';

/** There are two persons of each role, and one administrator; two if there are holds, which another person releases. */
export type PersonKey = string;
export type Planned = { readonly key: PersonKey; readonly role: string; readonly id: number };

/** The rights of auditors are the kernel’s, so a domain does not test them. */
const personsOf = (domain: Domain): readonly Planned[] =>
  [
    ...domain.roles
      .filter((role) => role !== 'anonymous' && !isRoleOfKernel(domain, role))
      .flatMap((role) => [`${role} 1`, `${role} 2`]),
    SERVICE,
    ...(Object.values(domain.kinds).some(({ hold }) => hold) ? ['admin 2'] : []),
  ].map((key, index) => ({ key, role: key.replace(/ \d$/, ''), id: index + 1 }));

/** The administrator of the installation is a service account, and the other persons have signed in. */
const SERVICE: PersonKey = 'admin';
export const hasSignedIn = (key: PersonKey): boolean => key !== SERVICE;

/** One command of the search, and an actor who may send it. */
export type Step = {
  readonly actor: PersonKey;
  readonly command: CommandInfo;
  readonly form: Row;
  readonly events: readonly PlannedEvent[];
};

/** One event of it, with the states before and after. */
export type PlannedEvent = {
  readonly type: string;
  readonly isInternal: boolean;
  readonly before: AggregateState;
  readonly after: AggregateState;
};

/** An aggregate in one of its states, and the commands that lead there. */
export type Situation = {
  readonly kind: Kind;
  readonly name: string;
  /** Equal for situations that differ only in choices that no condition compares. */
  readonly alike: string;
  readonly owner: Planned | undefined;
  /** The number of persons who may read it. */
  readonly readers: number;
  /** The first creates it. */
  readonly steps: readonly Step[];
  /** Later commands on its parent. */
  readonly later: readonly Step[];
  readonly state: Present;
};

export type Found = {
  readonly persons: readonly Planned[];
  readonly situations: readonly Situation[];
  /** The targets of references in forms, by the ids of the search. */
  readonly byId: ReadonlyMap<number, Situation>;
  /** The states and commands that the search did not reach, in sentences. */
  readonly unreached: readonly string[];
};

const AT = '2026-01-02T03:04:05.678Z';
/** After the longest retention. */
const LATER = '2999-01-02T03:04:05.678Z';
const NODES_MAX = 60;
const TARGETS_MAX = 6;
const FIRST_ID = 1_000;

/**
 * Searches by deciding in memory, as the command role does: every aggregate, for every role that can own one.
 */
export const situationsOf = (domain: Domain, examples: Examples): Found => {
  const search = new Search(domain, examples);
  const pending = Object.values(domain.kinds).filter((kind) => !isUser(kind));
  for (let round = pending.length; round > 0 && pending.length > 0; round -= 1) {
    const index = pending.findIndex((kind) =>
      requiredTargets(kind).every((name) => search.found.has(name) || isUser({ name })),
    );
    const [kind] = pending.splice(Math.max(0, index), 1);
    if (kind) search.visit(kind);
  }
  const situations = [...search.found.values()].flat();
  return { persons: search.persons, situations, byId: search.byId, unreached: search.unreached() };
};

const requiredTargets = (kind: Kind): readonly string[] =>
  Object.entries(kind.fields).flatMap(([, def]) =>
    def.kind === 'ref' && !def.optional ? [targetOf(def)] : [],
  );

type Node = { readonly state: Present; readonly steps: readonly Step[] };

class Search {
  readonly persons: readonly Planned[];
  readonly found = new Map<string, Situation[]>();
  readonly byId = new Map<number, Situation>();
  readonly #domain: Domain;
  readonly #examples: Examples;
  readonly #taken = new Set<CommandInfo>();
  readonly #asked: ReturnType<typeof rolesAskedAt>;
  readonly #compared: ReturnType<typeof comparedFields>;
  readonly #conditions = new Map<Kind, readonly Holds[]>();
  /** Of a new user, beside the fields that each has. */
  readonly #ofUsers: Row;
  /** Several situations share one creation: as a target of references, each has an id of its own. */
  readonly #aliases = new Map<Situation, number>();
  #nextId = FIRST_ID;
  #serial = 0;

  constructor(domain: Domain, examples: Examples) {
    this.#domain = domain;
    this.#examples = examples;
    this.persons = personsOf(domain);
    this.#asked = rolesAskedAt(domain);
    this.#compared = comparedFields(domain);
    const { fields = {}, lists = {} } = domain.kinds.user ?? {};
    this.#ofUsers = Object.fromEntries([
      ...Object.entries(fields).map(([name, def]) => [name, def.initial ?? null] as const),
      ...Object.keys(lists).map((name) => [name, []] as const),
    ]);
  }

  visit(kind: Kind): void {
    const owners =
      kind.owner === undefined ? [undefined] : this.persons.filter(({ key }) => key.endsWith(' 1'));
    const walk = (from = 0) => owners.flatMap((owner) => this.#situations(kind, { owner, from }));
    const first = walk();
    this.found.set(kind.name, first);
    // A command that refers to another aggregate of the same kind finds one in a second walk.
    const again = this.#missedWithin(kind) ? walk() : first;
    const all = [...again, ...this.#withOtherTargets(kind, walk)];
    this.found.set(kind.name, [...all, ...all.flatMap((situation) => this.#afterParent(situation))]);
  }

  /** The targets that a creation names may refuse a later command, which others allow. */
  #withOtherTargets(kind: Kind, walk: (from: number) => readonly Situation[]): readonly Situation[] {
    const isNamed = Object.values(kind.commands).some(
      (command) =>
        command.kind === 'create' &&
        !command.internal &&
        referencesIn(kind, command).some(([, def]) => !isToUser(def)),
    );
    const found: Situation[] = [];
    for (let from = 1; isNamed && from < TARGETS_MAX; from += 1) {
      const missed = new Set(this.#missed(kind));
      if (missed.size === 0) break;
      found.push(...walk(from).filter(({ steps }) => steps.some(({ command }) => missed.has(command))));
    }
    return found;
  }

  #missed({ commands }: Kind): readonly CommandInfo[] {
    return Object.values(commands).filter((command) => !command.internal && !this.#taken.has(command));
  }

  #missedWithin(kind: Kind): boolean {
    return this.#missed(kind).some((command) =>
      referencesIn(kind, command).some(([, def]) => targetOf(def) === kind.name),
    );
  }

  unreached(): readonly string[] {
    return Object.values(this.#domain.kinds).flatMap((kind) => {
      if (isUser(kind)) return [];
      const states = Object.entries(kind.fields).filter(([, def]) => def.kind === 'states');
      const missed = states.flatMap(([name, { values = [] }]) =>
        values
          .filter((value) => !this.found.get(kind.name)?.some(({ state }) => state.fields[name] === value))
          .map((value) => `${kind.name}: no ${name} ${value}`),
      );
      return [...missed, ...this.#missed(kind).map(({ name }) => `${kind.name}: no ${name}`)];
    });
  }

  #situations(kind: Kind, by: Beginning): Situation[] {
    const { owner } = by;
    const nodes = this.#walk(kind, by);
    const chosen = new Map<string, Node>();
    for (const node of nodes) {
      const values = `${valuesOf(kind.fields, node.state)} ${this.#ownerAbove(kind, node.state)} ${this.#deciding(kind, node.state)}`;
      const filled = this.#filled(kind, node.state);
      if (filled === 0) chosen.set(`${values} bare`, node);
      const richest = chosen.get(`${values} richest`);
      if (richest === undefined || filled > this.#filled(kind, richest.state))
        chosen.set(`${values} richest`, node);
    }
    const all = [...new Set(chosen.values())].map((node) => {
      const above = this.#ownerAbove(kind, node.state);
      const items = Object.values(kind.lists).flatMap((list) =>
        itemsIn(node.state.fields, list).length > 0 ? [list.name] : [],
      );
      const name = [
        kind.name,
        valuesOf(kind.fields, node.state),
        items.length > 0 ? `with ${items.join(' and ')}` : '',
        owner ? `of ${owner.key}` : '',
        above === '' ? '' : `under one of ${above}`,
      ];
      return {
        kind,
        name: name.filter(Boolean).join(' '),
        alike: JSON.stringify([
          ...[kind.name, owner?.key, above, this.#comparedValues(kind, node.state)],
          this.#inLists(kind, node.state.fields),
        ]),
        owner,
        readers: this.#readersOf(kind, node.state),
        steps: node.steps,
        later: [],
        state: node.state,
      };
    });
    const isTwice = (name: string): boolean => all.filter((each) => each.name === name).length > 1;
    return all.map((each) =>
      isTwice(each.name) ? { ...each, name: `${each.name}${this.#factsOf(kind, each.state)}` } : each,
    );
  }

  #readersOf(kind: Kind, { fields }: Present): number {
    const operation = operationOf(kind, 'read') as Operation;
    return this.persons.filter((person) =>
      may(this.callerOf(person), operation, { fields: fields as State, find: this.find }),
    ).length;
  }

  /** Rights to it may depend on the owner of its parent. */
  #ownerAbove(kind: Kind, state: Present): string {
    return kind.parent === undefined
      ? ''
      : (this.byId.get(Number(state.fields[kind.parent]))?.owner?.key ?? '');
  }

  /** From each creation, one command after the other. */
  #walk(kind: Kind, by: Beginning): readonly Node[] {
    const nodes = new Map<string, Node>();
    for (const creation of Object.values(kind.commands).filter(
      (command) => command.kind === 'create' && !command.internal,
    ))
      for (const node of this.#created(kind, creation, by)) this.#addTo(nodes, kind, node);
    for (const node of nodes.values())
      for (const command of Object.values(kind.commands)) {
        if (command.kind === 'create' || command.internal || nodes.size >= NODES_MAX) continue;
        for (const next of this.#follow(kind, command, node))
          if (next.state.status === 'present') this.#addTo(nodes, kind, next as Node);
      }
    return [...nodes.values()];
  }

  /** Tries each combination of reference targets until one is accepted; parents in every state. */
  #created(kind: Kind, command: CommandInfo, { owner, from }: Beginning): readonly Node[] {
    const parents =
      kind.parent === undefined
        ? [undefined]
        : this.#targets(targetOf(kind.fields[kind.parent] ?? ({} as never)));
    return parents.flatMap((parent) => {
      for (const [persons, targets] of this.#attempts(kind, command, { from })) {
        const id = this.#id();
        const forms = variantsOf(
          { kind, command, examples: this.#examples, idFor: (name) => targets.get(name) },
          ++this.#serial,
        );
        const identity = {
          ...(kind.owner !== undefined && owner && { [wire(kind.owner, kind.fields[kind.owner])]: owner.id }),
          ...(kind.parent !== undefined && { [wire(kind.parent, kind.fields[kind.parent])]: parent }),
        };
        const nodes = forms.flatMap((form): readonly Node[] => {
          const actors = [owner, ...persons].flatMap((person) => person ?? []);
          const tried = {
            kind,
            command,
            state: ABSENT,
            form: { [`${kind.name}Id`]: id, ...form, ...identity },
            steps: [],
          };
          const done = this.#firstOf(tried, actors);
          return done?.state.status === 'present' ? [done as Node] : [];
        });
        if (nodes.length > 0) return nodes;
      }
      return [];
    });
  }

  #follow(
    kind: Kind,
    command: CommandInfo,
    { state, steps }: Node,
  ): readonly { state: AggregateState; steps: readonly Step[] }[] {
    const items =
      command.list === undefined || command.kind === 'addItem'
        ? [{}]
        : itemsIn(state.fields, command.list).slice(0, 1);
    const results = items.flatMap((item) => {
      const already =
        command.kind === 'addItem' && command.list ? itemsIn(state.fields, command.list).length : 0;
      for (const [persons, targets] of this.#attempts(kind, command, { already })) {
        const done = this.#followWith(kind, command, { state, steps }, { item, targets, persons });
        if (done.length > 0) return done;
      }
      return [];
    });
    return results;
  }

  /** An actor who may not read a target cannot refer to it. */
  #followWith(kind: Kind, command: CommandInfo, { state, steps }: Node, { item, targets, persons }: Aimed) {
    const making = { kind, command, examples: this.#examples, idFor: (name: string) => targets.get(name) };
    return variantsOf(making, ++this.#serial).flatMap((content) => {
      const of =
        command.list === undefined || command.kind === 'addItem' ? {} : { [command.list.id.name]: item.id };
      const form = {
        [`${kind.name}Id`]: state.fields.id,
        ...content,
        ...of,
        ...(command.kind === 'moveItem' && { before: null }),
      };
      const owner = this.persons.filter(
        ({ id }) => kind.owner !== undefined && id === state.fields[kind.owner],
      );
      return this.#firstOf({ kind, command, state, form, steps }, [...owner, ...persons]) ?? [];
    });
  }

  /** By the first actor who may send it and is not refused. */
  #firstOf({ kind, command, state, form, steps }: Tried, actors: readonly Planned[]) {
    const { decide, evolve } = deciderOf(this.#domain, kind);
    // A form without a target for a required reference would be refused before it is decided.
    const isDemanded = ([name, def]: readonly [string, { readonly optional?: boolean }]): boolean =>
      !def.optional || command.requires.includes(name);
    if (referencesIn(kind, command).some((each) => isDemanded(each) && form[wire(...each)] === null))
      return undefined;
    for (const actor of actors) {
      const identity = Object.fromEntries(
        kind.identity.map((name) => [name, form[wire(name, kind.fields[name])]]),
      );
      const content = Object.fromEntries(
        command.form.map((name) => [name, form[wire(name, kind.fields[name])]]),
      );
      const fields = state.status === 'absent' ? { ...content, ...identity } : state.fields;
      const mayDo = (right: string): boolean =>
        may(this.callerOf(actor), operationOf(kind, right) as Operation, {
          fields: fields as State,
          find: this.find,
        });
      if (!mayDo(command.name) || (isRelease(kind, command) && !hasSignedIn(actor.key))) continue;
      if (!this.#mayMove({ kind, command, form }, fields, actor)) continue;
      if (command.kind === 'create' && kind.owner !== undefined && identity[kind.owner] !== actor.id)
        if (kind.rights.forOthers === undefined ? actor.role !== 'admin' : !mayDo('forOthers')) continue;
      if (!this.#seesItself(kind, { command, state }, actor)) continue;
      if (!this.#seesWritten({ kind, command, state, form }, actor)) continue;
      if (!this.#seesParent(kind, fields, actor) || !this.#seesTargets(kind, command, form, actor)) continue;
      try {
        const sent = { type: typeOfCommand(kind, command.name), ...form };
        const context: Context = { callerId: actor.id, at: AT, look: this.#look };
        const events = decide(sent, state, context);
        const metadata = { at: AT, actor: `user:${actor.id}` as const };
        const planned: PlannedEvent[] = [];
        let after = state;
        // Events of other aggregates do not change it.
        for (const event of events.filter(isEventOf(kind, form[`${kind.name}Id`]))) {
          const before = after;
          after = evolve(before, { ...event, metadata });
          const isInternal = Object.values(kind.events).some(
            ({ type, hidden }) => type === event.type && hidden,
          );
          planned.push({ type: event.type, isInternal, before, after });
        }
        this.#taken.add(command);
        return { state: after, steps: [...steps, { actor: actor.key, command, form, events: planned }] };
      } catch (error) {
        if (!(error instanceof Rejection)) throw error;
        if (error.code === retainedCode(kind)) this.#endLater({ kind, command, state, form }, actor);
      }
    }
    return undefined;
  }

  /** An end that only retention refuses happens in its time. */
  #endLater({ kind, command, state, form }: Omit<Tried, 'steps'>, actor: Planned): void {
    try {
      const context: Context = { callerId: actor.id, at: LATER, look: this.#look };
      deciderOf(this.#domain, kind).decide(
        { type: typeOfCommand(kind, command.name), ...form },
        state,
        context,
      );
      this.#taken.add(command);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
    }
  }

  /** Nobody changes an aggregate that they may not read; ending it is allowed. */
  #seesItself(
    kind: Kind,
    { command, state }: { readonly command: CommandInfo; readonly state: AggregateState },
    actor: Planned,
  ): boolean {
    if (state.status !== 'present' || command.kind === 'end') return true;
    const resource = { fields: state.fields as State, find: this.find };
    return may(this.callerOf(actor), operationOf(kind, 'read') as Operation, resource);
  }

  /** Nobody changes a field or a whole list that they may not read. */
  #seesWritten(
    { kind, command, state, form }: Pick<Tried, 'kind' | 'command' | 'state' | 'form'>,
    actor: Planned,
  ): boolean {
    if (state.status !== 'present') return true;
    const ofItems = command.list && partOfItems(kind, command.list);
    const ofFields = command.form.flatMap((name) =>
      form[wire(name, kind.fields[name])] === undefined ? [] : (guardOfField(kind, name) ?? []),
    );
    const resource = { fields: state.fields as State, find: this.find };
    const rights = command.list === undefined ? ofFields : ofItems?.of === always ? [ofItems.name] : [];
    return rights.every((right) =>
      may(this.callerOf(actor), operationOf(kind, right) as Operation, resource),
    );
  }

  /** The right to move an aggregate must hold below its new parent too. */
  #mayMove(
    { kind, command, form }: Pick<Tried, 'kind' | 'command' | 'form'>,
    fields: Row,
    actor: Planned,
  ): boolean {
    if (!command.events.some(({ former }) => former !== undefined)) return true;
    return may(this.callerOf(actor), operationOf(kind, command.name) as Operation, {
      fields: referencesAfter(kind, fields, form) as State,
      find: this.find,
    });
  }

  /** Nobody creates anything under a parent that they may not read. */
  #seesParent(kind: Kind, fields: Row, actor: Planned): boolean {
    const target =
      kind.parent === undefined
        ? undefined
        : this.#domain.kinds[targetOf(kind.fields[kind.parent] ?? ({} as never))];
    if (target === undefined) return true;
    const above = this.find(target.name, fields[kind.parent ?? '']);
    return (
      above !== undefined &&
      may(this.callerOf(actor), operationOf(target, 'read') as Operation, { fields: above, find: this.find })
    );
  }

  /** Nobody refers to an aggregate that they may not read. */
  #seesTargets(kind: Kind, command: CommandInfo, form: Row, actor: Planned): boolean {
    return referencesIn(kind, command).every(([name, def]) => {
      const [target, id] = [this.#domain.kinds[targetOf(def)], form[wire(name, def)]];
      if (target === undefined || typeof id !== 'number') return true;
      if (isToUser(def) && id === actor.id) return true;
      const fields = this.find(target.name, id);
      return (
        fields !== undefined &&
        may(this.callerOf(actor), operationOf(target, 'read') as Operation, { fields, find: this.find })
      );
    });
  }

  /** The same aggregate after its parent moves to another state. */
  #afterParent(situation: Situation): readonly Situation[] {
    const { kind, state } = situation;
    const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
    const parent = this.byId.get(Number(state.fields[kind.parent ?? '']));
    if (def === undefined || parent === undefined) return [];
    return Object.values(parent.kind.commands)
      .filter((command) => command.kind === 'action' && !command.internal)
      .flatMap((command) => this.#follow(parent.kind, command, { state: parent.state, steps: [] }))
      .filter(
        (next) =>
          next.state.status === 'present' &&
          valuesOf(parent.kind.fields, next.state) !== valuesOf(parent.kind.fields, parent.state),
      )
      .map(({ steps, state: after }) => ({
        ...situation,
        name: `${situation.name}, then its ${parent.kind.name} ${valuesOf(parent.kind.fields, after as Present)}`,
        alike: `${situation.alike} ${this.#comparedValues(parent.kind, after as Present)}`,
        later: steps,
      }));
  }

  /** Administrators may name any target, so they send only what nobody else can. */
  #attempts(
    kind: Kind,
    command: CommandInfo,
    { already = 0, from = 0 }: Aiming = {},
  ): readonly (readonly [readonly Planned[], ReadonlyMap<string, number>])[] {
    const combinations = this.#combinations(kind, command, already).slice(from);
    const others = this.persons.filter(({ role }) => role !== 'admin');
    const passes = referencesIn(kind, command).length === 0 ? [this.persons] : [others, this.persons];
    return passes.flatMap((persons) => combinations.map((targets) => [persons, targets] as const));
  }

  /**
   * Ids of situations that the references of a form may lead to, another combination each time; lists already
   * hold `already` items.
   */
  #combinations(kind: Kind, command: CommandInfo, already = 0): readonly ReadonlyMap<string, number>[] {
    const all = referencesIn(kind, command).map(
      ([name, def]) =>
        [
          name,
          isToUser(def) ? this.#users(pathOf(kind, name, command), already) : this.#targets(targetOf(def)),
        ] as const,
    );
    const longest = Math.min(TARGETS_MAX, Math.max(1, ...all.map(([, ids]) => ids.length)));
    return Array.from(
      { length: longest },
      (_, index) =>
        new Map(
          all.flatMap(([name, ids]) =>
            ids.length === 0 ? [] : [[name, ids[index % ids.length] as number] as const],
          ),
        ),
    );
  }

  /**
   * First the users that a right looks for. Each item gets the other user of a role; a field does not get the
   * owner.
   */
  #users(path: string, already: number): readonly number[] {
    const roles = this.#asked.get(path) ?? new Set();
    const isItem = path.split('.').length > 2;
    const order = (isItem ? [1, 2] : [2, 1]).map((_, index, both) => both[(index + already) % 2]);
    const sought = order.flatMap((number) =>
      this.persons.filter(({ key, role }) => roles.has(role) && key === `${role} ${number}`),
    );
    return [...new Set([...sought, ...this.persons.slice(1, 2), ...this.persons])].map(({ id }) => id);
  }

  /** First the targets with the fullest lists. */
  #targets(name: string): number[] {
    return (this.found.get(name) ?? [])
      .filter(({ later }) => later.length === 0)
      .toSorted((one, other) => this.#filled(other.kind, other.state) - this.#filled(one.kind, one.state))
      .map((situation) => {
        const id = this.#aliases.get(situation) ?? this.#id();
        this.#aliases.set(situation, id);
        this.byId.set(id, situation);
        return id;
      });
  }

  #id(): number {
    this.#nextId += 1;
    return this.#nextId;
  }

  /** The number of items in its lists; users that a right looks for count once per choice beside them. */
  #filled(kind: Kind, { fields }: Present): number {
    return Object.values(kind.lists).reduce(
      (sum, list) =>
        sum +
        this.#howFull(kind, fields, list) +
        Math.max(0, new Set(this.#said(kind, fields, list)).size - 1),
      0,
    );
  }

  /** A list needs two items if it can be moved, or if a right looks for its users. */
  #howFull(kind: Kind, fields: Row, list: ListInfo): number {
    return Math.min(itemsIn(fields, list).length, list.isOrdered || this.#isAskedIn(kind, list) ? 2 : 1);
  }

  #isAskedIn = (kind: Kind, list: ListInfo): boolean =>
    [...this.#asked.keys()].some((path) => path.startsWith(`${kind.name}.${list.name}.`));

  /** The choices in those items whose users a right looks for. */
  #said(kind: Kind, fields: Row, list: ListInfo): readonly string[] {
    if (!this.#isAskedIn(kind, list)) return [];
    const choices = Object.entries(list.fields).flatMap(([name, { values }]) =>
      values === undefined ? [] : [name],
    );
    return itemsIn(fields, list)
      .slice(0, 2)
      .map((item) => choices.map((name) => String(item[name])).join(' '));
  }

  #inLists(kind: Kind, fields: Row): readonly unknown[] {
    return Object.values(kind.lists).map((list) => [
      this.#howFull(kind, fields, list),
      this.#said(kind, fields, list),
    ]);
  }

  /** Which conditions of its commands are true, whoever asks: they may compare more than states and choices. */
  #deciding(kind: Kind, { fields }: Present): string {
    const conditions =
      this.#conditions.get(kind) ?? decidingIn(kind).map((each) => this.#compiled(kind, each));
    this.#conditions.set(kind, conditions);
    return conditions.map((holds) => Number(holds(fields as State, null, this.find))).join('');
  }

  #factsOf(kind: Kind, { fields }: Present): string {
    const named = Object.keys(kind.facts).filter((name) =>
      this.#compiled(kind, name)(fields as State, null, this.find),
    );
    return ` (${named.join(', ')})`;
  }

  #compiled = (kind: Kind, condition: unknown): Holds => holdsOf(resolve(this.#domain, kind, condition));

  #comparedValues({ name, fields }: Kind, state: Present): string {
    const compared = Object.entries(fields).filter(
      ([field, { kind }]) => kind === 'states' || this.#compared.has(`${name}.${field}`),
    );
    return valuesOf(Object.fromEntries(compared), state);
  }

  #addTo(nodes: Map<string, Node>, kind: Kind, node: Node): void {
    const { fields } = node.state;
    const lists = this.#inLists(kind, fields);
    const parent = kind.parent === undefined ? '' : String(fields[kind.parent]);
    const deciding = this.#deciding(kind, node.state);
    const key = JSON.stringify([valuesOf(kind.fields, node.state), lists, parent, deciding]);
    if (!nodes.has(key)) nodes.set(key, node);
  }

  callerOf({ role, id }: Planned): Caller {
    const policy = policyOf(this.#domain);
    const scopes = new Set([...policy.rights.values()].map(({ scope }) => scope));
    return { kind: 'user', policy, userId: id as UserId, role: role as Role, scopes, client: null };
  }

  readonly #look = (kind: string, id: unknown): AggregateState => {
    if (kind !== 'user') return this.byId.get(Number(id))?.state ?? ABSENT;
    const person = this.persons.find((each) => each.id === id);
    const fields = person && {
      ...this.#ofUsers,
      ...{ id: person.id, name: person.key, email: null, role: person.role },
    };
    return fields === undefined ? ABSENT : { status: 'present', fields, lostUploads: '' };
  };

  readonly find = (kind: string, id: unknown): State | undefined => {
    const state = this.#look(kind, id);
    return state.status === 'absent' ? undefined : state.fields;
  };
}

/** The owner of a creation, and the first of the combinations of targets that it may name. */
type Beginning = { readonly owner: Planned | undefined; readonly from: number };
/** Items that a list already has, and the first combination of targets to try. */
type Aiming = { readonly already?: number; readonly from?: number };
type Aimed = {
  readonly item: Row;
  readonly targets: ReadonlyMap<string, number>;
  readonly persons: readonly Planned[];
};
type Tried = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly state: AggregateState;
  readonly form: Row;
  readonly steps: readonly Step[];
};

/** The values of its choices and states. */
const valuesOf = (fields: Defs, { fields: state }: Present): string =>
  Object.entries(fields)
    .flatMap(([name, { values }]) => (values === undefined ? [] : [String(state[name])]))
    .join(' ');

/** Equal for situations of a kind in the same state, whatever their other values. */
export const statesIn = ({ kind, state }: Situation): string =>
  Object.entries(kind.fields)
    .flatMap(([name, def]) => (def.kind === 'states' ? [state.fields[name]] : []))
    .join();
