import type { FormFieldFacts } from '../../domain-facts.ts';
import type { ProblemFacts } from '../base/problem.ts';

/** The values of a form’s controls, by the names that the form sends. */
export type Raw = Readonly<Record<string, string | boolean>>;

const isChosen = ({ type }: FormFieldFacts): boolean => type === 'ref' || type === 'choice';

/** The fields that people fill in; files are uploaded to an existing item. */
export const fieldsToFill = (fields: readonly FormFieldFacts[]): readonly FormFieldFacts[] =>
  fields.filter(({ type }) => type !== 'upload');

/** The reason that was given, beside the body of the form. */
export const reasonIn = (fields: readonly FormFieldFacts[], raw: Raw): string | undefined => {
  const field = fields.find(({ isReason }) => isReason);
  const given = field === undefined ? '' : String(raw[field.wire] ?? '').trim();
  return given === '' ? undefined : given;
};

const inForm = (fields: readonly FormFieldFacts[]): readonly FormFieldFacts[] =>
  fields.filter(({ isReason }) => !isReason);

/** The initial value of a control, from an item or the default. */
const rawOf = (
  field: FormFieldFacts,
  item: Readonly<Record<string, unknown>> | undefined,
): string | boolean => {
  const { type, name, wire, label } = field;
  const shown = item === undefined ? field.initial : (item[name] ?? item[wire]);
  if (field.isReason) return '';
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

/** The value sent for a control; undefined if it is left out. */
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
  // The server refuses an invalid number at its field.
  return (type === 'integer' || type === 'ref') && !Number.isNaN(Number(raw)) ? Number(raw) : raw;
};

/** The body of a new item; fields left out get their default. */
export const bodyOf = (fields: readonly FormFieldFacts[], raw: Raw): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    inForm(fields).flatMap((field) => {
      const value = sentOf(field, raw[field.wire] ?? '');
      return value === undefined ? [] : [[field.wire, value]];
    }),
  );

/**
 * The body of a change: only changed fields. An empty required field is sent, so that the server refuses it.
 */
export const changesOf = (
  fields: readonly FormFieldFacts[],
  before: Raw,
  raw: Raw,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    inForm(fields)
      .filter(({ wire }) => raw[wire] !== before[wire])
      .map((field) => [field.wire, sentOf({ ...field, isRequired: true }, raw[field.wire] ?? '') ?? null]),
  );

type Merged = { readonly raw: Raw; readonly conflicts: readonly string[] };

/**
 * Merges two changes of the same state: fields that only the other changed are taken over, fields that both
 * changed are conflicts. An earlier conflict stays until the two agree.
 */
export const mergeChanges = (
  fields: readonly FormFieldFacts[],
  { before, mine, theirs }: Readonly<Record<'before' | 'mine' | 'theirs', Raw>>,
  unresolved: readonly string[] = [],
): Merged => {
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

/** Whether saving replaces a value that somebody else has given meanwhile. */
export const overwrites = (conflicts: readonly string[], mine: Raw, theirs: Raw): boolean =>
  conflicts.some((wire) => mine[wire] !== theirs[wire]);

/** The errors of each field, by name; others stay with the problem. */
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

/** The problem without the errors shown at fields; undefined if none are left. */
export const restOf = (
  problem: ProblemFacts | undefined,
  errors: Readonly<Record<string, string>>,
): ProblemFacts | undefined => {
  if (problem?.errors === undefined) return problem;
  const rest = problem.errors.filter(({ pointer }) => errors[pointer.split('/')[1] ?? ''] === undefined);
  return rest.length === 0 ? undefined : { ...problem, errors: rest };
};
