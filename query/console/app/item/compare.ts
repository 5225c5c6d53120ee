import { diffLines } from '#shared/line-diff.ts';
import type { FieldFacts, KindFacts } from '../../domain-facts.ts';
import type { Links } from '../data/domain.ts';
import { Value } from '../data/value.ts';
import { html } from '../html.ts';
import { Lines, shown } from './changes.ts';

type Values = Readonly<Record<string, unknown>>;

/** What says of itself when it was changed is no difference. */
const UNTOLD = ['_links', 'updatedAt'];

/** The fields that are not the same in both. */
export const differing = (from: Values, to: Values): readonly string[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    (name) =>
      !UNTOLD.includes(name) && JSON.stringify(from[name] ?? null) !== JSON.stringify(to[name] ?? null),
  );

const LINE_CHARACTERS_MAX = 200;
const isLong = (value: unknown): boolean =>
  typeof value === 'string' && (value.includes('\n') || value.length > LINE_CHARACTERS_MAX);

/** As much of an item as is compared. */
type State = Values & { readonly _links: Links };

type DifferenceOptions = {
  readonly kind: Pick<KindFacts, 'fields'> | undefined;
  readonly from: State;
  readonly to: State;
  readonly names?: readonly string[];
};

/** Two states of an item: of long texts the lines, of all else what it was and what it is. */
export const Difference = ({ kind, from, to, names = differing(from, to) }: DifferenceOptions) =>
  names.length === 0
    ? html`<p class="soft">Both are the same.</p>`
    : html`<dl class="facts changes">${names.map((name) => {
        const field = kind?.fields.find((each) => each.name === name);
        const [was, is] = [from[name], to[name]];
        return html`<div><dt>${field?.title ?? name}</dt><dd>${
          isLong(was) || isLong(is)
            ? html`<${Lines} diff=${diffLines(String(was ?? ''), String(is ?? '')).text} />`
            : html`<del><span class="unseen">was </span><${Told} field=${field} value=${was} item=${from} /></del>${' '}<ins><span class="unseen">became </span><${Told} field=${field} value=${is} item=${to} /></ins>`
        }</dd></div>`;
      })}</dl>`;

const Told = ({
  field,
  value,
  item,
}: {
  readonly field: FieldFacts | undefined;
  readonly value: unknown;
  readonly item: State;
}) =>
  field === undefined
    ? html`${shown(value)}`
    : html`<${Value} field=${field} value=${value} links=${item._links} isCell />`;
