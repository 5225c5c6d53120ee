import type { FormFieldFacts } from '../../domain-facts.ts';
import type { ProblemFacts } from '../problem.ts';

/** What stands in the controls of a form, by the names that the form sends. */
export type Raw = Readonly<Record<string, string | boolean>>;

const isChosen = ({ type }: FormFieldFacts): boolean => type === 'ref' || type === 'choice';

/** The fields that people fill in; files are given to what is there. */
export const fieldsToFill = (fields: readonly FormFieldFacts[]): readonly FormFieldFacts[] =>
  fields.filter(({ type }) => type !== 'upload');

/** What a control shows of an item, or at first. */
const rawOf = (
  field: FormFieldFacts,
  item: Readonly<Record<string, unknown>> | undefined,
): string | boolean => {
  const { type, name, wire, label } = field;
  const shown = item === undefined ? field.initial : (item[name] ?? item[wire]);
  const value =
    label !== undefined && typeof shown === 'object' && shown !== null
      ? (shown as { readonly id: number }).id
      : shown;
  if (type === 'boolean' && !field.isNullable) return value === true;
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.join('\n') : String(value);
};

export const rawOfAll = (
  fields: readonly FormFieldFacts[],
  item: Readonly<Record<string, unknown>> | undefined,
): Raw => Object.fromEntries(fields.map((field) => [field.wire, rawOf(field, item)]));

/** What is sent for what stands in a control; nothing where it is left out. */
const sentOf = (field: FormFieldFacts, raw: string | boolean): unknown => {
  const { type, isNullable } = field;
  if (typeof raw === 'boolean') return raw;
  if (type === 'set')
    return raw
      .split('\n')
      .map((word) => word.trim())
      .filter((word) => word !== '');
  if (raw === '' && isNullable) return null;
  if (type === 'boolean') return raw === 'true';
  if (raw === '' && (isChosen(field) || type === 'integer' || type === 'date' || !field.isRequired))
    return undefined;
  // What is no number is refused by the server, at its field.
  return (type === 'integer' || type === 'ref') && !Number.isNaN(Number(raw)) ? Number(raw) : raw;
};

/** All of a form; what is left out has its default. */
export const bodyOf = (fields: readonly FormFieldFacts[], raw: Raw): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = sentOf(field, raw[field.wire] ?? '');
      return value === undefined ? [] : [[field.wire, value]];
    }),
  );

/**
 * Of a change, what is other than it was. What must be there is sent though it is empty, so that the server
 * says so.
 */
export const changesOf = (
  fields: readonly FormFieldFacts[],
  before: Raw,
  raw: Raw,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    fields
      .filter(({ wire }) => raw[wire] !== before[wire])
      .map((field) => [field.wire, sentOf({ ...field, isRequired: true }, raw[field.wire] ?? '') ?? null]),
  );

export type Met = { readonly raw: Raw; readonly conflicts: readonly string[] };

/**
 * What two have changed from the same: what only the other has changed is taken over, what both have is a
 * conflict. One of before stays until the two agree.
 */
export const meet = (
  fields: readonly FormFieldFacts[],
  { before, mine, theirs }: Readonly<Record<'before' | 'mine' | 'theirs', Raw>>,
  unresolved: readonly string[] = [],
): Met => {
  const isMine = (wire: string) => mine[wire] !== before[wire];
  const conflicts = fields
    .map(({ wire }) => wire)
    .filter(
      (wire) =>
        isMine(wire) &&
        theirs[wire] !== mine[wire] &&
        (theirs[wire] !== before[wire] || unresolved.includes(wire)),
    );
  return {
    raw: Object.fromEntries(
      fields.map(({ wire }) => [wire, (isMine(wire) ? mine[wire] : theirs[wire]) ?? '']),
    ),
    conflicts,
  };
};

/** What is wrong with each field, by its name; what is of none stays with the problem. */
export const errorsOf = (
  fields: readonly FormFieldFacts[],
  problem: ProblemFacts | undefined,
): Readonly<Record<string, string>> => {
  const errors: Record<string, string> = {};
  for (const { pointer, detail } of problem?.errors ?? []) {
    const wire = pointer.split('/')[1] ?? '';
    if (fields.some((field) => field.wire === wire))
      errors[wire] = errors[wire] === undefined ? detail : `${errors[wire]} ${detail}`;
  }
  return errors;
};

/** The problem without what is said at its fields; nothing if that is all. */
export const restOf = (
  problem: ProblemFacts | undefined,
  errors: Readonly<Record<string, string>>,
): ProblemFacts | undefined => {
  if (problem?.errors === undefined) return problem;
  const rest = problem.errors.filter(({ pointer }) => errors[pointer.split('/')[1] ?? ''] === undefined);
  return rest.length === 0 ? undefined : { ...problem, errors: rest };
};
