import { column, targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, ViewInfo } from '../registry/registry.ts';
import { isOfOneShare } from '../registry/view-of.ts';
import { positionOf } from '../rows/shares.ts';
import { CHANGED, numberOf, SHARES, totalOf } from '../rows/view-table.ts';
import { demandShare, PERSONAL } from './demand-shares.ts';
import { demandViewNames } from './demand-view-names.ts';

/** Refuses views that cannot be maintained, each with a message that names the place and a solution. */
export const demandViews = (domain: Domain): void => {
  demandViewNames(domain);
  for (const view of domain.views) {
    demandKey(domain, view);
    demandValues(view);
    demandIndexes(view);
    for (const share of view.shares) demandShare(domain, view, share);
  }
};

const KEYS: ReadonlySet<string> = new Set([
  ...['ref', 'choice', 'states', 'integer', 'boolean', 'text', 'date'],
]);
const KEY_CHARACTERS_MAX = 200;
/**
 * An index contains the sorted value and the whole key. PostgreSQL limits an entry to 2,704 bytes, at four
 * bytes for a character.
 */
const INDEX_CHARACTERS_MAX = 600;

const demandKey = ({ kinds }: Domain, { name, key }: ViewInfo): void => {
  if (Object.keys(key).length === 0)
    throw new StartRefused(`${name}: its key has no parts: name the fields that identify a row.`);
  for (const [part, def] of Object.entries(key)) {
    const place = `${name}: the part ${part} of its key`;
    if (!KEYS.has(def.kind))
      throw new StartRefused(
        `${place} has a type that keys cannot have: use a reference, a choice, a number, a flag, a date, a week, a month or a short text.`,
      );
    if (def.kind === 'ref' && kinds[targetOf(def)] === undefined)
      throw new StartRefused(
        `${place} refers to ${targetOf(def)}, which is not in the domain: add it to the domain.`,
      );
    if (charactersIn(def) > KEY_CHARACTERS_MAX)
      throw new StartRefused(
        `${place} may be longer than ${KEY_CHARACTERS_MAX} characters: use a \`line\` with a lower maximum.`,
      );
    if (def.personal !== undefined) throw new StartRefused(`${place} ${PERSONAL}`);
  }
};

/** The maximum length of a text. */
const charactersIn = ({ kind, recorded }: FieldDef): number =>
  kind === 'text' ? ((recorded.meta()?.maxLength as number | undefined) ?? Number.POSITIVE_INFINITY) : 0;

/** An event whose values exceed the index would stop the projector. */
const demandIndexes = ({ name, key, values }: ViewInfo): void => {
  const ofKey = Object.values(key).reduce((sum, def) => sum + charactersIn(def), 0);
  if (ofKey > INDEX_CHARACTERS_MAX)
    throw new StartRefused(
      `${name}: the texts of its key may have ${ofKey} characters in total, but an index holds ${INDEX_CHARACTERS_MAX}: use shorter texts.`,
    );
  for (const [value, { def }] of Object.entries(values))
    if (def.sort && charactersIn(def) + ofKey > INDEX_CHARACTERS_MAX)
      throw new StartRefused(
        `${name}: lists can be sorted by ${value}, a text that does not fit into an index: limit it to ${INDEX_CHARACTERS_MAX - ofKey} characters, or remove \`sort()\`.`,
      );
};

const ORDERED: ReadonlySet<string> = new Set(['integer', 'date', 'instant']);

const demandValues = ({ name, values, key }: ViewInfo): void => {
  if (Object.keys(values).length === 0)
    throw new StartRefused(
      `${name}: it has no values: give it a count(), a sum(), an avg(), a latest(), a min() or a max().`,
    );
  const columns = [
    ...Object.entries(key),
    ...Object.entries(values).map(([value, { def }]) => [value, def] as const),
  ].map(([each, def]) => column(each, def));
  const twice = columns.find((each, index) => columns.indexOf(each) < index);
  if (twice !== undefined)
    throw new StartRefused(
      `${name}: the column ${twice} belongs to two of its key parts or values: give one of them another name.`,
    );
  for (const [value, known] of Object.entries(values)) {
    const { kind, def } = known;
    if (!isOfOneShare(known)) continue;
    if (kind !== 'latest' && !ORDERED.has(def.kind))
      throw new StartRefused(
        `${name}: ${value} is the ${kind}() of a ${def.kind}: use a number, a date or an instant.`,
      );
    if (def.kind === 'list' || def.kind === 'set' || def.kind === 'upload' || def.kind === 'value')
      throw new StartRefused(
        `${name}: the latest value ${value} is a ${def.kind}: use a text, a word, a number, an instant or a reference.`,
      );
    if (def.personal !== undefined) throw new StartRefused(`${name}: the latest value ${value} ${PERSONAL}`);
  }
  const all = new Set(columns);
  for (const [value, { kind, def }] of Object.entries(values)) {
    const to = column(value, def);
    const taken = { latest: [positionOf(to)], avg: [totalOf(to), numberOf(to)] }[kind as string] ?? [];
    const clash = columns.find((each) => taken.includes(each));
    if (clash !== undefined)
      throw new StartRefused(
        `${name}: the column ${clash} is reserved for the ${kind}() ${value}: give that part or value another name.`,
      );
  }
  if (all.has(SHARES))
    throw new StartRefused(
      `${name}: ${SHARES} is reserved for the number of aggregates with a share: give that part or value another name.`,
    );
  if (all.has(CHANGED))
    throw new StartRefused(
      `${name}: changedPosition is reserved for the position of the last change: give that part or value another name.`,
    );
};
