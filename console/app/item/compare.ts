import { diffLines } from '#shared/line-diff.ts';
import type { FieldFacts, KindFacts } from '../../domain-facts.ts';
import { html } from '../base/html.ts';
import { Lines, shown } from '../data/changes.ts';
import type { Links } from '../data/links.ts';
import { Value } from '../data/value.ts';

type Values = Readonly<Record<string, unknown>>;

/** Fields that change with every version are not compared. */
const UNTOLD = ['_links', 'updatedAt'];

/** The fields with different values. */
export const differing = (from: Values, to: Values): readonly string[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    (name) =>
      !UNTOLD.includes(name) && JSON.stringify(from[name] ?? null) !== JSON.stringify(to[name] ?? null),
  );

const LINE_CHARACTERS_MAX = 200;
const isLong = (value: unknown): boolean =>
  typeof value === 'string' && (value.includes('\n') || value.length > LINE_CHARACTERS_MAX);

/** The part of an item that is compared. */
type State = Values & { readonly _links: Links };

type DifferenceOptions = {
  readonly kind: Pick<KindFacts, 'fields'> | undefined;
  readonly from: State;
  readonly to: State;
  readonly names?: readonly string[];
};

/** The difference of two states: lines of long texts, old and new values of all else. */
export const Difference = ({ kind, from, to, names = differing(from, to) }: DifferenceOptions) =>
  names.length === 0
    ? html`<p class="soft">Both are the same.</p>`
    : html`<dl class="facts changes">${names.map((name) => {
        const field = kind?.fields.find((each) => each.name === name);
        const [was, is] = [from[name], to[name]];
        return html`<div><dt>${field?.title ?? name}</dt><dd>${
          isLong(was) || isLong(is)
            ? html`<${Lines} diff=${diffLines(String(was ?? ''), String(is ?? '')).text} />`
            : html`<del><span class="unseen">was </span><${ShownValue} field=${field} value=${was} item=${from} /></del>${' '}<ins><span class="unseen">became </span><${ShownValue} field=${field} value=${is} item=${to} /></ins>`
        }</dd></div>`;
      })}</dl>`;

const ShownValue = ({
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
