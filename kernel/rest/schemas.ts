import * as z from 'zod';
import { capital, targetOf, wire } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import { createdAt, id, Links, unheeded, updatedAt } from '../base/rest/fields.ts';
import { isUser } from '../base/users.ts';
import { partRightsOf } from '../conditions/parts-of.ts';
import { ABSENT_TARGET, isAlwaysShown } from '../conditions/references.ts';
import { demandedOf, formShape } from '../decide/forms.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, Domain, Kind } from '../registry/registry.ts';

/** The schema of an aggregate for everyone who may read it. Only descriptions read it, so it is made for them. */
export const itemSchema = (domain: Domain, kind: Kind): z.ZodObject => itemSchemas(domain)(kind);

const itemSchemas = oncePer((domain: Domain) => oncePer((kind: Kind) => makeItemSchema(domain, kind)));

const makeItemSchema = (domain: Domain, kind: Kind): z.ZodObject => {
  const written = new Set(
    Object.values(kind.commands).flatMap(({ internal, form }) => (internal ? [] : form)),
  );
  const fields = Object.entries(kind.fields).map(([name, def]) => {
    const isParent = name === kind.parent;
    const isWhole = isAlwaysShown(domain, kind, { name, def });
    const schema = isParent ? id : shownSchema(domain, def, isWhole);
    const meta = {
      ...(!written.has(name) && { readOnly: true }),
      ...(def.says !== undefined && { description: def.says }),
    };
    const shown = isParent ? wire(name, def) : shownName(domain, name, def);
    return [shown, shownTo(kind, name, schema.meta(meta))] as const;
  });
  const times = {
    createdAt: shownTo(kind, 'createdAt', createdAt),
    updatedAt: isTracedToAll(kind) ? shownTo(kind, 'updatedAt', updatedAt) : updatedAt.exactOptional(),
  };
  return z
    .strictObject({ id, ...Object.fromEntries(fields), ...times, _links: Links })
    .meta({ id: capital(kind.name) });
};

/** A guarded field is optional, because not every reader gets it. */
const shownTo = (kind: Kind, name: string, schema: z.ZodType): z.ZodType =>
  isGuarded(kind, 'reads', name) ? (schema as z.ZodObject).exactOptional() : schema;

/**
 * The time of the last change would reveal changes to guarded parts. Users declare themselves who may read
 * it.
 */
const isTracedToAll = (kind: Kind): boolean => isUser(kind) || partRightsOf(kind).length === 0;

/** True if it requires a right of its own. */
const isGuarded = ({ fieldRights }: Kind, access: 'reads' | 'writes', name: string): boolean =>
  Object.values(fieldRights).some((row) => ((row[access] ?? []) as readonly string[]).includes(name));

/** The field of the target that is shown with a reference, if it has a label. */
export const labelOf = (domain: Domain, def: FieldDef): string | undefined =>
  def.kind === 'ref' ? domain.kinds[targetOf(def)]?.label : undefined;

export const shownName = (domain: Domain, name: string, def: FieldDef): string =>
  labelOf(domain, def) === undefined ? wire(name, def) : name;

/** The name and schema of a field of an item as shown. */
export const shownField = (domain: Domain, name: string, def: FieldDef): readonly [string, z.ZodType] => [
  shownName(domain, name, def),
  shownSchema(domain, def).meta(def.says === undefined ? {} : { description: def.says }),
];

/** `isWhole` is true if every reader gets the label of the target. */
const shownSchema = (domain: Domain, def: FieldDef, isWhole = false): z.ZodType => {
  const label = labelOf(domain, def);
  const labelled = label === undefined ? undefined : domain.kinds[targetOf(def)]?.fields[label];
  const schema =
    label !== undefined && labelled
      ? z.strictObject({
          id,
          [label]: isWhole
            ? labelled.recorded
            : labelled.recorded.nullable().meta({ description: ABSENT_TARGET }),
        })
      : def.kind === 'ref'
        ? id
        : def.recorded;
  // Erased personal data is null, unless the field has a replacement text.
  const isNullable = def.optional || (def.personal !== undefined && def.personal.erased === undefined);
  return isNullable ? schema.nullable() : schema;
};

export const newSchema = (kind: Kind, command: CommandInfo): z.ZodObject =>
  z.strictObject(formShape(kind, command)).meta({ id: `New${capital(kind.name)}` });

export const patchSchema = (kind: Kind, command: CommandInfo): z.ZodObject =>
  z.strictObject(formShape(kind, command)).meta({ id: `${capital(kind.name)}Patch` });

export const actionSchema = (kind: Kind, command: CommandInfo): z.ZodObject =>
  z.strictObject(formShape(kind, command)).meta({ id: `${capital(command.name)}${capital(kind.name)}` });

/**
 * All that an edit can change. Other fields of a read aggregate may be included unchanged. Guarded fields
 * keep their value if missing.
 */
export const replacementSchema = (domain: Domain, kind: Kind, { form }: CommandInfo): z.ZodType => {
  const shown = Object.entries(kind.fields).filter(([name]) => !form.includes(name));
  const others = [
    'id',
    ...shown.map(([name, def]) => shownName(domain, name, def)),
    'createdAt',
    'updatedAt',
    '_links',
  ];
  const content = form.map((name) => {
    const schema = demandedOf(kind.fields[name] as FieldDef);
    return [wire(name, kind.fields[name]), isOmittable(kind, name) ? schema.optional() : schema] as const;
  });
  const names = content.map(([name]) => name);
  return z
    .strictObject({
      ...Object.fromEntries(content),
      ...Object.fromEntries(others.map((name) => [name, unheeded])),
    })
    .transform((whole: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(names.map((name) => [name, whole[name]])),
    )
    .meta({
      id: `${capital(kind.name)}Replacement`,
      ...(form.length > 1 && { description: replacementText(kind, form) }),
    });
};

/** Callers cannot write what they cannot read. On users, everyone who may write a field gets to read it. */
const isOmittable = (kind: Kind, name: string): boolean =>
  isGuarded(kind, 'writes', name) || (!isUser(kind) && isGuarded(kind, 'reads', name));

const replacementText = (kind: Kind, form: readonly string[]): string => {
  const sets = form.filter((name) => kind.fields[name]?.kind === 'set').map((name) => ['`[]`', name]);
  const [guarded, free] = [true, false].map((is) =>
    form.filter((name) => isOmittable(kind, name) === is),
  ) as [string[], string[]];
  const optional = free.filter((name) => kind.fields[name]?.optional).map((name) => ['`null`', name]);
  const removals = [...sets, ...optional].map(
    ([sign, name], index) => `${sign}${index === 0 ? ' removes' : ''} the ${name}`,
  );
  const how = removals.length === 0 ? '' : `: ${removals.join(', ')}`;
  const stays = guarded.map((name) => `; without \`${name}\`, the ${name} stays as it is`).join('');
  return `The whole ${kind.name}. Every field that can be changed must be present${how}${stays}.`;
};
