// Over 200 lines, because it is one page: the versions of an item, and what made them.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { HistoryEntry } from '#kernel/base/rest/history.ts';
import type { KindFacts } from '../../domain-facts.ts';
import { useActions } from '../base/actions.ts';
import { useAsked, usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { kinds, spoken } from '../base/kinds.ts';
import { Through } from '../base/names.ts';
import { Heading, Problem, Whole } from '../base/parts.ts';
import { put, type Route } from '../base/router.ts';
import { ImportedAt, Time } from '../base/time.ts';
import { Changes, shown } from '../data/changes.ts';
import { kindAt, pageOfItem, titleOf, useDomain } from '../data/domain.ts';
import { eventText } from '../data/item.ts';
import type { Item } from '../data/links.ts';
import { ActorName } from '../data/names.ts';
import { ItemProof } from '../data/proof.ts';
import { Signed } from '../data/signed.ts';
import { Value } from '../data/value.ts';
import { useChanges } from '../feed/live.ts';
import { Compared } from './compared.ts';
import { PastLists } from './lists.ts';
import { Restore } from './restore.ts';

const SETTLES_MS = 200;

/** The history of an item and its state at each version. The address has the versions shown. */
export const ItemPage = ({ route: { parameters, search } }: { readonly route: Route }) => {
  const { kind: name = '', id = '' } = parameters;
  const kind = kindAt(useDomain(), name);
  const path = `/${encodeURIComponent(name)}/${encodeURIComponent(id)}`;
  const history = usePages<HistoryEntry>(`${path}/history?limit=100`);
  const now = useAsked<Item>(path);
  const reload = () => {
    history.reload();
    now.reload();
  };
  const subject = kinds().find((each) => each.path === name)?.name;
  useChanges(subject && `subject=${subject}-${encodeURIComponent(id)}`, reload);
  const title = kind && now.body ? titleOf(kind, now.body) : `${spokenTitle(name)} ${id}`;
  const show = (entries: readonly HistoryEntry[]) => {
    const newest = entries[0];
    if (newest === undefined) return html`<div class="empty"><p>You cannot read any of its events.</p></div>`;
    return html`<${Versions} kind=${kind} path=${path} entries=${entries} newest=${newest.version} search=${search} now=${now.body} etag=${now.etag} more=${history.more} reload=${reload} />`;
  };
  return html`
    <p class="back">${kind === undefined ? html`<a href="/console/data">Data</a>` : html`<a href=${pageOfItem(kind, id)}><bdi>${title}</bdi></a>`}</p>
    <${Heading} title=${`History: ${title}`} />
    <${Whole} asked=${history} show=${show} />`;
};

const spokenTitle = (path: string): string => {
  const kind = kinds().find((each) => each.path === path);
  const name = kind === undefined ? path : spoken(kind);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

type VersionsOptions = {
  readonly kind: KindFacts | undefined;
  readonly path: string;
  readonly entries: readonly HistoryEntry[];
  readonly newest: number;
  readonly search: URLSearchParams;
  readonly now: Item | undefined;
  readonly etag: string | undefined;
  readonly more: (() => void) | undefined;
  readonly reload: () => void;
};

const numberOf = (search: URLSearchParams, name: string): number | undefined => {
  const given = Number(search.get(name));
  return Number.isSafeInteger(given) && given > 0 ? given : undefined;
};

const Versions = ({ kind, path, entries, newest, search, now, etag, more, reload }: VersionsOptions) => {
  const version = Math.min(numberOf(search, 'version') ?? newest, newest);
  const other = numberOf(search, 'with');
  const show = (chosen: number, compared = other) => {
    const query = new URLSearchParams();
    if (chosen !== newest) query.set('version', String(chosen));
    if (compared !== undefined && compared !== chosen) query.set('with', String(compared));
    put(`/console/items${path}${query.size === 0 ? '' : `?${query}`}`);
  };
  useActions([
    { says: 'Earlier version', keys: 'j', to: () => show(Math.max(version - 1, 1)) },
    { says: 'Later version', keys: 'k', to: () => show(Math.min(version + 1, newest)) },
  ]);
  return html`
    <${Slider} entries=${entries} version=${version} choose=${show} />
    <div class="beside">
      <section aria-label="Then">
        <div class="heading"><h2>${version === newest ? 'As it is' : 'As it was'}</h2><div class="tools">
          <label class="with">Compare with <select onChange=${(event: Event) => show(version, Number((event.currentTarget as HTMLSelectElement).value) || undefined)}>
            <option value="" selected=${other === undefined}>nothing</option>
            ${entries.filter((entry) => entry.version !== version).map((entry) => html`<option value=${entry.version} selected=${entry.version === other}>v${entry.version}: ${eventText(entry.type)}</option>`)}
          </select></label>
          ${
            kind &&
            now &&
            version !== newest &&
            html`<${Restore} key=${version} kind=${kind} path=${path} version=${version} now=${now} etag=${etag} done=${() => {
              show(newest, undefined);
              reload();
            }} />`
          }
        </div></div>
        <${PastState} kind=${kind} path=${path} version=${version} other=${other} />
      </section>
      <section aria-label="History"><h2>History</h2><ol class="history">
        ${entries.map((entry) => html`<${Entry} key=${entry.id} kind=${kind} entry=${entry} isChosen=${entry.version === version} choose=${show} />`)}
      </ol>
      ${more && html`<p><button type="button" onClick=${more}>Show earlier</button></p>`}
      ${now && html`<${ItemProof} links=${now._links} />`}</section>
    </div>`;
};

type SliderOptions = {
  readonly entries: readonly HistoryEntry[];
  readonly version: number;
  readonly choose: (version: number) => void;
};

const Slider = ({ entries, version, choose }: SliderOptions) => {
  const newest = entries[0]?.version ?? 1;
  const entry = entries.find((each) => each.version === version);
  const what = entry === undefined ? '' : `${eventText(entry.type)}, by ${entry.actor ?? 'unknown'}`;
  return html`<div class="slider">
    <label for="version">Version <strong>${version}</strong> of ${newest}${entry && html`: <${Time} at=${entry.at} />, ${eventText(entry.type).toLowerCase()} by <${ActorName} actor=${entry.actor} plain />`}</label>
    <input
      id="version" type="range" min="1" max=${newest} value=${version} disabled=${newest === 1} aria-valuetext=${`version ${version}, ${what}`}
      onInput=${(event: Event) => choose(Number((event.currentTarget as HTMLInputElement).value))}
    />
  </div>`;
};

type PastOptions = {
  readonly kind: KindFacts | undefined;
  readonly path: string;
  readonly version: number;
  readonly other: number | undefined;
};

/** While the slider moves, nothing is requested. */
const PastState = ({ kind, path, version, other }: PastOptions) => {
  const [settled, setSettled] = useState(version);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(version), SETTLES_MS);
    return () => clearTimeout(timer);
  }, [version]);
  const asked = useAsked<Item>(`${path}?at=v${settled}`);
  const before = useRef(asked.body);
  if (asked.body !== undefined) before.current = asked.body;
  if (asked.problem?.status === 404)
    return html`<div class="empty"><p>At this version the item was deleted, or you could not read it.</p></div>`;
  if (asked.problem) return html`<${Problem} problem=${asked.problem} retry=${asked.reload} />`;
  if (before.current !== undefined && other !== undefined)
    return html`<${Compared} kind=${kind} path=${path} shown=${before.current} version=${settled} other=${other} />`;
  return html`<${Fields} kind=${kind} item=${before.current} />${kind && before.current && html`<${PastLists} kind=${kind} item=${before.current} />`}`;
};

type EntryOptions = {
  readonly kind: KindFacts | undefined;
  readonly entry: HistoryEntry;
  readonly isChosen: boolean;
  readonly choose: (version: number) => void;
};

const Entry = ({ kind, entry, isChosen, choose }: EntryOptions) => {
  const { id, version, type, at, importedAt, reason, signature, actor, client, changes, erased, unreadable } =
    entry;
  const requests = useDomain().kinds.find(({ confirms }) => confirms !== undefined);
  return html`<li class=${isChosen ? 'chosen' : ''} aria-current=${isChosen ? 'true' : null}>
    <p class="line">
      <button type="button" class="quiet" onClick=${() => choose(version)} aria-label=${`v${version}: show it`}>v${version}</button>${' '}
      <strong title=${type}>${eventText(type)}</strong> <${Time} at=${at} /><${ImportedAt} at=${importedAt} />
    </p>
    <p class="soft">by <${ActorName} actor=${actor} withFace />${client && html` through <${Through} client=${client} />`} · <a href=${`/console/events/${id}#why`} aria-label=${`Why? v${version}`}>Why?</a></p>
    ${reason && html`<p dir="auto"><q>${reason}</q></p>`}
    ${signature && html`<p><${Signed} signature=${signature} /></p>`}
    ${requests && entry.causation && html`<${ApprovedBy} requests=${requests} cause=${entry.causation} />`}
    ${erased && html`<p class="soft">The person was erased: their data is no longer shown.</p>`}
    ${unreadable && html`<p class="wrong">This event cannot be read, so its changes are unknown.</p>`}
    <${Changes} changes=${changes} kind=${kind} />
  </li>`;
};

type CauseOptions = { readonly requests: KindFacts; readonly cause: string };

/** The person who approved what an agent asked for, if the cause of the event is a request of an agent. */
const ApprovedBy = ({ requests, cause }: CauseOptions) => {
  const { body } = useAsked<{ readonly subject: string; readonly actor: string | null }>(`/events/${cause}`);
  const [kind, id] = body?.subject.split('-') ?? [];
  if (body === undefined || kind !== requests.name) return null;
  return html`<p class="soft">approved by <${ActorName} actor=${body.actor} withFace /> · <a href=${pageOfItem(requests, id)}>The request of the agent</a></p>`;
};

const NAMES: Readonly<Record<string, string>> = { id: 'Id', createdAt: 'Created', updatedAt: 'Changed' };

/** The fields of an item in the past; its links are for programs. */
const Fields = ({ kind, item }: { readonly kind: KindFacts | undefined; readonly item: Item | undefined }) =>
  item === undefined
    ? html`<p class="waiting">Just a moment …</p>`
    : html`<dl class="facts">${Object.entries(item)
        .filter(([name]) => name !== '_links')
        .map(([name, value]) => {
          const field = kind?.fields.find((each) => each.name === name);
          return html`<div><dt>${field?.title ?? NAMES[name] ?? name}</dt><dd>${field ? html`<${Value} field=${field} value=${value} links=${item._links} />` : shown(value)}</dd></div>`;
        })}</dl>`;
