// Over 200 lines, because it is one interface: the reads of the items of a list, and every command to them.

import * as z from 'zod';
import { JsonPatch } from '../base/json-patch.ts';
import { capital, kebab, oneOf, spaced } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import { exists, isFull, notFound } from '../base/rejection.ts';
import { ItemAt } from '../base/rest/at.ts';
import { createdAt, id, Links, updatedAt, Written, written } from '../base/rest/fields.ts';
import { PAGE } from '../base/rest/lists.ts';
import type { PathParameters } from '../base/rest/operation.ts';
import { pathId } from '../base/rest/path-id.ts';
import { operationOf } from '../conditions/rights.ts';
import { formShape } from '../decide/forms.ts';
import { oneOfList } from '../decide/items.ts';
import type { FieldDef } from '../declare/fields.ts';
import { exampleOfPart } from '../events/definitions.ts';
import type { CommandInfo, Domain, Kind, ListInfo } from '../registry/registry.ts';
import { filtersByFields } from './filters.ts';
import { type AggregateOperation, itemPath, type Named, nameOfItems } from './operation.ts';
import { shownField } from './schemas.ts';
import { commanded, refusalsOfCommand } from './writes.ts';

/** The REST interface to the items of an aggregate’s lists. Items share the version of their aggregate. */
export const listOperations = (domain: Domain, kind: Kind): readonly Named[] =>
  Object.values(kind.lists).flatMap((list) => [
    ...readsOf(domain, kind, list),
    ...writesOf(domain, kind, list),
  ]);

const itemsPath = (kind: Kind, list: ListInfo): string => `${itemPath(kind)}/${kebab(list.name)}`;
export const onePath = (kind: Kind, list: ListInfo): string => `${itemsPath(kind, list)}/{${list.id.name}}`;

/** The id of an item in a path; undefined if no item can have it. */
export const itemIdIn = ({ id: { def } }: ListInfo, text: string): number | string | undefined => {
  const isNumber = def.kind === 'ref' || def.kind === 'integer';
  const { success, data } = def.recorded.safeParse(isNumber ? pathId(text) : text);
  // A pattern may accept text that PostgreSQL cannot store.
  return success && !text.includes('\u0000') ? (data as number | string) : undefined;
};

export const parametersOf = (domain: Domain, kind: Kind, list: ListInfo): PathParameters => ({
  [list.id.name]: {
    schema: list.id.def.recorded,
    example: exampleOfPart(domain, list.id.def),
    absent: notFound(oneOfList(kind, list)),
    read: (text) => itemIdIn(list, text),
  },
});

const readsOf = (domain: Domain, kind: Kind, list: ListInfo): readonly Named[] => {
  const schemaOf = () => listedSchemas(domain)(kind)(list);
  const one = spaced(oneOfList(kind, list));
  const read = { method: 'GET', role: 'query', right: operationOf(kind, 'read') } as const;
  const all: AggregateOperation = {
    ...read,
    path: itemsPath(kind, list),
    summary: `The ${spaced(list.name)} of ${oneOf(kind.name)}, in their order`,
    query: z.strictObject({
      ...PAGE,
      ...Object.fromEntries(filtersByFields(fieldsOfList(list))),
      ...sortOf(list),
      ...ItemAt.shape,
    }),
    answer: {
      status: 200,
      description: `A page of ${spaced(list.name)}.`,
      kind: 'list',
      get schema() {
        return schemaOf();
      },
    },
    use: { kind, does: 'listItems', list },
  };
  const single: AggregateOperation = {
    ...read,
    path: onePath(kind, list),
    parameters: parametersOf(domain, kind, list),
    summary: `${capital(oneOf(list.one))} of ${oneOf(kind.name)}`,
    query: ItemAt,
    answer: {
      status: 200,
      description: `The ${one}.`,
      kind: 'item',
      get schema() {
        return schemaOf();
      },
    },
    use: { kind, does: 'readItem', list },
  };
  return [
    [`list${capital(kind.name)}${capital(list.name)}`, all],
    [`get${nameOfItems(kind, list)}`, single],
  ];
};

const sortOf = (list: ListInfo): { readonly sort?: z.ZodType } => {
  const names = fieldsOfList(list).flatMap(([name, { sort }]) => (sort ? [name, `-${name}`] : []));
  const description = 'By default the order of the list; a minus means the latest first.';
  return names.length === 0 ? {} : { sort: z.enum(names).optional().meta({ description }) };
};

/** The key first, if it is a field. */
const fieldsOfList = ({ key, id: { def }, fields }: ListInfo): readonly (readonly [string, FieldDef])[] => [
  ...(key === undefined ? [] : [[key, def] as const]),
  ...Object.entries(fields),
];

/** Made for descriptions alone, and once for all operations of a list. */
const listedSchemas = oncePer((domain: Domain) =>
  oncePer((kind: Kind) => oncePer((list: ListInfo) => listedSchema(domain, kind, list))),
);

/** The schema of an item for everyone who may read its aggregate. */
const listedSchema = (domain: Domain, kind: Kind, list: ListInfo): z.ZodObject => {
  const { key } = list;
  const all = fieldsOfList(list);
  const written = new Set(
    Object.values(kind.commands).flatMap(({ internal, list: of, itemForm }) =>
      internal || of !== list ? [] : itemForm,
    ),
  );
  const shown = all.map(([name, def]) => {
    const [as, schema] = shownField(domain, name, def);
    return [as, name === key || written.has(name) ? schema : schema.meta({ readOnly: true })] as const;
  });
  return z
    .strictObject({
      ...(key === undefined && { id }),
      ...Object.fromEntries(shown),
      createdAt,
      updatedAt,
      _links: Links,
    })
    .meta({ id: nameOfItems(kind, list) });
};

const json = 'application/json';
const mergePatch = 'application/merge-patch+json';

/** An addition has preconditions too, because items share the version of their aggregate. */
const writesOf = (domain: Domain, kind: Kind, list: ListInfo): readonly Named[] =>
  Object.values(kind.commands).flatMap((command): readonly Named[] => {
    if (command.internal || command.list !== list) return [];
    switch (command.kind) {
      case 'addItem':
        return [[operationId(kind, list, command), additionOf(domain, kind, list, command)]];
      case 'changeItem':
        return [[operationId(kind, list, command), editOf(domain, kind, list, command)]];
      case 'removeItem':
        return [[operationId(kind, list, command), removalOf(domain, kind, list, command)]];
      default:
        return [[operationId(kind, list, command), actionOf(domain, kind, list, command)]];
    }
  });

/** `addClaimItem`, `moveClaimItem`, and `replyTicket` for a further addition. */
const operationId = (kind: Kind, list: ListInfo, { kind: does, verb }: CommandInfo): string => {
  if (does === 'addItem' && verb !== undefined) return `${verb}${capital(kind.name)}`;
  const usual = { addItem: 'add', changeItem: 'edit', removeItem: 'remove' } as Readonly<
    Record<string, string>
  >;
  return `${verb ?? usual[does]}${nameOfItems(kind, list)}`;
};

/** The prefix of the schemas of a command’s bodies and answers. */
const schemaPrefix = (kind: Kind, list: ListInfo, { verb }: CommandInfo, usual: string): string =>
  verb === undefined ? `${usual}${nameOfItems(kind, list)}` : `${capital(verb)}${nameOfItems(kind, list)}`;

const writeOf = (domain: Domain, kind: Kind, list: ListInfo, command: CommandInfo) =>
  ({
    ...commanded(domain, kind, command),
    refusals: refusalsOfItems(domain, kind, command, list),
    summary: command.says ?? summaryOf(kind, list, command),
    use: { kind, does: 'command', command },
  }) as const;

const writeToOne = (domain: Domain, kind: Kind, list: ListInfo, command: CommandInfo) => ({
  ...writeOf(domain, kind, list, command),
  path: onePath(kind, list),
  parameters: parametersOf(domain, kind, list),
});

/** Made once, because several commands may add items. */
const writtenItem = oncePer((kind: Kind) =>
  oncePer((list: ListInfo) =>
    Written.extend({ [list.id.name]: list.id.def.recorded }).meta({
      id: `${nameOfItems(kind, list)}Written`,
    }),
  ),
);

const formOf = (kind: Kind, command: CommandInfo, name: string) =>
  z.strictObject(formShape(kind, command)).meta({ id: name });

type OperationOf = (domain: Domain, kind: Kind, list: ListInfo, command: CommandInfo) => AggregateOperation;

const additionOf: OperationOf = (domain, kind, list, command) => {
  const Name = nameOfItems(kind, list);
  return {
    ...writeOf(domain, kind, list, command),
    method: 'POST',
    path: command.verb === undefined ? itemsPath(kind, list) : `${itemPath(kind)}/${kebab(command.verb)}`,
    ...bodyOf(kind, command, schemaPrefix(kind, list, command, 'New')),
    answer: {
      status: 201,
      description: `The ${spaced(oneOfList(kind, list))} was added.`,
      kind: 'written',
      get schema() {
        return writtenItem(kind)(list);
      },
      item: `get${Name}`,
      isOfItem: true,
    },
  };
};

const editOf: OperationOf = (domain, kind, list, command) => {
  const Name = nameOfItems(kind, list);
  const body = formOf(kind, command, `${Name}Patch`);
  return {
    ...writeToOne(domain, kind, list, command),
    method: 'PATCH',
    body: { [mergePatch]: body, 'application/json-patch+json': JsonPatch, [json]: body },
    answer: written(`The ${spaced(oneOfList(kind, list))} was changed.`, `get${Name}`),
  };
};

const actionOf: OperationOf = (domain, kind, list, command) => {
  const did = command.kind === 'moveItem' ? 'moved' : 'changed';
  return {
    ...writeToOne(domain, kind, list, command),
    path: verbPath(kind, list, command),
    method: 'POST',
    ...bodyOf(kind, command, schemaPrefix(kind, list, command, '')),
    answer: written(`The ${spaced(oneOfList(kind, list))} was ${did}.`, `get${nameOfItems(kind, list)}`),
  };
};

const verbPath = (kind: Kind, list: ListInfo, { verb = '' }: CommandInfo): string =>
  `${onePath(kind, list)}/${kebab(verb)}`;

/** A command without fields has no body. */
const bodyOf = (kind: Kind, command: CommandInfo, name: string): Pick<AggregateOperation, 'body'> =>
  Object.keys(formShape(kind, command)).length === 0 && command.kind !== 'addItem'
    ? {}
    : { body: { [json]: formOf(kind, command, name) } };

const removalOf: OperationOf = (domain, kind, list, command) => ({
  ...writeToOne(domain, kind, list, command),
  ...(command.verb === undefined
    ? { method: 'DELETE' as const }
    : { method: 'POST' as const, path: verbPath(kind, list, command) }),
  answer: {
    status: 204,
    description: `The ${spaced(oneOfList(kind, list))} was removed.`,
    kind: 'nothing',
  },
});

/** The path declares that the item does not exist. */
const refusalsOfItems = (
  domain: Domain,
  kind: Kind,
  command: CommandInfo,
  list: ListInfo,
): NonNullable<AggregateOperation['refusals']> => {
  const isAddition = command.kind === 'addItem';
  // Personal data of deleted users cannot be sealed.
  const isSealed =
    (isAddition || command.itemForm.length > 0) &&
    Object.values(list.fields).some(({ personal }) => personal);
  return [
    ...(isAddition ? [isFull(kind.name, list.name)] : []),
    ...(isAddition && list.key !== undefined ? [exists(oneOfList(kind, list))] : []),
    ...(isSealed ? (['user_deleted'] as const) : []),
    ...refusalsOfCommand(domain, kind, command),
  ];
};

const VERBS: Readonly<Record<string, string>> = {
  addItem: 'Add',
  changeItem: 'Change',
  removeItem: 'Remove',
};
const summaryOf = (kind: Kind, list: ListInfo, { kind: does, verb, name }: CommandInfo): string =>
  does === 'addItem' && verb !== undefined
    ? `${capital(spaced(name))}, which adds ${oneOf(list.one)} to ${oneOf(kind.name)}`
    : `${verb === undefined ? VERBS[does] : capital(spaced(verb))} ${oneOf(list.one)} of ${oneOf(kind.name)}`;
