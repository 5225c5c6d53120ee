import { useEffect, useState } from 'preact/hooks';
import type { FieldFacts, KindFacts } from '../../domain-facts.ts';
import type { Api } from '../api.ts';
import { useApi } from '../asking.ts';
import { html } from '../html.ts';
import { kindNamed, type Links, pageOfItem, titleOf, useDomain } from './domain.ts';

/** Each name is asked for once, for as long as the page lasts. */
const known = new WeakMap<Api, Map<string, Promise<string | undefined>>>();

const nameOf = (api: Api, kind: KindFacts, id: number): Promise<string | undefined> => {
  const names = known.get(api) ?? new Map<string, Promise<string | undefined>>();
  known.set(api, names);
  const path = `/${kind.path}/${id}`;
  const asked =
    names.get(path) ??
    api.get<Readonly<Record<string, unknown>>>(path).then(
      ({ body }) => titleOf(kind, body),
      () => undefined,
    );
  names.set(path, asked);
  return asked;
};

/** What an item is called of which only the number is known; nothing as long as it is not known. */
export const useName = (kind: KindFacts | undefined, id: number | undefined): string | undefined => {
  const api = useApi();
  const [name, setName] = useState<string>();
  useEffect(() => {
    setName(undefined);
    if (kind === undefined || id === undefined) return;
    let isHere = true;
    void nameOf(api, kind, id).then((found) => isHere && setName(found));
    return () => {
      isHere = false;
    };
  }, [api, kind, id]);
  return name;
};

type NamedOptions = { readonly of: string; readonly id: number; readonly plain?: boolean };

/** An item by its name, which leads to it. */
export const Named = ({ of, id, plain = false }: NamedOptions) => {
  const kind = kindNamed(useDomain(), of);
  const name = useName(kind, id) ?? `${kind?.title ?? of} ${id}`;
  return kind === undefined || plain ? html`<bdi>${name}</bdi>` : html`<a href=${pageOfItem(kind, id)}><bdi>${name}</bdi></a>`;
};

type ReferenceOptions = { readonly field: FieldFacts; readonly value: unknown; readonly links: Links };

/** What a field refers to: with the name that was sent along, else with the one that is asked for. */
export const Reference = ({ field: { of = '', label, rel = '' }, value, links }: ReferenceOptions) => {
  const kind = kindNamed(useDomain(), of);
  if (label === undefined || typeof value !== 'object' || value === null) return html`<${Named} of=${of} id=${Number(value)} />`;
  const { id, [label]: name } = value as Readonly<Record<string, unknown>>;
  const text = html`<bdi>${String(name ?? `${kind?.title ?? of} ${String(id)}`)}</bdi>`;
  return kind === undefined || links[rel] === undefined ? text : html`<a href=${pageOfItem(kind, id)}>${text}</a>`;
};

/** Who did something, by name: `user:7001` is a user, and whatever else it may be a part of the system. */
export const Doer = ({ actor }: { readonly actor: string | null }) => {
  if (actor === null) return html`<span class="soft">somebody unknown</span>`;
  const [of = '', id] = actor.split(':');
  return of === 'user' ? html`<${Named} of=${of} id=${Number(id)} />` : html`<span>${(id ?? of).replaceAll('-', ' ')}</span>`;
};
