import { useEffect, useRef, useState } from 'preact/hooks';
import type { HistoryEntry } from '#kernel/base/rest/history.ts';
import type { CommandFacts, DomainFacts, FieldFacts, KindFacts } from '../../domain-facts.ts';
import { useActions } from '../base/actions.ts';
import { useApi, useAsked } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { Act, Heading, Whole } from '../base/parts.ts';
import { go, type Route } from '../base/router.ts';
import { ImportedAt, Time } from '../base/time.ts';
import { useChanges } from '../feed/live.ts';
import { AgentRequest } from './agent-request.ts';
import { above, kindAt, pageOfCommand, titleOf, useDomain } from './domain.ts';
import { ItemInterface } from './item-interface.ts';
import { type Item, possibleOf } from './links.ts';
import { ActorName } from './names.ts';
import { NotThere } from './not-there.ts';
import { Children, Items } from './parts-of-item.ts';
import { ItemProof } from './proof.ts';
import { Readers } from './readers.ts';
import { Signed } from './signed.ts';
import { Upload } from './upload.ts';
import { Chip, Value } from './value.ts';

/** One item: its fields, its actions, and its children. */
export const DataItem = ({ route: { parameters } }: { readonly route: Route }) => {
  const kind = kindAt(useDomain(), parameters.kind);
  return kind === undefined
    ? html`<${NotThere} />`
    : html`<${KindItem} kind=${kind} id=${parameters.id ?? ''} />`;
};

const KindItem = ({ kind, id }: { readonly kind: KindFacts; readonly id: string }) => {
  const asked = useAsked<Item>(`/${kind.path}/${encodeURIComponent(id)}`);
  const [changes, setChanges] = useState(0);
  const domain = useDomain();
  useChanges(eventsOf(domain, kind, id), () => {
    asked.reload();
    setChanges((before) => before + 1);
  });
  const item = asked.body;
  const place = above(domain, kind, item);
  return html`
    <p class="back"><a href=${place.page}>${place.title}</a></p>
    <${Heading} title=${item ? titleOf(kind, item) : kind.title}>${item && html`<${Commands} kind=${kind} item=${item} etag=${asked.etag} reload=${asked.reload} />`}<//>
    <${Whole} asked=${asked} show=${(body: Item) => html`<${Body} kind=${kind} item=${body} etag=${asked.etag} reload=${asked.reload} changes=${changes} />`} />`;
};

/** The events of an item and its children. Browsers limit connections, so a page has one stream. */
const eventsOf = ({ kinds }: DomainFacts, { name }: KindFacts, id: string): string =>
  kinds.some(({ parent }) => parent?.kind === name)
    ? `${name}=${encodeURIComponent(id)}`
    : `subject=${name}-${encodeURIComponent(id)}`;

type PartOptions = {
  readonly kind: KindFacts;
  readonly item: Item;
  readonly etag: string | undefined;
  readonly reload: () => void;
};

const Commands = ({ kind, item, etag, reload }: PartOptions) => {
  // A request of an agent is answered beside what it would do.
  const possible = kind.confirms === undefined ? possibleOf(kind, item._links) : [];
  const edit = possible.find(({ does }) => does === 'edit');
  const bar = useRef<HTMLDivElement>(null);
  useActions([
    ...(item._links.history ? [{ says: 'History', keys: 'h', to: historyOf(kind, item) }] : []),
    ...possible.map(({ title, form, name }, index) => ({
      says: title,
      keys: name === edit?.name ? 'e' : undefined,
      to:
        form.length > 0
          ? pageOfCommand(kind, item.id, possible[index] as CommandFacts)
          : () => press(bar.current, name),
    })),
  ]);
  return html`${item._links.history && html`<a class="button" href=${historyOf(kind, item)} aria-keyshortcuts="h">History</a>`}
    <div class="tools" ref=${bar}>${possible.map((command) => html`<span class="command" data-command=${command.name} key=${command.name}><${Command} kind=${kind} item=${item} etag=${etag} command=${command} reload=${reload} /></span>`)}</div>`;
};

/** Presses the button of a command, which asks first if it must. */
const press = (bar: HTMLElement | null, command: string): void =>
  bar?.querySelector<HTMLElement>(`[data-command="${command}"] button`)?.click();

const historyOf = (kind: KindFacts, { id }: Item): string => `/console/items/${kind.path}/${id}`;

type CommandOptions = PartOptions & { readonly command: CommandFacts };

/** A command with fields opens a form, one that ends the item asks first, and others act at once. */
const Command = ({ kind, item, etag, command, reload }: CommandOptions) => {
  const api = useApi();
  const domain = useDomain();
  const { title, says, does, form, rel } = command;
  const link = item._links[rel];
  if (form.length > 0 || link === undefined)
    return html`<a class=${`button ${does === 'edit' ? 'primary' : ''}`} href=${pageOfCommand(kind, item.id, command)} aria-keyshortcuts=${does === 'edit' ? 'e' : null} title=${says}>${title}</a>`;
  const act = async () => {
    // A refusal may be due to a change that is not shown yet.
    await api.send(link.method ?? 'POST', link.href, { ifMatch: etag }).catch((error: unknown) => {
      reload();
      throw error;
    });
    if (does === 'end') go(above(domain, kind, item).page);
    else reload();
  };
  if (does !== 'end') return html`<${Act} act=${act}>${title}<//>`;
  return html`<${Confirm} label=${title} kind="danger" title=${`${title} “${titleOf(kind, item)}”?`} doing=${title} act=${act}>
    <p>${says ?? title}. Its history stays.</p>
  <//>`;
};

const isThere = (value: unknown): boolean =>
  ![null, undefined, ''].includes(value as string) && !(Array.isArray(value) && value.length === 0);
const isLong = ({ type, hasLines }: FieldFacts): boolean => hasLines === true || type === 'upload';

/** A file can be uploaded if the item has a link for it. */
const canBeGiven = (kind: KindFacts, item: Item, { name }: FieldFacts): boolean =>
  kind.uploads.some(({ field, rel }) => field === name && item._links[rel]?.method !== undefined);
const isState = ({ type }: FieldFacts): boolean => type === 'states';

const Body = ({ kind, item, etag, reload, changes }: PartOptions & { readonly changes: number }) => {
  const { kinds } = useDomain();
  const shown = kind.fields.filter(({ name }) => isThere(item[name]) && name !== kind.label);
  const facts = shown
    .filter((field) => !isLong(field))
    .toSorted((one, other) => Number(isState(other)) - Number(isState(one)));
  const long = kind.fields.filter(
    (field) => isLong(field) && (isThere(item[field.name]) || canBeGiven(kind, item, field)),
  );
  const under = kinds.filter(
    ({ path }) => item._links[path] !== undefined && item._links[path].method === undefined,
  );
  return html`<div class=${long.length + kind.lists.length + under.length === 0 ? 'item alone' : 'item'}>
    <div>
      ${kind.confirms && html`<${AgentRequest} kind=${kind} request=${item} reload=${reload} />`}
      ${long.map(
        (
          field,
        ) => html`<section class="long-field"><h2>${field.title}</h2>${isThere(item[field.name]) && html`<${Value} field=${field} value=${item[field.name]} links=${item._links} />`}
        ${kind.uploads.filter((upload) => upload.field === field.name).map((upload) => html`<${Upload} upload=${upload} links=${item._links} etag=${etag} done=${reload} />`)}</section>`,
      )}
      ${kind.lists.map((list) => item._links[list.path] && html`<${Items} key=${list.name} kind=${kind} list=${list} item=${item} etag=${etag} reload=${reload} changes=${changes} />`)}
      ${under.map((child) => html`<${Children} key=${child.name} kind=${kind} child=${child} item=${item} changes=${changes} />`)}
    </div>
    <aside aria-label="About it">
      <dl class="facts stacked">
        ${facts.map((field) => html`<div><dt>${field.title}</dt><dd>${field.type === 'states' ? html`<${Chip} field=${field} value=${String(item[field.name])} />` : html`<${Value} field=${field} value=${item[field.name]} links=${item._links} />`}</dd></div>`)}
        <div><dt>Id</dt><dd>${item.id}</dd></div>
        ${typeof item.createdAt === 'string' && html`<div><dt>Created</dt><dd><${Time} at=${item.createdAt} short /></dd></div>`}
        ${typeof item.updatedAt === 'string' && html`<div><dt>Changed</dt><dd><${Time} at=${item.updatedAt} short /></dd></div>`}
      </dl>
      ${item._links.history && html`<${Latest} kind=${kind} item=${item} />`}
      <${Readers} links=${item._links} />
      <${ItemProof} links=${item._links} />
      <${ItemInterface} kind=${kind} item=${item} etag=${etag} />
    </aside>
  </div>`;
};

const LATEST = 5;

/** The latest events of the item. */
const Latest = ({ kind, item }: { readonly kind: KindFacts; readonly item: Item }) => {
  const { body: entries, reload } = useAsked<readonly HistoryEntry[]>(
    `/${kind.path}/${item.id}/history?limit=${LATEST}`,
  );
  const seen = useRef(item);
  useEffect(() => {
    if (seen.current !== item) reload();
    seen.current = item;
  }, [item, reload]);
  return html`<h2>History</h2>
    ${entries?.length === 0 && html`<p class="soft">There are no events that you may read.</p>`}
    <ol class="latest">${entries?.map(
      (
        entry,
      ) => html`<li key=${entry.id}><strong>${eventText(entry.type)}</strong> <span class="soft">${changedFields(kind, entry)}</span>
        <br /><span class="soft"><${ActorName} actor=${entry.actor} withFace />, <${Time} at=${entry.at} clock short /><${ImportedAt} at=${entry.importedAt} />${entry.reason && html`: <q dir="auto">${entry.reason}</q>`}${entry.signature && html`<br /><${Signed} signature=${entry.signature} />`}</span></li>`,
    )}</ol>
    <p><a href=${historyOf(kind, item)}>Full history</a></p>`;
};

/** The event already names a new state, and a new item has only new fields. */
const changedFields = (kind: KindFacts, { version, changes }: HistoryEntry): string => {
  const fields = changes.map(({ field }) =>
    kind.fields.find(({ name, wire }) => [name, wire, `${name}.id`].includes(field)),
  );
  if (version === 1 || fields.some((field) => field === undefined || isState(field))) return '';
  return fields.map((field) => field?.title.toLowerCase()).join(', ');
};

/** `lineItem.priceChanged` is “Price changed”. */
export const eventText = (type: string): string => {
  const words = type
    .slice(type.indexOf('.') + 1)
    .replaceAll('_', ' ')
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};
