import * as z from 'zod';
import { capital, kebab, spaced, wire } from '#kernel/base/names.ts';
import { FOR_OTHERS, operationOf, type Right, rightsOf } from '#kernel/conditions/rights.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { CommandInfo, Domain, Kind, ListInfo, ViewInfo } from '#kernel/registry/registry.ts';
import { labelField } from '#kernel/rest/label-field.ts';
import { collectionPath, parentOf } from '#kernel/rest/operation.ts';
import { labelOf, shownName } from '#kernel/rest/schemas.ts';
import { fieldsOfView, sortsOfView } from '#kernel/rest/views.ts';
import { ofAggregates, operationsOf } from '#shared/rest/operations.ts';
import type {
  CommandFacts,
  DomainFacts,
  KindFacts,
  ListFacts,
  ListingFacts,
  UploadFacts,
  ViewFacts,
} from './domain-facts.ts';
import { fieldFacts, formFacts, membersOf, shownFacts, titleOf } from './field-facts.ts';

export const domainFacts = (domain: Domain): DomainFacts => ({
  name: domain.name,
  kinds: Object.values(domain.kinds).map((kind) => kindFacts(domain, kind)),
  views: domain.views.map((view) => viewFacts(domain, view)),
  hasWebhooks: serves(domain, 'webhooks'),
  hasInbox: serves(domain, 'inbox') && (domain.senders ?? []).length > 0,
  isDeveloped: domain.develops === true,
  filters: [...filtersOf(domain)].map(([name, { name: of, kind = 'user' }]) => ({
    ...{ name, wire: name, title: titleOf(of), type: 'ref', of: kind },
    label: domain.kinds[kind] && labelField(domain.kinds[kind]),
  })),
});

const kindFacts = (domain: Domain, kind: Kind): KindFacts => {
  const parent = parentOf(domain, kind);
  const label = labelField(kind);
  return {
    name: kind.name,
    path: kind.path,
    rel: kebab(kind.name),
    title: capital(spaced(kind.name)),
    plural: capital(spaced(kind.plural)),
    says: kind.says,
    label,
    isReadLogged: kind.reads !== undefined,
    owner: kind.owner && shownName(domain, kind.owner, kind.fields[kind.owner] as FieldDef),
    namers: namersOf(domain, kind),
    parent:
      parent && kind.parent
        ? { kind: parent.name, field: wire(kind.parent, kind.fields[kind.parent]) }
        : undefined,
    fields: Object.entries(kind.fields).map(([name, def]) => shownFacts(domain, kind, name, def)),
    lists: Object.values(kind.lists).map((list) => listFacts(domain, kind, list)),
    commands: Object.values(kind.commands)
      .filter(({ internal }) => !internal)
      .map((command) => commandFacts(domain, kind, command)),
    uploads: uploadsOf(kind, undefined),
    list: listingFacts(domain, kind),
    graphql: serves(domain, 'graphql')
      ? { field: kind.field, selection: selectionOf(domain, kind) }
      : undefined,
    confirms: kind.confirms?.map(({ type, kind: of, command, reference }) => ({
      ...{ type, kind: of, command, title: `${titleOf(command)} ${spaced(of)}` },
      isCreation: reference === undefined,
    })),
  };
};

/** Fields without arguments and without rights of their own: references by their number. */
const selectionOf = (domain: Domain, kind: Kind): string =>
  [
    'id',
    ...Object.entries(kind.fields).flatMap(([name, { kind: type, column }]) => {
      if (name === kind.parent) return [`${parentOf(domain, kind)?.field} { id }`];
      if (type === 'ref') return [`${name} { id }`];
      return SELECTED.includes(type) && column !== '' ? [name] : [];
    }),
  ].join(' ');

const SELECTED: readonly FieldDef['kind'][] = [
  ...(['text', 'choice', 'states', 'instant', 'date', 'integer', 'boolean', 'set'] as const),
];

const listFacts = (domain: Domain, kind: Kind, list: ListInfo): ListFacts => ({
  name: list.name,
  path: kebab(list.name),
  title: titleOf(list.name),
  one: spaced(list.one),
  id: list.key ?? 'id',
  isOrdered: list.isOrdered,
  fields: membersOf(list).map(([name, def]) => shownFacts(domain, undefined, name, def)),
  uploads: uploadsOf(kind, list),
});

const uploadsOf = (kind: Kind, list: ListInfo | undefined): readonly UploadFacts[] =>
  uploadFieldsOf(kind)
    .filter((upload) => upload.list === list)
    .map(({ name, accepts: { types, isPicture } }) => ({
      field: name,
      title: titleOf(name),
      rel: kebab(name),
      types,
      isPicture,
    }));

const commandFacts = (domain: Domain, kind: Kind, command: CommandInfo): CommandFacts => ({
  name: command.name,
  title: titleOf(command.name),
  says: command.says,
  does: command.kind,
  verb: command.verb,
  rel: command.kind === 'edit' || command.kind === 'changeItem' ? 'edit' : kebab(command.name),
  list: command.list?.name,
  form: formFacts(domain, kind, command),
});

const viewFacts = (domain: Domain, view: ViewInfo): ViewFacts => ({
  name: view.name,
  path: view.path,
  title: titleOf(view.name),
  says: view.says,
  fields: Object.entries(fieldsOfView(view)).map(([name, def]) => shownFacts(domain, undefined, name, def)),
  filters: Object.entries(view.key).map(([name, def]) => ({
    ...fieldFacts(name, def),
    wire: name,
    label: labelOf(domain, def),
  })),
  sorts: sortsOfView(view).flatMap((name) => [`-${name}`, name]),
  readers: readersOf(rightsOf(domain).get(operationOf(view.asked, 'read'))),
});

const namersOf = (domain: Domain, kind: Kind): readonly string[] =>
  kind.rights[FOR_OTHERS] === undefined
    ? ['admin']
    : readersOf(rightsOf(domain).get(operationOf(kind, FOR_OTHERS)));

const readersOf = (right: Right | undefined): readonly string[] =>
  [...(right?.byRole ?? [])].flatMap(([role, reach]) => (reach.size === 0 ? [] : [role]));

/** The parameters of the list’s operation, without those of paging. */
const listingFacts = (domain: Domain, kind: Kind): ListingFacts => {
  const found = ofAggregates(domain).find(([, { use }]) => use.does === 'list' && use.kind === kind);
  const { query } = found?.[1] ?? operationsOf(domain).listUsers;
  const taken = Object.keys(query?.shape ?? {});
  const fields = Object.entries(kind.fields).map(([name, def]) => ({
    name: typeof def.filter === 'string' ? def.filter : name,
    of: name,
    def,
  }));
  const { enum: sorts = [] } = z.toJSONSchema(query?.shape.sort as z.ZodType, { io: 'input' });
  return {
    path: kind.parent === undefined ? collectionPath(domain, kind) : undefined,
    hasSearch: taken.includes('q'),
    filters: [
      ...fields.flatMap(({ name, of, def }) =>
        taken.includes(name)
          ? [{ ...fieldFacts(of, def), name, wire: name, label: labelOf(domain, def) }]
          : [],
      ),
    ],
    sorts: sorts as readonly string[],
  };
};
