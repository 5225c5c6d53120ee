import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Asked, Pages } from './asking.ts';
import { html } from './html.ts';
import { adviceOf, factsOf, type ProblemFacts } from './problem.ts';

type Children = { readonly children?: ComponentChildren };

/** The heading of a section; navigation moves the focus of screen readers here. */
export const Heading = ({ title, children }: { readonly title: string } & Children) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Annals`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return html`<div class="heading"><h1 ref=${heading} tabindex="-1">${title}</h1><div class="tools">${children}</div></div>`;
};

/** A problem, and what to do about it. */
export const Problem = ({
  problem,
  retry,
}: {
  readonly problem: ProblemFacts;
  readonly retry?: (() => void) | undefined;
}) => html`<div class="problem" role="alert">
  <p><strong>${problem.title}</strong>${problem.detail && problem.detail !== problem.title ? html` ${problem.detail}` : null}</p>
  ${problem.errors?.map(({ pointer, detail }) => html`<p><code>${pointer}</code> ${detail}</p>`)}
  <p>${adviceOf(problem)}</p>
  ${retry && html`<p><button type="button" onClick=${retry}>Try again</button></p>`}
</div>`;

/** Shows a response: loading, failed, or its contents. */
export const Whole = <Body>({
  asked,
  show,
}: {
  readonly asked: Asked<Body>;
  readonly show: (body: Body) => VNode;
}) => html`
  ${asked.problem && html`<${Problem} problem=${asked.problem} retry=${asked.reload} />`}
  ${asked.body === undefined ? asked.problem === undefined && html`<p class="waiting" role="status">Just a moment …</p>` : show(asked.body)}
`;

type Column<Item> = {
  readonly label: string | VNode;
  /** The label of cells without a column head, if `label` is more than text. */
  readonly name?: string;
  readonly sorted?: 'ascending' | 'descending' | 'none' | undefined;
  readonly cell: (item: Item) => unknown;
  readonly numeric?: boolean;
  readonly class?: string;
};

type TableOptions<Item> = {
  readonly caption: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly class?: string;
};

/** Rows on a wide screen, cards on a narrow one; the ARIA roles stay the same. */
export const Table = <Item>({
  caption,
  columns,
  items,
  keyOf,
  class: looks = '',
}: TableOptions<Item>) => html`<table class=${`cards ${looks}`} role="table">
  <caption class="unseen">${caption}</caption>
  <thead role="rowgroup"><tr role="row">${columns.map(({ label, numeric, sorted }) => html`<th role="columnheader" scope="col" aria-sort=${sorted ?? null} class=${numeric ? 'numeric' : ''}>${label}</th>`)}</tr></thead>
  <tbody role="rowgroup">
    ${items.map(
      (item) => html`<tr role="row" key=${keyOf(item)}>
        ${columns.map(({ label, name, cell, numeric, class: own = '' }) => html`<td role="cell" data-label=${name ?? (typeof label === 'string' ? label : null)} class=${`${own} ${numeric ? 'numeric' : ''}`.trim()}><div>${cell(item)}</div></td>`)}
      </tr>`,
    )}
  </tbody>
</table>`;

type ListingOptions<Item> = Omit<TableOptions<Item>, 'items'> & {
  readonly pages: Pages<Item>;
  readonly empty: unknown;
};

/** A list of the interface as a table; an empty one shows `empty`. */
export const Listing = <Item>({ pages, empty, ...table }: ListingOptions<Item>) => html`<${Whole}
  asked=${pages}
  show=${(items: readonly Item[]) => html`
    ${items.length === 0 ? html`<div class="empty">${empty}</div>` : html`<${Table} ...${table} items=${items} />`}
    ${pages.more && html`<p><button type="button" onClick=${pages.more}>Show more</button></p>`}
  `}
/>`;

export const Badge = ({ tone, children }: { readonly tone: 'good' | 'bad' | 'warn' | 'plain' } & Children) =>
  html`<span class=${`badge ${tone}`}>${children}</span>`;

type ActOptions = Children & { readonly act: () => Promise<unknown>; readonly kind?: string };

/** A button whose action takes time and may fail. */
export const Act = ({ act, kind = '', children }: ActOptions) => {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemFacts>();
  const press = () => {
    setBusy(true);
    setProblem(undefined);
    act()
      .catch((error: unknown) => setProblem(factsOf(error)))
      .finally(() => setBusy(false));
  };
  return html`<button type="button" class=${kind} aria-disabled=${isBusy} onClick=${() => isBusy || press()}>${children}</button>
    ${problem && html`<${Problem} problem=${problem} />`}`;
};
