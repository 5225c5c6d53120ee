import { useEffect, useRef, useState } from 'preact/hooks';
import type { FieldChange, HistoryEntry } from '#shared/rest/history.ts';
import { useAsked, usePages } from '../asking.ts';
import { html } from '../html.ts';
import { exampleOf, kinds, spoken } from '../kinds.ts';
import { Actor, pathOfSubject } from '../names.ts';
import { Heading, Problem, Whole } from '../parts.ts';
import { go, type Place } from '../router.ts';
import { Time } from '../time.ts';

const SETTLES_MS = 200;

/** What has happened to an item, and what it was at each time. */
export const ItemPage = ({ place: { parameters } }: { readonly place: Place }) => {
  const { kind = '', id = '' } = parameters;
  const path = `/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
  const history = usePages<HistoryEntry>(`${path}/history?limit=100`);
  const [chosen, setChosen] = useState<number>();
  const show = (entries: readonly HistoryEntry[]) => {
    const newest = entries[0];
    if (newest === undefined) return html`<div class="empty"><p>You may know of nothing that has happened to it.</p></div>`;
    const version = chosen ?? newest.version;
    return html`
      <${Slider} entries=${entries} version=${version} choose=${setChosen} />
      <div class="beside">
        <section aria-label="Then"><h2>${version === newest.version ? 'As it is' : 'As it was'}</h2><${Then} path=${path} version=${version} /></section>
        <section aria-label="History"><h2>History</h2><ol class="history">
          ${entries.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} isChosen=${entry.version === version} choose=${setChosen} />`)}
        </ol>
        ${history.more && html`<p><button type="button" onClick=${history.more}>Show earlier</button></p>`}</section>
      </div>`;
  };
  return html`
    <p class="back"><a href="/console/items">Another item</a></p>
    <${Heading} title=${`${titleOf(kind)} ${id}`} />
    <${Whole} asked=${history} show=${show} />`;
};

const titleOf = (path: string): string => {
  const kind = kinds().find((each) => each.path === path);
  const name = kind === undefined ? path : spoken(kind);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

type SliderOptions = { readonly entries: readonly HistoryEntry[]; readonly version: number; readonly choose: (version: number) => void };

/** Goes through the versions as through time. */
const Slider = ({ entries, version, choose }: SliderOptions) => {
  const newest = entries[0]?.version ?? 1;
  const entry = entries.find((each) => each.version === version);
  const what = entry === undefined ? '' : `${entry.type}, by ${entry.actor ?? 'somebody unknown'}`;
  return html`<div class="slider">
    <label for="version">Version <strong>${version}</strong> of ${newest}${entry && html`: <${Time} at=${entry.at} />, <code>${entry.type}</code>, by <${Actor} actor=${entry.actor} plain />`}</label>
    <input
      id="version" type="range" min="1" max=${newest} value=${version} disabled=${newest === 1} aria-valuetext=${`version ${version}, ${what}`}
      onInput=${(event: Event) => choose(Number((event.currentTarget as HTMLInputElement).value))}
    />
  </div>`;
};

/** While somebody pulls the slider, nothing is asked for. */
const Then = ({ path, version }: { readonly path: string; readonly version: number }) => {
  const [settled, setSettled] = useState(version);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(version), SETTLES_MS);
    return () => clearTimeout(timer);
  }, [version]);
  const asked = useAsked<Readonly<Record<string, unknown>>>(`${path}?at=v${settled}`);
  const before = useRef(asked.body);
  if (asked.body !== undefined) before.current = asked.body;
  if (asked.problem?.status === 404)
    return html`<div class="empty"><p>At this version it was not there: it was deleted, or could not be read by you.</p></div>`;
  if (asked.problem) return html`<${Problem} problem=${asked.problem} retry=${asked.reload} />`;
  return html`<${Fields} item=${before.current} />`;
};

type EntryOptions = { readonly entry: HistoryEntry; readonly isChosen: boolean; readonly choose: (version: number) => void };

const Entry = ({ entry, isChosen, choose }: EntryOptions) => {
  const { version, type, at, actor, client, changes, erased, unreadable } = entry;
  return html`<li class=${isChosen ? 'chosen' : ''} aria-current=${isChosen ? 'true' : null}>
    <p class="line">
      <button type="button" class="quiet" onClick=${() => choose(version)} aria-label=${`v${version}: show it`}>v${version}</button>${' '}
      <strong>${type}</strong> <${Time} at=${at} />
    </p>
    <p class="soft">by <${Actor} actor=${actor} />${client && html` through <code>${client}</code>`}</p>
    ${erased && html`<p class="soft">The person was erased: what was theirs is not told any more.</p>`}
    ${unreadable && html`<p class="wrong">This event cannot be read: what it changed is not known.</p>`}
    <${Changes} changes=${changes} />
  </li>`;
};

/** What an event made of the item: before and after, or of long texts the lines. */
const Changes = ({ changes }: { readonly changes: readonly FieldChange[] }) =>
  changes.length === 0
    ? null
    : html`<dl class="changes">${changes.filter(isTold).map(
        ({ field, diff, truncated, ...change }) => html`<div>
          <dt>${field}</dt>
          <dd>${diff === undefined ? html`<${FromTo} ...${change} />` : html`<${Lines} diff=${diff} />`}${truncated && html`<span class="soft"> and more</span>`}</dd>
        </div>`,
      )}</dl>`;

const FromTo = ({ from, to }: Pick<FieldChange, 'from' | 'to'>) => {
  const became = isThere(to) ? html`<ins><span class="unseen">became </span>${shown(to)}</ins>` : html`<span class="soft">nothing</span>`;
  return isThere(from) ? html`<del><span class="unseen">was </span>${shown(from)}</del> ${became}` : became;
};

const isThere = (value: unknown): boolean => textOf(value) !== '';

/** Where there was nothing and is nothing, nobody has to hear of it. */
const isTold = ({ diff, from, to }: FieldChange): boolean => diff !== undefined || isThere(from) || isThere(to);

/** As `diff -u` shows them. */
const Lines = ({ diff }: { readonly diff: string }) =>
  html`<pre class="diff" tabindex="0">${diff.split('\n').map((line) => html`<span class=${toneOf(line)}>${line}${'\n'}</span>`)}</pre>`;

export const toneOf = (line: string): string => {
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'place' : '';
};

/** Which item somebody wants to look at: as events name it. */
export const Items = () => {
  const [isWrong, setWrong] = useState(false);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get('item')).trim();
    const path = pathOfSubject(name);
    setWrong(path === undefined);
    if (path !== undefined) go(path);
  };
  return html`
    <${Heading} title="Items" />
    <p>The whole history of one item: who changed what, and what it was at any time. Items that you see in the <a href="/console/feed">feed</a> lead there too.</p>
    <form class="filters" onSubmit=${onSubmit}>
      <label>Item <input name="item" type="text" required placeholder=${exampleOf(kinds()[1])} spellcheck="false" autocapitalize="off" aria-describedby="item-hint" aria-invalid=${isWrong} /></label>
      <button class="primary">Show its history</button>
    </form>
    <p id="item-hint" class=${isWrong ? 'wrong' : 'soft'} role=${isWrong ? 'alert' : null}>By its kind and its number: ${kinds().map((kind, index) => html`${index > 0 && ', '}<code>${exampleOf(kind)}</code>`)}.</p>`;
};

const LONG = 400;

/** What an item was, field by field; links are for programs. */
const Fields = ({ item }: { readonly item: Readonly<Record<string, unknown>> | undefined }) =>
  item === undefined
    ? html`<p class="waiting">Just a moment …</p>`
    : html`<dl class="facts">${Object.entries(item)
        .filter(([name]) => name !== '_links')
        .map(([name, value]) => html`<div><dt>${name}</dt><dd>${shown(value)}</dd></div>`)}</dl>`;

const MOMENT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

const shown = (value: unknown): unknown => {
  if (typeof value === 'string' && MOMENT.test(value)) return html`<${Time} at=${value} />`;
  const text = textOf(value);
  if (text === '') return html`<span class="soft">–</span>`;
  return text.length > LONG || text.includes('\n') ? html`<pre class="text" tabindex="0">${text}</pre>` : text;
};

/** A value of JSON as people read it. */
export const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${textOf(part)}`)
    .join(', ');
};
