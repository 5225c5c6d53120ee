import { useEffect, useState } from 'preact/hooks';
import type { FieldFacts, KindFacts } from '../../domain-facts.ts';
import type { Api } from '../base/api.ts';
import { useApi } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { kinds } from '../base/kinds.ts';
import { isSchedule, nameOfSystem, pathOfSubject } from '../base/names.ts';
import { kindNamed, pageOfItem, titleOf, useDomain, useMe } from './domain.ts';
import type { Links } from './links.ts';
import { Picture } from './picture.ts';

/** The name of an item, and the address of its picture. */
type Face = { readonly name: string; readonly picture?: string | undefined };

/** Each name is requested once per load of the page. */
const known = new WeakMap<Api, Map<string, Promise<Face | undefined>>>();

/** Names come after the data of a page, for which browsers have six connections. */
const AT_ONCE_MAX = 3;
let under = 0;
const waiting: (() => void)[] = [];

const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  if (under >= AT_ONCE_MAX) await new Promise<void>((go) => waiting.push(go));
  under += 1;
  try {
    return await work();
  } finally {
    under -= 1;
    waiting.shift()?.();
  }
};

type Body = Readonly<Record<string, unknown>>;

const faceOf = (api: Api, kind: NamedKind, id: number): Promise<Face | undefined> => {
  const names = known.get(api) ?? new Map<string, Promise<Face | undefined>>();
  known.set(api, names);
  const path = `/${kind.path}/${id}`;
  const asked =
    names.get(path) ??
    inTurn(() => api.get<Body>(path)).then(
      ({ body }) => kind.faceOf(body),
      () => undefined,
    );
  names.set(path, asked);
  return asked;
};

type NamedKind = {
  readonly path: string;
  readonly title: string;
  /** To ask for a name would be recorded as a read of the whole item. */
  readonly isReadLogged: boolean;
  readonly faceOf: (body: Body) => Face;
};

const declared = new WeakMap<KindFacts, NamedKind>();

const namedKind = (kind: KindFacts): NamedKind => {
  const named = declared.get(kind) ?? {
    ...{ path: kind.path, title: kind.title, isReadLogged: kind.isReadLogged },
    faceOf: (body) => ({ name: titleOf(kind, body), picture: pictureOf(kind, body) }),
  };
  declared.set(kind, named);
  return named;
};

/** Webhooks are not declared: their owner describes them, or they are known by their address. */
const WEBHOOK: NamedKind = {
  ...{ path: 'webhooks', title: 'Webhook', isReadLogged: false },
  faceOf: ({ description, url }) => ({ name: String(description ?? url).replace(/^https?:\/\//, '') }),
};

const SUBJECT = /^(\w+)-(\d+)$/;

/** The kind and number of an item whose name can be asked for. */
const useSubject = (subject: string): readonly [kind: NamedKind | undefined, id: number] => {
  const [, of, id] = SUBJECT.exec(subject) ?? [];
  const kind = kindNamed(useDomain(), of);
  if (kind !== undefined) return [namedKind(kind), Number(id)];
  return [of === 'webhook' && kinds().some(({ name }) => name === of) ? WEBHOOK : undefined, Number(id)];
};

/** The name of the item that events are about: `article-8001` is “On engines”, for those who may read it. */
export const useSubjectName = (subject: string): string => {
  const [kind, id] = useSubject(subject);
  const name = useFace(kind, kind && id)?.name;
  return name ?? (kind === undefined ? subject : `${kind.title} ${id}`);
};

type SubjectOptions = { readonly subject: string; readonly plain?: boolean };

/** The item by its name, as a link to its history. */
export const Subject = ({ subject, plain = false }: SubjectOptions) => {
  const [kind] = useSubject(subject);
  const name = useSubjectName(subject);
  const path = pathOfSubject(subject);
  const text = kind === undefined ? html`<code>${subject}</code>` : html`<bdi>${name}</bdi>`;
  return path === undefined || plain
    ? html`<span title=${subject}>${text}</span>`
    : html`<a href=${path} title=${subject}>${text}</a>`;
};

const pictureOf = ({ fields }: KindFacts, item: Readonly<Record<string, unknown>>): string | undefined => {
  const value = item[fields.find(({ type }) => type === 'upload')?.name ?? ''];
  return typeof value === 'string' ? value : undefined;
};

/** The name of an item by its number; undefined until it is loaded. */
export const useName = (kind: KindFacts | undefined, id: number | undefined): string | undefined =>
  useFace(kind && namedKind(kind), id)?.name;

const useFace = (kind: NamedKind | undefined, id: number | undefined): Face | undefined => {
  const api = useApi();
  const [face, setFace] = useState<Face>();
  useEffect(() => {
    setFace(undefined);
    if (kind === undefined || kind.isReadLogged || id === undefined) return;
    let isHere = true;
    void faceOf(api, kind, id).then((found) => isHere && setFace(found));
    return () => {
      isHere = false;
    };
  }, [api, kind, id]);
  return face;
};

type NamedOptions = {
  readonly of: string;
  readonly id: number;
  readonly plain?: boolean;
  readonly href?: string;
};

/** The name of an item, as a link to it. */
export const Named = ({ of, id, plain = false, href }: NamedOptions) => {
  const kind = kindNamed(useDomain(), of);
  const name = useName(kind, id) ?? `${kind?.title ?? of} ${id}`;
  return kind === undefined || plain
    ? html`<bdi>${name}</bdi>`
    : html`<a href=${href ?? pageOfItem(kind, id)}><bdi>${name}</bdi></a>`;
};

type ReferenceOptions = { readonly field: FieldFacts; readonly value: unknown; readonly links: Links };

/** The target of a reference, by the name in the response or by one that is loaded. */
export const Reference = ({ field: { of = '', label, rel = '' }, value, links }: ReferenceOptions) => {
  const kind = kindNamed(useDomain(), of);
  if (label === undefined || typeof value !== 'object' || value === null)
    return html`<${Named} of=${of} id=${Number(value)} />`;
  const { id, [label]: name } = value as Readonly<Record<string, unknown>>;
  const text = html`<bdi>${String(name ?? `${kind?.title ?? of} ${String(id)}`)}</bdi>`;
  return kind === undefined || links[rel] === undefined
    ? text
    : html`<a href=${pageOfItem(kind, id)}>${text}</a>`;
};

type ActorNameOptions = {
  readonly actor: string | null;
  readonly withFace?: boolean;
  readonly plain?: boolean;
};

/**
 * The name of an actor: `user:7001` is a user, others may be parts of the system. For administrators it links
 * to the user.
 */
export const ActorName = ({ actor, withFace = false, plain = false }: ActorNameOptions) => {
  const isAdmin = useMe()?.role === 'admin';
  const kind = kindNamed(useDomain(), 'user');
  const [of = '', id] = actor?.split(':') ?? [];
  const face = useFace(
    withFace && kind ? namedKind(kind) : undefined,
    of === 'user' ? Number(id) : undefined,
  );
  if (actor === null) return html`<span class="soft">unknown</span>`;
  if (isSchedule(actor)) return html`<span>${nameOfSystem(actor)}</span>`;
  if (of !== 'user') return html`<span>${(id ?? of).replaceAll('-', ' ')}</span>`;
  return html`${withFace && html`<${Portrait} face=${face} />`}<${Named} of=${of} id=${Number(id)} plain=${plain} ...${isAdmin && { href: `/console/users/${id}` }} />`;
};

const LETTERS_MAX = 2;

/** The user’s picture or initials. The name is next to it. */
const Portrait = ({ face }: { readonly face: Face | undefined }) => {
  const letters = (face?.name ?? '').split(/\s+/).map((word) => [...word][0] ?? '');
  return html`<span class="portrait" aria-hidden="true">${
    face?.picture?.startsWith('/uploads/')
      ? html`<${Picture} path=${face.picture} title="" isSmall />`
      : letters.slice(0, LETTERS_MAX).join('')
  }</span>`;
};
