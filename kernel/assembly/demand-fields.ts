import type { ZodNumber } from 'zod';
import { oneOf, targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import { EFFECTS } from '../registry/kind-of.ts';
import type { Defs, EventInfo, Kind } from '../registry/registry.ts';

/**
 * Refuses fields without a value at creation, and values that their fields do not accept: such aggregates
 * would be parked.
 */
export const demandFields = (kinds: readonly Kind[]): void => {
  const [wrong] = kinds.flatMap((kind) => wrongFieldsIn(kind).map((each) => `${kind.name}: ${each}`));
  if (wrong !== undefined) throw new StartRefused(wrong);
};

const wrongFieldsIn = (kind: Kind): readonly string[] => [
  ...wrongDefs(kind.fields),
  ...Object.values(kind.lists).flatMap(({ name, key, id, fields }) =>
    wrongDefs({ ...(key !== undefined && { [key]: id.def }), ...fields }, `${name}.`),
  ),
  ...Object.values(kind.events).flatMap((event) => [
    ...wrongEffect(event),
    ...wrongSets(kind, event),
    ...wrongIdentity(kind, event),
  ]),
  ...wrongCreation(kind),
];

/**
 * The owner and the parent are in every event, and never change: lists of the past, the end of children with
 * their parent, and the keys of personal data rely on that.
 */
const wrongIdentity = (
  { name, owner, parent }: Kind,
  { name: event, effect, values, sets }: EventInfo,
): readonly string[] =>
  effect === 'creates'
    ? []
    : Object.entries({ owner, parent }).flatMap(([what, field]) =>
        field !== undefined && (values.includes(field) || Object.hasOwn(sets, field))
          ? [
              `the event ${event} changes ${field}, which is the ${what} and never changes: use another reference, or end the ${name} and create it again.`,
            ]
          : [],
      );

const wrongDefs = (defs: Defs, list = ''): readonly string[] =>
  Object.entries(defs).flatMap(([name, def]) => {
    const { initial } = def;
    const place = `the field ${list}${name}`;
    const wrong = limitsWrongIn(def);
    if (wrong !== undefined) return [`${place} ${wrong}`];
    return initial === undefined || takes(def, initial)
      ? []
      : [
          `${place} has the default ${shown(initial)}, which it does not accept: use a value within its limits.`,
        ];
  });

/** Limits that admit no value. */
const limitsWrongIn = ({ kind, recorded, values, max }: FieldDef): string | undefined => {
  const counted = (most: number, of: string): string | undefined =>
    Number.isSafeInteger(most) && most >= 1
      ? undefined
      : `allows at most ${most} ${of}: use a whole number of at least 1.`;
  switch (kind) {
    case 'text': {
      const most = recorded.meta()?.maxLength as number | undefined;
      return most === undefined ? undefined : counted(most, 'characters');
    }
    case 'set':
      return counted(max ?? 0, 'values');
    case 'integer': {
      const { minValue, maxValue } = recorded as ZodNumber;
      const isWithin = minValue === null || maxValue === null || minValue <= maxValue;
      return isWithin
        ? undefined
        : `accepts numbers from ${minValue} to ${maxValue}, which is an empty range: put the smaller limit first.`;
    }
    case 'choice':
    case 'states':
      return values?.length ? undefined : 'has no words: list the words that it accepts.';
    default:
      return undefined;
  }
};

const takes = (def: FieldDef, value: unknown): boolean =>
  value === null
    ? def.optional === true
    : def.demanded.safeParse(value).success && def.recorded.safeParse(value).success;

const shown = (value: unknown): string => JSON.stringify(value);

/** Parts of an event that would be silently ignored. */
const wrongEffect = ({ name, spec }: EventInfo): readonly string[] => {
  const [first, second] = EFFECTS.filter((effect) => effect !== 'sets' && Object.hasOwn(spec, effect));
  const place = `the event ${name}`;
  if (second !== undefined)
    return [
      `${place} has \`${first}\` and \`${second}\`, but an event can have only one of them: declare another event for the other.`,
    ];
  if (!Object.hasOwn(spec, 'sets')) return [];
  return first === 'ends'
    ? [
        `${place} ends the aggregate and sets fields, which nobody can read afterwards: remove \`sets\` or \`ends\`.`,
      ]
    : [];
};

const wrongSets = (kind: Kind, { name, sets }: EventInfo): readonly string[] =>
  Object.entries(sets).flatMap(([field, value]) => {
    const def = kind.fields[field];
    const place = `the event ${name} sets ${field}`;
    if (def === undefined || kind.derived.some((each) => each.name === field))
      return [`${place}, which is not a field that events can set: use another field.`];
    return wrongValue(def, value).map((wrong) => `${place}${wrong}`);
  });

/** How a value that an event sets contradicts its field. */
export const wrongValue = (def: FieldDef, value: unknown): readonly string[] => {
  if (value === 'now' && def.kind !== 'instant')
    return [' to `now`, but the field is not an instant(): use one of its values.'];
  if (value === 'caller' && !(def.kind === 'ref' && targetOf(def) === 'user'))
    return [' to `caller`, but the field does not refer to a user: use one of its values.'];
  if (value === 'now' || value === 'caller' || takes(def, value)) return [];
  return value === null
    ? [' to null, but the field is required: make it optional(), or set a value.']
    : [` to ${shown(value)}, which the field does not accept: use a value within its limits.`];
};

/** Includes events that are no longer emitted: the log may contain them. */
const wrongCreation = (kind: Kind): readonly string[] => {
  const creating = Object.values(kind.events).filter(({ effect }) => effect === 'creates');
  if (creating.length === 0)
    return ['no event creates it: declare one with its initial fields in `creates`.'];
  const { owner, parent, persons } = kind;
  return Object.entries(kind.fields).flatMap(([field, def]) => {
    if (
      def.optional ||
      def.initial !== undefined ||
      field === owner ||
      field === parent ||
      Object.hasOwn(persons, field)
    )
      return [];
    return creating
      .filter(({ values, sets }) => !values.includes(field) && !Object.hasOwn(sets, field))
      .map(
        ({ name }) =>
          `the field ${field} is required, but the event ${name}, which creates ${oneOf(kind.name)}, does not set it: add it to that event, give it a default, or make it optional().`,
      );
  });
};
