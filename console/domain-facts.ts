// Over 200 lines, because it is one document: its types, and how each part of it follows from the
// declaration.
import * as z from 'zod';
import { capital, kebab, spaced, targetOf, wire } from '#kernel/base/names.ts';
import { FOR_OTHERS, operationOf, type Right, rightsOf } from '#kernel/conditions/rights.ts';
import { isFileField } from '#kernel/decide/accepted-files.ts';
import { formShape } from '#kernel/decide/forms.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import { serves } from '#kernel/registry/parts.ts';
import type {
  CommandInfo,
  CommandKind,
  Domain,
  Kind,
  ListInfo,
  ViewInfo,
} from '#kernel/registry/registry.ts';
import { collectionPath, parentOf } from '#kernel/rest/operation.ts';
import { labelOf, shownName } from '#kernel/rest/schemas.ts';
import { fieldsOfView, sortsOfView } from '#kernel/rest/views.ts';
import { ofAggregates, operationsOf } from '#shared/rest/operations.ts';

/**
 * The declaration for the console: the aggregates with their fields, lists and commands. It has nothing that
 * `/openapi.json` withholds; the links of items show what a caller may do.
 */
export type DomainFacts = {
  readonly name: string;
  readonly kinds: readonly KindFacts[];
  readonly views: readonly ViewFacts[];
  /** Whether webhooks are served. */
  readonly hasWebhooks: boolean;
  /** The fields by which webhooks filter events. */
  readonly filters: readonly FieldFacts[];
};

export type KindFacts = {
  readonly name: string;
  /** The segment of paths, and the relation by which a parent links to its children of this kind. */
  readonly path: string;
  /** The relation by which a parent links to the creation of a child. */
  readonly rel: string;
  readonly title: string;
  readonly plural: string;
  readonly says?: string | undefined;
  /** The field shown as the name of an item. */
  readonly label?: string | undefined;
  readonly owner?: string | undefined;
  /** The roles that may create one for another owner. */
  readonly namers: readonly string[];
  /** The kind of the parent, and the reference to it. */
  readonly parent?: { readonly kind: string; readonly field: string } | undefined;
  readonly fields: readonly FieldFacts[];
  readonly lists: readonly ListFacts[];
  readonly commands: readonly CommandFacts[];
  readonly uploads: readonly UploadFacts[];
  readonly list: ListingFacts;
};

export type FieldFacts = {
  /** The name in items. */
  readonly name: string;
  /** The name in forms. */
  readonly wire: string;
  readonly title: string;
  readonly says?: string | undefined;
  readonly type: FieldDef['kind'];
  /** An upload that is no picture. */
  readonly isFile?: boolean | undefined;
  readonly hasLines?: boolean | undefined;
  /** The kind of a reference’s target, and the field of it that is shown. */
  readonly of?: string | undefined;
  readonly label?: string | undefined;
  /** The link to the target. */
  readonly rel?: string | undefined;
  readonly values?: readonly string[] | undefined;
  readonly means?: Readonly<Record<string, string>> | undefined;
};

export type ListFacts = {
  readonly name: string;
  readonly path: string;
  readonly title: string;
  readonly one: string;
  /** The key of an item. */
  readonly id: string;
  readonly isOrdered: boolean;
  readonly fields: readonly FieldFacts[];
  readonly uploads: readonly UploadFacts[];
};

/** A field of a form, with its constraints. */
export type FormFieldFacts = FieldFacts & {
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly initial?: unknown;
  readonly schema: {
    readonly maxLength?: number;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly format?: string;
  };
};

export type CommandFacts = {
  readonly name: string;
  readonly title: string;
  readonly says?: string | undefined;
  readonly does: CommandKind;
  /** The word by which its path ends, if that is not the path of the list or of the item. */
  readonly verb?: string | undefined;
  /** The link that an item has if the command is possible. */
  readonly rel: string;
  readonly list?: string | undefined;
  readonly form: readonly FormFieldFacts[];
};

export type UploadFacts = {
  readonly field: string;
  readonly title: string;
  readonly rel: string;
  /** The media types that the field accepts. */
  readonly types: readonly string[];
  readonly isPicture: boolean;
};

/** Numbers and latest values by a key. */
export type ViewFacts = {
  readonly name: string;
  readonly path: string;
  readonly title: string;
  readonly says?: string | undefined;
  /** The fields of rows, the key first. */
  readonly fields: readonly FieldFacts[];
  readonly filters: readonly FieldFacts[];
  readonly sorts: readonly string[];
  /** The roles that may read some of its rows. */
  readonly readers: readonly string[];
};

/** The filters and orders of a kind’s lists. */
type ListingFacts = {
  /** The path of the list of all; without it, they are listed under their parents only. */
  readonly path?: string | undefined;
  readonly hasSearch: boolean;
  readonly filters: readonly FieldFacts[];
  readonly sorts: readonly string[];
};

export const domainFacts = (domain: Domain): DomainFacts => ({
  name: domain.name,
  kinds: Object.values(domain.kinds).map((kind) => kindFacts(domain, kind)),
  views: domain.views.map((view) => viewFacts(domain, view)),
  hasWebhooks: serves(domain, 'webhooks'),
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
  };
};

/** The declared label; otherwise the first required text, preferably of a single line. */
const labelField = ({ label, fields }: Kind): string | undefined => {
  const texts = Object.keys(fields).filter((name) => fields[name]?.kind === 'text' && !fields[name].optional);
  return label ?? texts.find((name) => !hasLines(fields[name] as FieldDef)) ?? texts[0];
};

/** True if the text may have several lines, so that forms need an area for it. */
const hasLines = ({ kind, demanded }: FieldDef): boolean =>
  kind === 'text' && demanded.safeParse('two\nlines').success;

const titleOf = (name: string): string => capital(spaced(name));

const fieldFacts = (name: string, def: FieldDef): FieldFacts => ({
  name,
  wire: wire(name, def),
  title: titleOf(name),
  says: def.says,
  type: def.kind,
  hasLines: hasLines(def) || undefined,
  isFile: isFileField(def) || undefined,
  of: def.kind === 'ref' ? targetOf(def) : undefined,
  rel: def.kind === 'ref' ? kebab(name) : undefined,
  values: def.values,
  means: def.means,
});

/** A parent is shown by its id alone. */
const shownFacts = (domain: Domain, kind: Kind | undefined, name: string, def: FieldDef): FieldFacts => {
  const isParent = kind?.parent === name;
  const shown = isParent ? wire(name, def) : shownName(domain, name, def);
  return { ...fieldFacts(name, def), name: shown, label: isParent ? undefined : labelOf(domain, def) };
};

const membersOf = ({ key, id, fields }: ListInfo): readonly (readonly [string, FieldDef])[] => [
  ...(key === undefined ? [] : [[key, id.def] as const]),
  ...Object.entries(fields),
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

type JsonSchema = {
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string;
  readonly default?: unknown;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
};

const formFacts = (domain: Domain, kind: Kind, command: CommandInfo): readonly FormFieldFacts[] => {
  const { properties = {}, required = [] } = z.toJSONSchema(z.strictObject(formShape(kind, command)), {
    io: 'input',
  });
  const defs = command.list === undefined ? Object.entries(kind.fields) : membersOf(command.list);
  return Object.entries(properties).map(([given, whole]) => {
    const [name, def] =
      defs.find(([each, { kind: type }]) => given === (type === 'ref' ? `${each}Id` : each)) ?? [];
    const schema = whole as JsonSchema;
    const { maxLength, minimum, maximum, format } =
      schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
    const facts =
      name !== undefined && def !== undefined
        ? { ...fieldFacts(name, def), label: labelOf(domain, def) }
        : ({
            name: given,
            wire: given,
            title: titleOf(given),
            type: schema.type === 'boolean' ? 'boolean' : 'value',
          } as const);
    return {
      ...facts,
      isRequired: required.includes(given),
      isNullable: schema.anyOf?.some(({ type }) => type === 'null') ?? false,
      initial: schema.default,
      schema: JSON.parse(JSON.stringify({ maxLength, minimum, maximum, format })) as FormFieldFacts['schema'],
    };
  });
};

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
