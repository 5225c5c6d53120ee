import { useEffect, useRef } from 'preact/hooks';
import type { CommandFacts, FieldFacts, KindFacts, ListFacts } from '../../domain-facts.ts';
import { useApi, useAsked } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { Act, Table, Whole } from '../base/parts.ts';
import { creationOf, HAL, type Page, pageOf, pageOfItem } from './domain.ts';
import type { Item, Link, Links } from './links.ts';
import { ItemTable } from './list.ts';
import { Upload } from './upload.ts';
import { Value } from './value.ts';

const SHOWN = 10;

type ChildrenOptions = {
  readonly kind: KindFacts;
  readonly child: KindFacts;
  readonly item: Item;
  readonly changes: number;
};

/** Reloads whenever `changes` counts up. */
const useReload = ({ reload }: { readonly reload: () => void }, changes: number): void => {
  const seen = useRef(changes);
  useEffect(() => {
    if (seen.current !== changes) reload();
    seen.current = changes;
  }, [changes, reload]);
};

/** The children of an item, or the items of a user. */
export const Children = ({ kind, child, item, changes }: ChildrenOptions) => {
  const { href = '' } = item._links[child.path] ?? {};
  const asked = useAsked<Page>(`${href}?limit=${SHOWN}`, undefined, HAL);
  useReload(asked, changes);
  const create = asked.body?._links.create ?? item._links[child.rel];
  const isOwned = child.parent === undefined;
  const common = isOwned ? child.owner : child.parent.field;
  return html`<section>
    <div class="heading"><h2>${child.plural}</h2>${create?.method && !isOwned && html`<a class="button" href=${`${pageOfItem(kind, item.id)}/new/${child.path}`}>${creationOf(child)?.title} ${child.title.toLowerCase()}</a>`}</div>
    <${Whole} asked=${asked} show=${({ _embedded: { items }, _links: { next } }: Page) => html`
      ${items.length === 0 ? html`<p class="soft">None.</p>` : html`<${ItemTable} kind=${child} items=${items} common=${common} />`}
      ${next && html`<p><a href=${isOwned ? `${pageOf(child)}?${child.owner}=${item.id}` : `${pageOfItem(kind, item.id)}/under/${child.path}`}>All ${child.plural.toLowerCase()}</a></p>`}`} />
  </section>`;
};

type ListedItem = Readonly<Record<string, unknown>> & { readonly _links: Links };
type ItemsOptions = {
  readonly kind: KindFacts;
  readonly list: ListFacts;
  readonly item: Item;
  readonly etag: string | undefined;
  readonly reload: () => void;
  readonly changes: number;
};

const ITEMS_MAX = 100;

/** The items of one list. They share the version of the aggregate, so both are reloaded together. */
export const Items = ({ kind, list, item, etag, reload, changes }: ItemsOptions) => {
  const { href = '' } = item._links[list.path] ?? {};
  const asked = useAsked<Page<ListedItem>>(`${href}?limit=${ITEMS_MAX}`, undefined, HAL);
  useReload(asked, changes);
  const additions = commandsOn(kind, list).filter(
    ({ does, rel }) => does === 'addItem' && item._links[rel]?.method !== undefined,
  );
  const here = `${pageOfItem(kind, item.id)}/list/${list.path}`;
  const changed = () => {
    asked.reload();
    reload();
  };
  const show = ({ _embedded: { items } }: Page<ListedItem>) =>
    items.length === 0
      ? html`<p class="soft">None.</p>`
      : html`<${Table}
          caption=${list.title}
          items=${items}
          keyOf=${(each: ListedItem) => String(each[list.id])}
          columns=${[
            ...fieldsShown(list).map((field) => ({
              label: field.title,
              numeric: field.type === 'integer',
              cell: (each: ListedItem) =>
                html`<${Value} field=${field} value=${each[field.name]} links=${each._links} isCell />`,
            })),
            ...(items.some((each) => canDo(kind, list, each))
              ? [
                  {
                    label: 'Actions',
                    cell: (each: ListedItem) =>
                      html`<${Actions} kind=${kind} list=${list} items=${items} each=${each} here=${here} etag=${etag} done=${changed} />`,
                  },
                ]
              : []),
          ]}
        />`;
  return html`<section>
    <div class="heading"><h2>${list.title}</h2>${additions.map(({ name, verb, title }) => html`<a key=${name} class="button" href=${verb === undefined ? `${here}/add` : `${here}/add/${name}`}>${additions.length === 1 && verb === undefined ? `Add ${list.one}` : title}</a>`)}</div>
    <${Whole} asked=${asked} show=${show} />
  </section>`;
};

/** In declared order: single-line texts and pictures fit into a table. */
export const fieldsShown = ({ fields }: ListFacts): readonly FieldFacts[] =>
  fields.filter(({ hasLines }) => !hasLines);

type ActionsOptions = Pick<ItemsOptions, 'kind' | 'list' | 'etag'> & {
  readonly items: readonly ListedItem[];
  readonly each: ListedItem;
  readonly here: string;
  readonly done: () => void;
};

const commandsOn = ({ commands }: KindFacts, { name }: ListFacts): readonly CommandFacts[] =>
  commands.filter(({ list }) => list === name);

const commandOf = (kind: KindFacts, list: ListFacts, deed: CommandFacts['does']): CommandFacts | undefined =>
  commandsOn(kind, list).find(({ does }) => does === deed);

const canDo = (kind: KindFacts, list: ListFacts, { _links }: ListedItem): boolean =>
  commandsOn(kind, list).some(({ does, rel }) => does !== 'addItem' && _links[rel]?.method !== undefined);

/** The actions on an item of a list. */
const Actions = ({ kind, list, items, each, here, etag, done }: ActionsOptions) => {
  const api = useApi();
  const id = encodeURIComponent(String(each[list.id]));
  const send = (link: Link, body?: object) => async () => {
    await api.send(link.method ?? 'POST', link.href, { body, ifMatch: etag });
    done();
  };
  const [removal, move] = (['removeItem', 'moveItem'] as const).map((does) => commandOf(kind, list, does));
  const [removed, moved] = [removal, move].map((command) => each._links[command?.rel ?? '']);
  const others = commandsOn(kind, list).filter(
    ({ does, verb, form, rel }) =>
      (does === 'actOnItem' || (does === 'removeItem' && (verb !== undefined || form.length > 0))) &&
      each._links[rel]?.method !== undefined,
  );
  const at = items.indexOf(each);
  const above = items[at - 1];
  const behind = items[at + 2];
  return html`<span class="tools">
    ${each._links.edit && html`<a class="button quiet" href=${`${here}/${id}`}>Edit</a>`}
    ${others.map(({ name, title, form, rel }) =>
      form.length > 0
        ? html`<a key=${name} class="button quiet" href=${`${here}/${id}/do/${name}`}>${title}</a>`
        : html`<${Act} key=${name} kind="quiet" act=${send(each._links[rel] as Link)}>${title}<//>`,
    )}
    ${moved && above && html`<${Act} kind="quiet" act=${send(moved, { before: above[list.id] })}>Up<//>`}
    ${moved && at < items.length - 1 && html`<${Act} kind="quiet" act=${send(moved, { before: behind?.[list.id] ?? null })}>Down<//>`}
    ${list.uploads.map((upload) => html`<${Upload} upload=${upload} links=${each._links} etag=${etag} done=${done} isSmall />`)}
    ${removed?.method && removal?.form.length === 0 && html`<${Confirm} label="Remove" kind="quiet" title=${`Remove this ${list.one}?`} doing="Remove it" act=${send(removed)}><p>The history keeps it.</p><//>`}
  </span>`;
};
