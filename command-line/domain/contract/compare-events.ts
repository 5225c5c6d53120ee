// Over 200 lines, because it is one comparison: an event type before and after a change.
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#kernel/base/json.ts';
import { breaksReaders, compareSchemas, type SchemaChange } from './compare-schemas.ts';
import type { Contract, EventContract } from './contract.ts';
import { adds, breaks, byName, type Finding, warns } from './finding.ts';

const KEEP =
  'Keep the event in the declaration: no command needs to emit it, but the log may contain it forever.';
const VERSION = 'Give the event one more of `upcasts`, from the version before.';
const KEEP_FIELD = 'Keep the field, or declare an event with another name.';
const CREATION =
  'Keep the value, and declare a creation with another name that `sets` the new one; or let this event hold the field, with one more of `upcasts`.';
const ANOTHER = 'Declare an event with another name for the new meaning, and keep this one unchanged.';

/**
 * Stored events must stay readable and keep their meaning; subscribers must still find the fields that they
 * read.
 */
export const compareEvents = (before: Contract['events'], after: Contract['events']): readonly Finding[] => {
  const { gone, came, both } = byName(before, after);
  return [
    ...gone.map((type) => breaks(`event ${type}`, 'The event type was removed.', KEEP)),
    ...both.flatMap(([type, was, is]) => [
      ...versionChanges(type, was, is),
      ...visibilityChanges(type, was, is),
      ...meaningChanges(type, was, is),
      ...initialChanges(type, was, is),
      ...dataChanges(type, was, is),
    ]),
    ...came.map((type) => adds(`event ${type}`, 'The event type is new.')),
  ];
};

const versionChanges = (type: string, was: EventContract, is: EventContract): readonly Finding[] => {
  const what = `event ${type} version`;
  if (is.version < was.version)
    return [
      breaks(
        what,
        `Its version was ${was.version} and is ${is.version}: events recorded since cannot be read.`,
        VERSION,
      ),
    ];
  return is.version > was.version
    ? [adds(what, `Its version is ${is.version}; events stored before are upcast.`)]
    : [];
};

const visibilityChanges = (type: string, was: EventContract, is: EventContract): readonly Finding[] => {
  if (was.visibility === is.visibility) return [];
  const what = `event ${type} visibility`;
  return is.visibility === 'internal'
    ? [
        breaks(
          what,
          'It is internal now, so subscribers and webhooks no longer get it.',
          'Remove `internal`.',
        ),
      ]
    : [warns(what, 'It is now published to subscribers, including events recorded before.')];
};

type Doing = {
  readonly sets?: JsonObject;
  readonly initial?: JsonObject;
  /** Values of an item, which the event contains. */
  readonly setsOfItem?: JsonObject;
};

/** The current declaration interprets all stored events. */
const meaningChanges = (type: string, was: EventContract, is: EventContract): readonly Finding[] => {
  const found: Finding[] = [];
  if (!isDeepStrictEqual(was.stream, is.stream))
    found.push(breaks(`event ${type} stream`, 'It belongs to streams of another kind.', ANOTHER));
  if (was.does === undefined || is.does === undefined) return found;
  const { sets: did = {}, initial: began = {}, setsOfItem: gave = {}, ...effectBefore } = was.does as Doing;
  const { sets: does = {}, initial: _, setsOfItem: gives = {}, ...effectNow } = is.does as Doing;
  if (!isDeepStrictEqual(effectBefore, effectNow))
    found.push(
      breaks(
        `event ${type} effect`,
        'Its effect on the aggregate has changed, also for events recorded before.',
        ANOTHER,
      ),
    );
  for (const [field, value] of Object.entries(did))
    if (!isDeepStrictEqual(value, does[field]))
      found.push(
        breaks(
          `event ${type} sets ${field}`,
          `It set ${field} to ${show(value)}, and no longer does.`,
          ANOTHER,
        ),
      );
  for (const [field, value] of Object.entries(does))
    if (!(field in did || field in began))
      found.push(
        warns(
          `event ${type} sets ${field}`,
          `It now sets ${field} to ${show(value)}, also for events recorded before: rebuild the read model.`,
        ),
      );
  for (const name of new Set([...Object.keys(gave), ...Object.keys(gives)]))
    if (!isDeepStrictEqual(gave[name], gives[name]))
      found.push(
        warns(
          `event ${type} sets ${is.does.list}.${name}`,
          `From now on it sets ${name} of the item to ${show(gives[name]) ?? 'a value from its form'}, and before to ${show(gave[name]) ?? 'a value from its form'}. Recorded events keep theirs.`,
        ),
      );
  return found;
};

/**
 * A changed initial value applies to every aggregate ever created. Skips initial values that were not
 * recorded yet, and removed fields.
 */
const initialChanges = (type: string, was: EventContract, is: EventContract): readonly Finding[] => {
  const { initial: began = {} } = (was.does ?? {}) as Doing;
  const { initial = {}, sets = {} } = (is.does ?? {}) as Doing;
  const begins = { ...is.absent, ...initial, ...sets };
  return Object.entries(began).flatMap(([field, value]) => {
    if (!(field in begins) || isDeepStrictEqual(value, begins[field])) return [];
    const what = `event ${type} initial ${field}`;
    const says = `Aggregates that it creates started with ${field} ${show(value)}, and now start with ${show(begins[field])}, including those created before`;
    // A field that the event contains from its new version on.
    const isUpcast = is.version > was.version && field in fieldsOf(is);
    return [
      isUpcast ? warns(what, `${says}, unless the upcast fills it in.`) : breaks(what, `${says}.`, CREATION),
    ];
  });
};

const dataChanges = (type: string, was: EventContract, is: EventContract): readonly Finding[] => {
  const hasNewVersion = is.version > was.version;
  return [
    ...sealChanges(type, was, is, hasNewVersion),
    ...absentChanges(type, was, is, hasNewVersion),
    ...compareSchemas({ schema: was.schema }, { schema: is.schema }).map((change) => {
      const [what, says] = [`event ${type} ${change.path}`.trim(), sentenceOf(change)];
      // An upcast helps readers of the log; subscribers and webhooks get only the new shape.
      if (was.visibility === 'public' && breaksReaders(change)) return breaks(what, says, KEEP_FIELD);
      if (hasNewVersion) return adds(what, `${says} That is version ${is.version}.`);
      return weigh(what, says, change, is.absent);
    }),
  ];
};

/** Fields that old events lack get another value, or cannot be read. */
const absentChanges = (
  type: string,
  was: EventContract,
  is: EventContract,
  hasNewVersion: boolean,
): readonly Finding[] =>
  Object.entries(was.absent ?? {}).flatMap(([field, value]) => {
    const now = is.absent?.[field];
    if (!(field in fieldsOf(was)) || !(field in fieldsOf(is)) || isDeepStrictEqual(value, now)) return [];
    const what = `event ${type} ${field} absent`;
    const says = `Events stored without ${field} had the value ${show(value)}; now they ${now === undefined ? 'cannot be read' : `have ${show(now)}`}`;
    return [
      hasNewVersion
        ? warns(what, `${says}, unless the upcast fills it in.`)
        : breaks(what, `${says}.`, VERSION),
    ];
  });

const fieldsOf = ({ schema }: EventContract): JsonObject => (schema.properties ?? {}) as JsonObject;

const weigh = (
  what: string,
  says: string,
  { path, kind }: SchemaChange,
  absent: JsonObject = {},
): Finding => {
  switch (kind) {
    case 'came':
    case 'wider':
      return adds(what, says);
    case 'cameRequired':
      return path in absent
        ? adds(what, `${says} Events stored before have the value ${show(absent[path])}.`)
        : breaks(what, says, VERSION);
    case 'optional':
    case 'nullable':
      return warns(what, says);
    default:
      return breaks(what, says, VERSION);
  }
};

/** Encrypted fields stay encrypted in the log for ever, and clear ones can never be erased. */
const sealChanges = (
  type: string,
  was: EventContract,
  is: EventContract,
  hasNewVersion: boolean,
): readonly Finding[] => {
  const [sealed, seals] = [was, is].map(({ personal }) => personal?.fields ?? []) as [
    readonly string[],
    readonly string[],
  ];
  const subjects = [was, is].map(({ personal }) => personal?.subject);
  return [
    ...(sealed.length > 0 && seals.length > 0 && subjects[0] !== subjects[1]
      ? [
          breaks(
            `event ${type} key`,
            `It was encrypted with the key of ${subjects[0]}, and is now encrypted with that of ${subjects[1]}, which does not decrypt earlier events.`,
            ANOTHER,
          ),
        ]
      : []),
    ...sealed
      .filter((field) => !seals.includes(field) && field in fieldsOf(is))
      .map((field) =>
        breaks(
          `event ${type} ${field} personal`,
          `${field} is now recorded unencrypted, so that erasures do not reach it.`,
          `Leave ${field} personal.`,
        ),
      ),
    ...seals
      .filter((field) => !sealed.includes(field) && field in fieldsOf(was))
      .map((field) =>
        hasNewVersion
          ? warns(
              `event ${type} ${field} personal`,
              `${field} is now personal; values recorded unencrypted stay so, and erasures do not reach them.`,
            )
          : breaks(
              `event ${type} ${field} personal`,
              `${field} is now personal, and values recorded unencrypted are refused.`,
              VERSION,
            ),
      ),
  ];
};

const sentenceOf = ({ path, says }: SchemaChange): string => `${path === '' ? 'It' : path} ${says}.`;
const show = (value: unknown): string => JSON.stringify(value);
