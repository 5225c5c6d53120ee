/**
 * The input of forms that was not sent yet, in this browser. The tab has it for a step back or a reload; a copy
 * outlives a crash, and a later tab offers it to the same user. It may hold personal data: both end when it is
 * sent, at sign-out, and when another user signs in; older copies than a day end when the console is opened.
 */
const PREFIX = 'annals.console.draft:';
const KEPT_MAX_MS = 24 * 60 * 60 * 1_000;

/** The user and the address of a form. */
export type FormPlace = { readonly owner: string; readonly path: string };

/** The id distinguishes input that was begun in different tabs. */
export type Kept<Content> = { readonly id: string; readonly content: Content };

type Copy<Content> = { readonly path: string; readonly atMs: number; readonly content: Content };

export type Left<Content> = Kept<Content> & { readonly atMs: number };

const ofOwner = (owner: string): string => `${PREFIX}${owner}:`;
const keyOfTab = ({ owner, path }: FormPlace): string => ofOwner(owner) + path;
const keyOfCopy = ({ owner }: FormPlace, id: string): string => ofOwner(owner) + id;

/** Undefined if the browser keeps nothing. */
const storageOf = (name: 'sessionStorage' | 'localStorage'): Storage | undefined => {
  try {
    return globalThis[name];
  } catch {
    return undefined;
  }
};
const tab = (): Storage | undefined => storageOf('sessionStorage');
const copies = (): Storage | undefined => storageOf('localStorage');

const keysIn = (storage: Storage | undefined): readonly string[] =>
  storage === undefined ? [] : Object.keys(storage).filter((key) => key.startsWith(PREFIX));

const read = <Value>(storage: Storage | undefined, key: string): Value | undefined => {
  try {
    return (JSON.parse(storage?.getItem(key) ?? 'null') as Value | null) ?? undefined;
  } catch {
    return undefined;
  }
};

const write = (storage: Storage | undefined, key: string, value: unknown): void => {
  try {
    storage?.setItem(key, JSON.stringify(value));
  } catch {
    // It is too large: an older text must not pass for it. The page has it while it is open.
    storage?.removeItem(key);
  }
};

export const keptInTab = <Content>(place: FormPlace): Kept<Content> | undefined => {
  const kept = read<Kept<Content>>(tab(), keyOfTab(place));
  if (kept !== undefined) hold(kept.id);
  return kept;
};

export const keep = <Content>(place: FormPlace, { id, content }: Kept<Content>): void => {
  write(tab(), keyOfTab(place), { id, content });
  write(copies(), keyOfCopy(place, id), { path: place.path, atMs: Date.now(), content });
  hold(id);
};

export const forget = (place: FormPlace, id: string): void => {
  tab()?.removeItem(keyOfTab(place));
  discard(place, id);
};

/** Forgets input that another tab left behind. */
export const discard = (place: FormPlace, id: string): void => {
  copies()?.removeItem(keyOfCopy(place, id));
  held.get(id)?.();
  held.delete(id);
};

/** All of it, or that of other users. */
export const forgetAll = (exceptOf?: string): void => {
  const isOver = (key: string): boolean => exceptOf === undefined || !key.startsWith(ofOwner(exceptOf));
  for (const storage of [tab(), copies()])
    for (const key of keysIn(storage).filter(isOver)) storage?.removeItem(key);
  forgetOld();
};

const forgetOld = (): void => {
  for (const key of keysIn(copies())) {
    const { atMs = 0 } = read<Partial<Copy<unknown>>>(copies(), key) ?? {};
    // A clock that was set back must not keep it for longer.
    if (Math.abs(Date.now() - atMs) > KEPT_MAX_MS) copies()?.removeItem(key);
  }
};

/** A tab holds a lock for its input, which the browser releases with the tab, even if that crashes. */
const held = new Map<string, () => void>();
const lockOf = (id: string): string => PREFIX + id;

const hold = (id: string): void => {
  if (held.has(id)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  held.set(id, resolve);
  // Shared, because a tab can be duplicated.
  globalThis.navigator?.locks?.request(lockOf(id), { mode: 'shared' }, () => promise).catch(() => undefined);
};

/** Input for this form from tabs that are gone, the latest first. */
export const leftBehind = async <Content>(place: FormPlace): Promise<readonly Left<Content>[]> => {
  forgetOld();
  const { held: locks = [] } = (await globalThis.navigator?.locks?.query()) ?? {};
  const isOpen = (id: string): boolean => locks.some(({ name }) => name === lockOf(id));
  const prefix = ofOwner(place.owner);
  return keysIn(copies())
    .filter((key) => key.startsWith(prefix))
    .flatMap((key) => {
      const id = key.slice(prefix.length);
      const copy = read<Copy<Content>>(copies(), key);
      if (copy === undefined || copy.path !== place.path || isOpen(id)) return [];
      return [{ id, atMs: copy.atMs, content: copy.content }];
    })
    .toSorted((one, other) => other.atMs - one.atMs);
};
