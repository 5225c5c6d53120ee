import { kebab, targetOf, wire } from '#kernel/base/names.ts';
import type { Domain, Kind, Row } from '#kernel/registry/registry.ts';
import type { Checks } from './checks.ts';
import { isHidden, partsOf } from './declared.ts';
import type { Caller, Callers } from './rights-callers.ts';
import type { Expecting } from './rights-expected.ts';
import { tryField } from './rights-mutations.ts';
import { askingAs, type SeenRows } from './seen-rows.ts';
import type { Made, Stage } from './stage.ts';

/** An aggregate that callers read. */
export type Read = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly callers: Callers;
  readonly expecting: Expecting;
  readonly seenRows: Pick<SeenRows, 'find'>;
  readonly made: Made;
  readonly state: Row;
};

/** A caller who may read an aggregate sees of it what the rights to its parts and to its references allow. */
export const checkContent = async (read: Read, caller: Caller): Promise<void> => {
  await checkParts(read, caller);
  await checkLabels(read, caller);
};

/** Representations and lists of items contain exactly the parts that a reader may read. */
const checkParts = async ({ stage, checks, expecting, made, state }: Read, caller: Caller): Promise<void> => {
  const { kind, name } = made.situation;
  const parts = partsOf(kind);
  if (parts.length === 0) return;
  const readable = parts.map((part) => expecting.part(caller, { kind, name: part.name, state }));
  if (readable.includes(undefined)) return;
  const hidden = parts.filter((_, index) => readable[index] === false);
  const { body } = await stage.read<Row>(made.path, caller);
  for (const field of parts.flatMap(({ reads }) => reads)) {
    const def = kind.fields[field];
    if (def !== undefined && kind.lists[field] === undefined)
      checks.equal(
        field in body || wire(field, def) in body,
        !hidden.some(({ reads }) => reads.includes(field)),
        `${field} of ${name} for ${caller.key}`,
      );
  }
  for (const list of Object.values(kind.lists)) {
    const isShown = (item: Row): boolean =>
      !hidden.some(
        ({ reads, items }) =>
          reads.includes(list.name) ||
          (items[list.name] !== undefined && isHidden(items[list.name] as Row, item)),
      );
    const path = `${made.path}/${kebab(list.name)}`;
    const { body: items } = await stage.read<readonly Row[]>(`${path}?limit=100`, caller);
    const wanted = ((state[list.name] ?? []) as readonly Row[]).filter(isShown);
    checks.equal(items.length, wanted.length, `${path} of ${name} for ${caller.key}`);
  }
};

/** References whose targets have a label, and rights of their own. */
export const labelled = (domain: Domain, { fields, parent }: Kind) =>
  Object.entries(fields).flatMap(([name, def]) => {
    const target = def.kind === 'ref' && name !== parent ? domain.kinds[targetOf(def)] : undefined;
    return target?.label === undefined ? [] : [{ name, target, label: target.label }];
  });

/** A reference shows a target only to callers who may read the target, by REST and by GraphQL. */
const checkLabels = async (read: Read, caller: Caller): Promise<void> => {
  const { stage, checks, callers, expecting, seenRows, made, state } = read;
  const { kind, name: situation } = made.situation;
  const references = labelled(stage.domain, kind);
  if (references.length === 0) return;
  const { body } = await stage.read<Row>(made.path, caller);
  const selection = `{ ${references.map(({ name }) => `${name} { id }`).join(' ')} }`;
  // GraphQL refuses a query of what the token has no scope for.
  const { data } = callers.actors.includes(caller)
    ? await tryField(
        stage,
        { of: 'query', name: kind.field, values: { id: String(made.id) }, selection },
        caller,
      )
    : { data: undefined };
  for (const { name, target, label } of references) {
    const shown = body[name];
    if (typeof shown !== 'object' || shown === null) continue;
    const there = askingAs(stage, seenRows, caller).find(target.name, state[name]);
    const wanted = there === undefined ? 'absent' : expecting.read(caller, { kind: target, state: there });
    if (wanted === undefined) continue;
    const what = `${caller.key} sees the ${name} of ${situation}`;
    checks.equal((shown as Row)[label] !== null, wanted === 'allowed', `${what} by its ${label}`);
    if (data) checks.equal((data.tried as Row)[name] !== null, wanted === 'allowed', `${what} by GraphQL`);
  }
};

/** The same with targets that few may read. Changes the fixture. */
export const checkHiddenTargets = async (read: Read & { readonly seenRows: SeenRows }): Promise<void> => {
  const { stage, callers, expecting, seenRows, made } = read;
  const { kind } = made.situation;
  const edit = Object.values(kind.commands).find((command) => command.kind === 'edit' && !command.internal);
  for (const { name, target } of labelled(stage.domain, kind)) {
    const [hidden] = stage.found.situations
      .filter((each) => each.kind === target && each.later.length === 0)
      .toSorted((one, other) => one.readers - other.readers);
    if (hidden === undefined || !edit?.form.includes(name)) continue;
    const body = { [wire(name, kind.fields[name])]: (await stage.target(hidden)).id };
    const { token } = stage.admin;
    const { status, headers } = await stage.ask('PATCH', made.path, { token, body });
    if (status >= 300) continue;
    const cursor = headers.get('consistency-token') ?? '';
    await stage.session.read(made.path, { token, headers: { 'consistency-token': cursor } });
    const state = await seenRows.look(kind, made.id);
    if (state === undefined) continue;
    for (const caller of callers.actors)
      if (expecting.read(caller, { kind, state }) === 'allowed')
        await checkLabels({ ...read, state }, caller);
  }
};
