import type { KindFacts } from '../../domain-facts.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Whole } from '../base/parts.ts';
import type { Item } from '../data/links.ts';
import { Difference } from './compare.ts';
import { ListDifferences } from './lists.ts';

type ComparedOptions = {
  readonly kind: KindFacts | undefined;
  readonly path: string;
  readonly shown: Item;
  readonly version: number;
  readonly other: number;
};

/** The difference from the earlier of two versions to the later. */
export const Compared = ({ kind, path, shown: item, version, other }: ComparedOptions) => {
  const asked = useAsked<Item>(`${path}?at=v${other}`);
  const [earlier, later] = version < other ? [version, other] : [other, version];
  return html`<p>From version <strong>${earlier}</strong> to version <strong>${later}</strong>:</p>
    <${Whole} asked=${asked} show=${(body: Item) => {
      const [from, to] = version < other ? [item, body] : [body, item];
      return html`<${Difference} kind=${kind} from=${from} to=${to} />${kind && html`<${ListDifferences} kind=${kind} from=${from} to=${to} />`}`;
    }} />`;
};
