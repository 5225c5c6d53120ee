import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { HistoryEntry } from '#kernel/base/rest/history.ts';
import type { CommandFacts, KindFacts } from '../../domain-facts.ts';
import type { Api } from '../base/api.ts';
import { useApi, useAsked } from '../base/asking.ts';
import { useFormKeys } from '../base/form-key.ts';
import { html } from '../base/html.ts';
import { Heading, Whole } from '../base/parts.ts';
import { ApiProblem } from '../base/problem.ts';
import { go, type Route } from '../base/router.ts';
import { useChanges } from '../feed/live.ts';
import { kindAt, pageOf, pageOfItem, titleOf, useDomain } from './domain.ts';
import { useDraft } from './drafts.ts';
import { Form } from './form.ts';
import {
  bodyOf,
  changesOf,
  fieldsToFill,
  mergeChanges,
  overwrites,
  type Raw,
  rawOfAll,
  reasonIn,
} from './form-values.ts';
import type { Item, Link, Links } from './links.ts';
import { type Meanwhile, Notice, Theirs } from './meanwhile.ts';
import { NotThere } from './not-there.ts';

type Of = { readonly route: Route };

/** A command to an item that has a form. */
export const DataCommand = ({ route: { parameters } }: Of) => {
  const kind = kindAt(useDomain(), parameters.kind);
  const command = kind?.commands.find(({ name, list }) => name === parameters.command && list === undefined);
  if (kind === undefined || command === undefined) return html`<${NotThere} />`;
  return html`<${OnItem} kind=${kind} id=${parameters.id ?? ''} command=${command} path=${`/${kind.path}/${encodeURIComponent(parameters.id ?? '')}`} title=${command.title} />`;
};

/** A change of an item of a list, or another command to it that has a form. */
export const DataListed = ({ route: { parameters } }: Of) => {
  const kind = kindAt(useDomain(), parameters.kind);
  const list = kind?.lists.find(({ path }) => path === parameters.list);
  const command = kind?.commands.find(
    ({ does, name, list: of }) =>
      of === list?.name &&
      (parameters.command === undefined ? does === 'changeItem' : name === parameters.command),
  );
  if (kind === undefined || list === undefined || command === undefined) return html`<${NotThere} />`;
  const [id, item] = [parameters.id ?? '', parameters.item ?? ''].map(encodeURIComponent) as [string, string];
  return html`<${OnItem} kind=${kind} id=${parameters.id ?? ''} command=${command} path=${`/${kind.path}/${id}/${list.path}/${item}`} title=${command.verb === undefined ? `Edit ${list.one}` : command.title} />`;
};

type OnItemOptions = {
  readonly kind: KindFacts;
  readonly id: string;
  readonly command: CommandFacts;
  readonly path: string;
  readonly title: string;
};

const OnItem = ({ kind, id, command, path, title }: OnItemOptions) => {
  const asked = useAsked<Item>(path);
  const above = pageOfItem(kind, id);
  const show = (item: Item) => {
    const link = (item._links as Links)[command.rel];
    if (link?.method === undefined)
      return html`<div class="empty"><p>You cannot do this now. <a href=${above}>Open the ${kind.title.toLowerCase()}.</a></p></div>`;
    return html`<${Change} kind=${kind} id=${id} command=${command} path=${path} item=${item} etag=${asked.etag} link=${link} back=${above} />`;
  };
  return html`<p class="back"><a href=${above}><bdi>${asked.body && command.list === undefined ? titleOf(kind, asked.body) : kind.title}</bdi></a></p>
    <${Heading} title=${title} />
    ${command.says && html`<p class="soft">${command.says}.</p>`}
    <${Whole} asked=${asked} show=${show} />`;
};

type ChangeOptions = Pick<OnItemOptions, 'kind' | 'id' | 'command' | 'path'> & {
  readonly item: Item;
  readonly etag: string | undefined;
  readonly link: Link;
  readonly back: string;
};

/** The input, and the state of the item that it is compared with. */
type Edited = { readonly raw: Raw; readonly base: { readonly raw: Raw; readonly etag: string | undefined } };

const versionOf = (etag: string | undefined): number => Number(/^(?:W\/)?"(\d+)-/.exec(etag ?? '')?.[1] ?? 0);

/** The form compares with its initial values, until somebody else changes the item. */
const Change = ({ kind, id, command, path, item, etag, link, back }: ChangeOptions) => {
  const api = useApi();
  const sendOnce = useFormKeys();
  const fields = fieldsToFill(command.form);
  const isEdit = command.does === 'edit' || command.does === 'changeItem';
  const rawOfItem = (of: Item | undefined) => rawOfAll(fields, isEdit ? of : undefined);
  const draft = useDraft<Edited>({
    initial: () => ({ raw: rawOfItem(item), base: { raw: rawOfItem(item), etag } }),
    isChanged: (edited) => fields.some(({ wire }) => edited.raw[wire] !== edited.base.raw[wire]),
  });
  const { raw, base } = draft.content;
  const setRaw = (next: Raw) => draft.set({ raw: next, base });
  // Input typed while the changes of others are loading must not be lost.
  const typed = useRef(raw);
  typed.current = raw;
  const [meanwhile, setMeanwhile] = useState<Meanwhile>();
  const [isSaving, setSaving] = useState(false);
  /** Returns whether somebody has changed the item. */
  const look = async (): Promise<boolean> => {
    const now = await api.get<Item>(path);
    if (versionOf(now.etag) <= versionOf(base.etag)) return false;
    const entries = await entriesSince(api, `/${kind.path}/${encodeURIComponent(id)}`, versionOf(base.etag));
    const theirs = rawOfItem(now.body);
    const merged = mergeChanges(
      fields,
      { before: base.raw, mine: typed.current, theirs },
      meanwhile?.conflicts,
    );
    draft.set({ raw: merged.raw, base: { raw: theirs, etag: now.etag } });
    setMeanwhile((before) => ({
      theirs,
      entries: [...entries, ...(before?.entries ?? [])],
      conflicts: merged.conflicts,
    }));
    return true;
  };
  useChanges(
    `subject=${kind.name}-${encodeURIComponent(id)}`,
    () => isSaving || void look().catch(() => undefined),
  );
  // Others may have changed the item since the draft began.
  useEffect(() => {
    if (draft.isRestored) void look().catch(() => undefined);
  }, [draft.isRestored]);
  const send = async () => {
    const body = isEdit ? changesOf(fields, base.raw, raw) : bodyOf(fields, raw);
    if (isEdit && Object.keys(body).length === 0) return go(back);
    setSaving(true);
    try {
      // The tag of an item that is not wholly readable has no version, and matches none.
      const ifMatch = versionOf(base.etag) > 0 ? base.etag : undefined;
      const sent = { body, ifMatch, reason: reasonIn(fields, raw) };
      await sendOnce(sent, (key) => api.send(link.method ?? 'POST', link.href, { ...sent, key }));
      draft.end();
      go(command.does === 'end' ? pageOf(kind) : back);
    } catch (error) {
      if (!(error instanceof ApiProblem && error.facts.status === 412) || !(await look())) throw error;
    } finally {
      setSaving(false);
    }
  };
  const remarks = Object.fromEntries(
    (meanwhile?.conflicts ?? []).map((wire) => [
      wire,
      html`<${Theirs} value=${meanwhile?.theirs[wire]} take=${(value: string | boolean) => take(wire, value)} />`,
    ]),
  ) as Readonly<Record<string, VNode>>;
  const take = (wire: string, value: string | boolean) => {
    setRaw({ ...raw, [wire]: value });
    setMeanwhile(
      (before) => before && { ...before, conflicts: before.conflicts.filter((each) => each !== wire) },
    );
  };
  return html`<${Form}
    fields=${fields} raw=${raw} setRaw=${setRaw} draft=${draft} send=${send} back=${back} remarks=${remarks}
    doing=${isEdit ? (meanwhile && overwrites(meanwhile.conflicts, raw, meanwhile.theirs) ? 'Overwrite' : 'Save') : command.title}
  >${meanwhile && html`<${Notice} kind=${kind} meanwhile=${meanwhile} hasInput=${fields.some(({ wire }) => raw[wire] !== base.raw[wire])} />`}<//>`;
};

const ENTRIES_MAX = 20;

const entriesSince = async (api: Api, path: string, version: number): Promise<readonly HistoryEntry[]> => {
  // Users who may not read the history still get the changed fields.
  const entries = await api
    .get<readonly HistoryEntry[]>(`${path}/history?limit=${ENTRIES_MAX}`)
    .catch(() => undefined);
  return entries?.body.filter((entry) => entry.version > version) ?? [];
};
