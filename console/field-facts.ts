import * as z from 'zod';
import { capital, kebab, spaced, targetOf, wire } from '#kernel/base/names.ts';
import { REASON, REASON_CHARACTERS_MAX } from '#kernel/base/reason.ts';
import { isFileField } from '#kernel/decide/accepted-files.ts';
import { formShape } from '#kernel/decide/forms.ts';
import { reasonOf } from '#kernel/decide/reasons.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandInfo, Domain, Kind, ListInfo } from '#kernel/registry/registry.ts';
import { hasLines } from '#kernel/rest/label-field.ts';
import { labelOf, shownName } from '#kernel/rest/schemas.ts';
import type { FieldFacts, FormFieldFacts } from './domain-facts.ts';

export const titleOf = (name: string): string => capital(spaced(name));

export const fieldFacts = (name: string, def: FieldDef): FieldFacts => ({
  name,
  wire: wire(name, def),
  title: titleOf(name),
  says: def.says,
  type: def.kind,
  hasLines: hasLines(def) || undefined,
  isMarkdown: def.isMarkdown,
  isFile: isFileField(def) || undefined,
  of: def.kind === 'ref' ? targetOf(def) : undefined,
  rel: def.kind === 'ref' ? kebab(name) : undefined,
  values: def.values,
  means: def.means,
});

/** A parent is shown by its id alone. */
export const shownFacts = (
  domain: Domain,
  kind: Kind | undefined,
  name: string,
  def: FieldDef,
): FieldFacts => {
  const isParent = kind?.parent === name;
  const shown = isParent ? wire(name, def) : shownName(domain, name, def);
  return { ...fieldFacts(name, def), name: shown, label: isParent ? undefined : labelOf(domain, def) };
};

export const membersOf = ({ key, id, fields }: ListInfo): readonly (readonly [string, FieldDef])[] => [
  ...(key === undefined ? [] : [[key, id.def] as const]),
  ...Object.entries(fields),
];

type JsonSchema = {
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string;
  readonly default?: unknown;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
};

export const formFacts = (domain: Domain, kind: Kind, command: CommandInfo): readonly FormFieldFacts[] => {
  const { properties = {}, required = [] } = z.toJSONSchema(z.strictObject(formShape(kind, command)), {
    io: 'input',
  });
  const defs = command.list === undefined ? Object.entries(kind.fields) : membersOf(command.list);
  const fields = Object.entries(properties).map(([given, whole]): FormFieldFacts => {
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
  return [...fields, ...reasonFacts(reasonOf(kind, command))];
};

/** Like a field, but sent beside the form. */
const reasonFacts = (reason: CommandInfo['reason']): readonly FormFieldFacts[] =>
  reason === undefined
    ? []
    : [
        {
          ...{ name: REASON, wire: REASON, title: 'Reason', type: 'text', isReason: true },
          says: 'Why, in one line. The history shows it, and it is not erased with a person: name nobody.',
          isRequired: reason === 'required',
          isNullable: reason === 'optional',
          schema: { maxLength: REASON_CHARACTERS_MAX },
        },
      ];
