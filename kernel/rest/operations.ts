import * as z from 'zod';
import { IMAGE_TYPES } from '#shared/blobs/image-type.ts';
import { JsonPatch } from '#shared/commands/json-patch.ts';
import type { RejectionCode } from '#shared/rejection.ts';
import { atOfList, ItemAt } from '#shared/rest/at.ts';
import { Written, written } from '#shared/rest/fields.ts';
import { HISTORY } from '#shared/rest/history.ts';
import { idParameter, PAGE, search, sortBy } from '#shared/rest/lists.ts';
import type { RestOperation } from '#shared/rest/operation.ts';
import { operationOf } from '../conditions/rights.ts';
import { editOf } from '../decide/forms.ts';
import { refusalOfInvariant, refusalsOf } from '../decide/guards.ts';
import type { FieldDef } from '../declare/fields.ts';
import { capital, kebab, oneOf, spaced, targetOf } from '../registry/names.ts';
import type { CommandInfo, Domain, Kind } from '../registry/registry.ts';
import { actionSchema, itemSchema, newSchema, patchSchema, replacementSchema } from './schemas.ts';

/** What an operation does to an aggregate of the domain, by which its route is made. */
type Use = { readonly kind: Kind } & (
  | { readonly does: 'list' | 'listOfUser' | 'read' | 'history' }
  /** Comes to one command. */
  | { readonly does: 'command'; readonly command: CommandInfo }
  | { readonly does: 'putFile' | 'removeFile'; readonly command: CommandInfo; readonly field: string }
);
/** Of an aggregate of the domain. */
export type AggregateOperation = RestOperation & { readonly use: Use };
type Named = readonly [id: string, operation: AggregateOperation];

/** The REST interface to the aggregates of a domain, which follows from their declarations. Of users, the reads are the kernel's own. */
export const aggregateOperations = (domain: Domain): Readonly<Record<string, AggregateOperation>> => {
  const kinds = Object.values(domain.kinds).filter(({ name }) => name !== 'user');
  const ofUsers = domain.kinds.user === undefined ? [] : writesOf(domain, domain.kinds.user);
  const ofKinds = kinds.flatMap((kind) => [...readsOf(domain, kind), ...writesOf(domain, kind), ...filesOf(domain, kind, kinds)]);
  const operations = [...ofUsers, ...ofKinds];
  const names = operations.flatMap(([id, { method, path }]) => [id, `${method} ${path}`]);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`There are two operations ${twice}: give one of them another name.`);
  return Object.fromEntries(operations);
};

const itemPath = (kind: Kind): string => `/${kind.path}/{${kind.name}Id}`;
const collectionPath = (domain: Domain, kind: Kind): string => {
  const parent = parentOf(domain, kind);
  return `${parent === undefined ? '' : itemPath(parent)}/${kind.path}`;
};
const parentOf = (domain: Domain, kind: Kind): Kind | undefined => {
  const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
  return def && domain.kinds[targetOf(def)];
};

const readsOf = (domain: Domain, kind: Kind): readonly Named[] => {
  const { name, plural, owner } = kind;
  const [Kinds, words] = [capital(plural), spaced(plural)];
  const parent = parentOf(domain, kind);
  const schema = itemSchema(domain, kind);
  const read = { method: 'GET', role: 'query', right: operationOf(kind, 'read') } as const;
  const page = { status: 200, description: `A page of ${words}.`, kind: 'list', schema } as const;
  const asked = z.strictObject({ ...PAGE, ...filtersOf(kind), at: atOfList });
  const isOfUsers = owner !== undefined && parent === undefined;
  const list: AggregateOperation = {
    ...read,
    path: collectionPath(domain, kind),
    summary: parent === undefined ? `The ${words} that you may read` : `The ${words} of ${oneOf(parent.name)}`,
    query: isOfUsers ? asked.extend({ [owner]: idParameter.optional() }) : asked,
    answer: page,
    use: { kind, does: 'list' },
  };
  const listOfUser: AggregateOperation = {
    ...read,
    path: `/users/{userId}/${kind.path}`,
    summary: `The ${words} of a user that you may read`,
    query: asked,
    answer: page,
    use: { kind, does: 'listOfUser' },
  };
  const item: AggregateOperation = {
    ...read,
    path: itemPath(kind),
    summary: capital(oneOf(name)),
    query: ItemAt,
    answer: { status: 200, description: `The ${spaced(name)}.`, kind: 'item', schema },
    use: { kind, does: 'read' },
  };
  const history: AggregateOperation = {
    ...HISTORY,
    path: `${itemPath(kind)}/history`,
    summary: `Who changed what of ${oneOf(name)}, as far as you may know of it`,
    use: { kind, does: 'history' },
  };
  return [
    [`list${Kinds}`, list],
    ...(isOfUsers ? [[`list${Kinds}OfUser`, listOfUser] as const] : []),
    [`get${capital(name)}`, item],
    [`list${capital(name)}History`, history],
  ];
};

/** How its lists can be narrowed and ordered. */
const filtersOf = ({ fields, oldestFirst }: Kind): Readonly<Record<string, z.ZodType>> => {
  const all = Object.entries(fields);
  const filters = all.flatMap(([name, { filter, ...def }]) =>
    filter === undefined ? [] : [[filter === true ? name : filter, filterSchema(def).optional()] as const],
  );
  const sorted = all.flatMap(([name, { sort }]) => (sort ? [name] : [])).flatMap((name) => [`-${name}`, name]);
  return {
    ...Object.fromEntries(filters.toSorted(([one], [other]) => (one < other ? -1 : 1))),
    ...(all.some(([, { search: weight }]) => weight !== undefined) && { q: search.optional() }),
    sort: oldestFirst ? sortBy('createdAt', '-createdAt', ...sorted) : sortBy('-createdAt', 'createdAt', ...sorted),
  };
};

/** As a query writes it; of several values, one of them. */
const filterSchema = ({ kind, recorded }: FieldDef): z.ZodType => {
  if (kind === 'ref') return idParameter;
  if (kind === 'integer')
    return z
      .string()
      .regex(/^-?\d{1,15}$/)
      .meta({ type: 'integer', pattern: undefined })
      .transform(Number)
      .pipe(recorded as z.ZodInt);
  if (kind === 'boolean') return z.enum(['true', 'false']).transform((text) => text === 'true');
  return kind === 'set' && recorded instanceof z.ZodArray ? (recorded.element as z.ZodType) : recorded;
};

const writesOf = (domain: Domain, kind: Kind): readonly Named[] => {
  const seen = new Set<string>();
  return Object.values(kind.commands).flatMap((command) => {
    if (command.internal) return [];
    const isFirst = !seen.has(command.kind);
    seen.add(command.kind);
    switch (command.kind) {
      case 'create':
        return [creationOf(domain, kind, command)];
      case 'edit':
        return isFirst ? editsOf(domain, kind, command) : [actionOf(domain, kind, command)];
      case 'end':
        return [(isFirst ? endOf : actionOf)(domain, kind, command)];
      case 'action':
        return [actionOf(domain, kind, command)];
      default:
        return [];
    }
  });
};

const json = 'application/json';

/** What every operation that comes to a command has. */
const commanded = (domain: Domain, kind: Kind, command: CommandInfo) =>
  ({
    role: 'command',
    summary: command.says ?? `${capital(spaced(command.name))} ${oneOf(kind.name)}`,
    right: operationOf(kind, command.name),
    use: { kind, does: 'command', command },
    refusals: refusalsOfCommand(domain, kind, command),
  }) as const;

/** What follows from what is there, rather than from the form of the request. */
const refusalsOfCommand = (domain: Domain, kind: Kind, command: CommandInfo): readonly RejectionCode[] => {
  const isOfUsers = command.kind === 'create' && kind.owner !== undefined;
  const isErasable = command.kind === 'edit' && command.form.some((name) => kind.fields[name]?.personal && !kind.fields[name]?.optional);
  const guarded = [command, ...command.next.flatMap((next) => kind.commands[next] ?? [])];
  return [
    ...(isOfUsers ? (['user_not_found', 'user_deleted'] as const) : isErasable ? (['user_deleted'] as const) : []),
    ...guarded.flatMap(({ when }) => refusalsOf(domain, kind, when).map(({ code }) => code)),
    ...Object.entries(kind.invariants).map((invariant) => refusalOfInvariant(kind, invariant).code),
  ];
};

const creationOf = (domain: Domain, kind: Kind, command: CommandInfo): Named => [
  `${kind.parent === undefined ? 'create' : command.name}${capital(kind.name)}`,
  {
    ...commanded(domain, kind, command),
    method: 'POST',
    path: collectionPath(domain, kind),
    body: { [json]: newSchema(kind, command) },
    answer: { status: 201, description: happened(kind, command), kind: 'written', schema: Written, item: readOf(kind) },
  },
];

/** An edit changes what it names; as a whole, everything that can be changed. */
const editsOf = (domain: Domain, kind: Kind, command: CommandInfo): readonly Named[] => {
  const item = { ...commanded(domain, kind, command), path: itemPath(kind) };
  const [only, ...others] = command.form;
  const patch = patchSchema(kind, command);
  const what = others.length === 0 && only !== undefined ? `the ${spaced(only)}` : 'what can be changed';
  const replace: AggregateOperation = {
    ...item,
    method: 'PUT',
    summary: `Replace ${what} of ${oneOf(kind.name)}`,
    body: { [json]: replacementSchema(domain, kind, command) },
    answer: written(`The ${spaced(kind.name)} is as it was sent.`, readOf(kind)),
  };
  const edit: AggregateOperation = {
    ...item,
    method: 'PATCH',
    body: { 'application/merge-patch+json': patch, 'application/json-patch+json': JsonPatch, [json]: patch },
    answer: written(`The ${spaced(kind.name)} was changed.`, readOf(kind)),
  };
  return [
    [`replace${capital(kind.name)}`, replace],
    // Clients know this one by another name than the command has.
    [`${kind.name === 'user' ? 'edit' : command.name}${capital(kind.name)}`, edit],
  ];
};

const endOf = (domain: Domain, kind: Kind, command: CommandInfo): Named => [
  `${command.name}${capital(kind.name)}`,
  {
    ...commanded(domain, kind, command),
    method: 'DELETE',
    path: itemPath(kind),
    answer: { status: 204, description: `The ${spaced(kind.name)} is gone.`, kind: 'nothing' },
  },
];

const actionOf = (domain: Domain, kind: Kind, command: CommandInfo): Named => [
  `${command.name}${capital(kind.name)}`,
  {
    ...commanded(domain, kind, command),
    method: 'POST',
    path: `${itemPath(kind)}/${kebab(command.name)}`,
    ...(command.form.length > 0 && { body: { [json]: actionSchema(kind, command) } }),
    answer:
      command.kind === 'end'
        ? { status: 204, description: happened(kind, command), kind: 'nothing' }
        : written(happened(kind, command), readOf(kind)),
  },
];

const readOf = (kind: Kind): string => `get${capital(kind.name)}`;

/** Events are named by what has happened. */
const happened = (kind: Kind, { events: [first, ...others] }: CommandInfo): string =>
  `The ${spaced(kind.name)} was ${first === undefined || others.length > 0 ? 'changed' : spaced(first.name)}.`;

const uploadsOf = (kind: Kind): readonly string[] => (editOf(kind)?.form ?? []).filter((field) => kind.fields[field]?.kind === 'upload');

/** Pictures are sent apart. Only the first of a name has an id without the name of what it belongs to. */
const filesOf = (domain: Domain, kind: Kind, kinds: readonly Kind[]): readonly Named[] => {
  const edit = editOf(kind);
  if (edit === undefined) return [];
  return uploadsOf(kind).flatMap((field): readonly Named[] => {
    const [words, one] = [spaced(field), spaced(kind.name)];
    const isFirst = kinds.find((each) => uploadsOf(each).includes(field)) === kind;
    const name = `${isFirst ? '' : capital(kind.name)}${capital(field)}`;
    const shared = { ...commanded(domain, kind, edit), path: `${itemPath(kind)}/${kebab(field)}`, refusals: [] };
    const put: AggregateOperation = {
      ...shared,
      method: 'PUT',
      summary: `Give ${oneOf(kind.name)} ${oneOf(field)}`,
      body: Object.fromEntries(IMAGE_TYPES.map((type) => [type, z.file()])),
      answer: written(`The ${one} has the ${words}.`),
      use: { kind, does: 'putFile', command: edit, field },
    };
    const remove: AggregateOperation = {
      ...shared,
      method: 'DELETE',
      summary: `Take the ${words} from ${oneOf(kind.name)}`,
      answer: { status: 204, description: `The ${one} has no ${words}.`, kind: 'nothing' },
      use: { kind, does: 'removeFile', command: edit, field },
    };
    return [
      [`put${name}`, put],
      [`delete${name}`, remove],
    ];
  });
};
