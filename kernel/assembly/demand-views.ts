import { column, targetOf } from '../base/names.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, ViewInfo } from '../registry/registry.ts';
import { isOfOneShare } from '../registry/view-of.ts';
import { positionOf } from '../rows/shares.ts';
import { CHANGED, numberOf, SHARES, totalOf } from '../rows/view-table.ts';
import { demandShare, PERSONAL } from './demand-shares.ts';
import { demandViewNames } from './demand-view-names.ts';
import { placed, type Sentences } from './refusals.ts';

/** Refuses views that cannot be maintained, each with a message that names the place and a solution. */
export function* demandViews(domain: Domain): Sentences {
  yield* demandViewNames(domain);
  for (const view of domain.views) {
    yield* placed(`${view.name}: `, wrongKey(view, domain));
    yield* placed(`${view.name}: `, wrongValues(view));
    yield* placed(`${view.name}: `, wrongIndexes(view));
    for (const share of view.shares) yield* demandShare(domain, view, share);
  }
}

const KEYS: ReadonlySet<string> = new Set([
  ...['ref', 'choice', 'states', 'integer', 'boolean', 'text', 'date'],
]);
const KEY_CHARACTERS_MAX = 200;
/**
 * An index contains the sorted value and the whole key. PostgreSQL limits an entry to 2,704 bytes, at four
 * bytes for a character.
 */
const INDEX_CHARACTERS_MAX = 600;

function* wrongKey({ key }: ViewInfo, { kinds }: Domain): Sentences {
  if (Object.keys(key).length === 0) yield 'its key has no parts: name the fields that identify a row.';
  for (const [part, def] of Object.entries(key)) {
    const place = `the part ${part} of its key`;
    if (!KEYS.has(def.kind))
      yield `${place} has a type that keys cannot have: use a reference, a choice, a number, a flag, a date, a week, a month or a short text.`;
    if (def.kind === 'ref' && kinds[targetOf(def)] === undefined)
      yield `${place} refers to ${targetOf(def)}, which is not in the domain: add it to the domain.`;
    if (charactersIn(def) > KEY_CHARACTERS_MAX)
      yield `${place} may be longer than ${KEY_CHARACTERS_MAX} characters: use a \`line\` with a lower maximum.`;
    if (def.personal !== undefined) yield `${place} ${PERSONAL}`;
    if (def.gone !== undefined) yield `${place} ${GONE}`;
  }
}

const GONE =
  'has `gone`, but a view follows the events of its aggregates alone: declare it for the reference of the aggregate.';

/** The maximum length of a text. */
const charactersIn = ({ kind, recorded }: FieldDef): number =>
  kind === 'text' ? ((recorded.meta()?.maxLength as number | undefined) ?? Number.POSITIVE_INFINITY) : 0;

/** An event whose values exceed the index would stop the projector. */
function* wrongIndexes({ key, values }: ViewInfo): Sentences {
  const ofKey = Object.values(key).reduce((sum, def) => sum + charactersIn(def), 0);
  if (ofKey > INDEX_CHARACTERS_MAX)
    yield `the texts of its key may have ${ofKey} characters in total, but an index holds ${INDEX_CHARACTERS_MAX}: use shorter texts.`;
  for (const [value, { def }] of Object.entries(values))
    if (def.sort && charactersIn(def) + ofKey > INDEX_CHARACTERS_MAX)
      yield `lists can be sorted by ${value}, a text that does not fit into an index: limit it to ${INDEX_CHARACTERS_MAX - ofKey} characters, or remove \`sort()\`.`;
}

const ORDERED: ReadonlySet<string> = new Set(['integer', 'date', 'instant']);

function* wrongValues({ values, key }: ViewInfo): Sentences {
  if (Object.keys(values).length === 0)
    yield 'it has no values: give it a sum(), an avg(), a latest(), a min() or a max().';
  const columns = [
    ...Object.entries(key),
    ...Object.entries(values).map(([value, { def }]) => [value, def] as const),
  ].map(([each, def]) => column(each, def));
  for (const each of columns.filter((name, index) => columns.indexOf(name) < index))
    yield `the column ${each} belongs to two of its key parts or values: give one of them another name.`;
  for (const [value, known] of Object.entries(values)) {
    const { kind, def } = known;
    if (!isOfOneShare(known)) continue;
    if (kind !== 'latest' && !ORDERED.has(def.kind))
      yield `${value} is the ${kind}() of a ${def.kind}: use a number, a date or an instant.`;
    if (def.kind === 'list' || def.kind === 'set' || def.kind === 'upload' || def.kind === 'value')
      yield `the latest value ${value} is a ${def.kind}: use a text, a word, a number, an instant or a reference.`;
    if (def.personal !== undefined) yield `the latest value ${value} ${PERSONAL}`;
    if (def.gone !== undefined) yield `the latest value ${value} ${GONE}`;
  }
  for (const [value, { kind, def }] of Object.entries(values)) {
    const to = column(value, def);
    const taken = { latest: [positionOf(to)], avg: [totalOf(to), numberOf(to)] }[kind as string] ?? [];
    const clash = columns.find((each) => taken.includes(each));
    if (clash !== undefined)
      yield `the column ${clash} is reserved for the ${kind}() ${value}: give that part or value another name.`;
  }
  if (columns.includes(SHARES))
    yield `${SHARES} is reserved for the number of aggregates with a share: give that part or value another name.`;
  if (columns.includes(CHANGED))
    yield 'changedPosition is reserved for the position of the last change: give that part or value another name.';
}
