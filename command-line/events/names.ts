import type { Domain } from '#kernel/registry/registry.ts';
import { labelField } from '#kernel/rest/label-field.ts';
import { cellOf } from '../output/columns.ts';
import type { Remote } from '../remote/remote.ts';

/** The name of an item by its subject, as far as the caller may read it: `article-8001` is “On engines”. */
export type Names = (subject: string) => Promise<string | undefined>;

/** Each name is a request: beyond these, a run shows numbers alone. */
const NAMES_MAX = 500;
const AT_ONCE_MAX = 4;

export const createNames = (remote: Pick<Remote, 'get'>, domain: Domain): Names => {
  const known = new Map<string, Promise<string | undefined>>();
  const ask = async (subject: string): Promise<string | undefined> => {
    const [, of = '', id] = /^(\w+)-(\d+)$/.exec(subject) ?? [];
    const kind = Object.hasOwn(domain.kinds, of) ? domain.kinds[of] : undefined;
    const label = kind && labelField(kind);
    // To ask for the name would be recorded as a read of the whole item.
    if (kind === undefined || label === undefined || kind.reads !== undefined) return undefined;
    // A name that cannot be read must not stop the events.
    const item = await remote
      .get<Readonly<Record<string, unknown>>>(`/${kind.path}/${id}`)
      .catch(() => undefined);
    const name = item?.[label];
    return typeof name === 'string' && name.trim() !== ''
      ? cellOf(name.trim().split('\n')[0] ?? '')
      : undefined;
  };
  return (subject) => {
    const name = known.get(subject) ?? (known.size < NAMES_MAX ? ask(subject) : Promise.resolve(undefined));
    if (known.size < NAMES_MAX) known.set(subject, name);
    return name;
  };
};

const USER = 'user:';
export const subjectOfActor = (actor: string | null): string | undefined =>
  actor?.startsWith(USER) ? `user-${actor.slice(USER.length)}` : undefined;

type Named = { readonly subject: string; readonly actor: string | null };

/** Asks for the names of some events before they are printed, a few at a time. */
export const askForNames = async (events: readonly Named[], names: Names): Promise<void> => {
  const subjects = [
    ...new Set(events.flatMap(({ subject, actor }) => [subject, subjectOfActor(actor) ?? []].flat())),
  ];
  for (let at = 0; at < subjects.length; at += AT_ONCE_MAX)
    await Promise.all(subjects.slice(at, at + AT_ONCE_MAX).map(names));
};
