import { useEffect, useState } from 'preact/hooks';
import { useMe } from './domain.ts';
import { discard, forget, forgetAll, keep, keptInTab, type Left, leftBehind } from './kept-drafts.ts';

/** The open forms with input that was not sent. */
const unsent = new Set<string>();
export const hasUnsent = (): boolean => unsent.size > 0;

/** All of them, at the end of a sign-in, or those of other users. */
export const dropDrafts = (exceptOf?: string): void => {
  if (exceptOf === undefined) unsent.clear();
  forgetAll(exceptOf);
};

/** Asks before the page is closed or left for another one. */
const askBefore = (event: BeforeUnloadEvent): void => {
  if (hasUnsent()) event.preventDefault();
};

/** Input that a tab left behind, because it crashed or was closed. */
type Offered = { readonly at: string; readonly take: () => void; readonly discard: () => void };

export type Draft<Content> = {
  readonly content: Content;
  readonly set: (content: Content) => void;
  /** Whether it is from an earlier visit of this form. */
  readonly isRestored: boolean;
  /** Nothing of it is applied before the user takes it. */
  readonly offered: Offered | undefined;
  /** Once it was sent, or is not wanted. */
  readonly end: () => void;
  /** Begins with the initial content again. */
  readonly startAgain: () => void;
};

type DraftOptions<Content> = {
  readonly initial: () => Content;
  readonly isChanged: (content: Content) => boolean;
};

/** The content of the form at this address, which is kept while the user goes to other pages and back. */
export const useDraft = <Content>({ initial, isChanged }: DraftOptions<Content>): Draft<Content> => {
  const owner = String(useMe()?.id);
  const [place] = useState(() => ({ owner, path: location.pathname }));
  const [kept] = useState(() => usable(keptInTab<Content>(place), isChanged));
  const [id, setId] = useState(() => kept?.id ?? crypto.randomUUID());
  const [content, setContent] = useState<Content>(() => kept?.content ?? initial());
  const [isRestored, setRestored] = useState(kept !== undefined);
  const [left, setLeft] = useState<readonly Left<Content>[]>([]);
  useEffect(() => {
    if (kept !== undefined) return;
    let isHere = true;
    leftBehind<Content>(place).then(
      (all) => isHere && setLeft(all.filter((each) => usable(each, isChanged) !== undefined)),
      () => undefined,
    );
    return () => {
      isHere = false;
    };
  }, [place, kept]);
  useEffect(() => {
    if (isChanged(content)) unsent.add(id);
    else unsent.delete(id);
    addEventListener('beforeunload', askBefore);
    return () => {
      unsent.delete(id);
      removeEventListener('beforeunload', askBefore);
    };
  }, [id, content]);
  const put = (next: Content, as: string) => {
    // At once, because the user may leave before the next drawing.
    if (isChanged(next)) keep(place, { id: as, content: next });
    else forget(place, as);
    setContent(next);
  };
  const end = () => {
    unsent.delete(id);
    forget(place, id);
  };
  return {
    content,
    set: (next) => put(next, id),
    isRestored,
    // Not over input that the user has begun since.
    offered: offerOf(isChanged(content) ? undefined : left[0], {
      take: (taken) => {
        setId(taken.id);
        put(taken.content, taken.id);
        if (taken.id !== id) discard(place, id);
        setRestored(true);
        setLeft([]);
      },
      discard: (unwanted) => {
        discard(place, unwanted.id);
        setLeft(left.slice(1));
      },
    }),
    end,
    startAgain: () => {
      end();
      setRestored(false);
      setContent(initial());
    },
  };
};

/** Input of a former release may lack what this form needs; input without a change is nothing to restore. */
const usable = <Content, Of extends { readonly content: Content }>(
  of: Of | undefined,
  isChanged: (content: Content) => boolean,
): Of | undefined => {
  try {
    return of !== undefined && isChanged(of.content) ? of : undefined;
  } catch {
    return undefined;
  }
};

type Answers<Content> = Readonly<Record<'take' | 'discard', (left: Left<Content>) => void>>;

const offerOf = <Content>(
  left: Left<Content> | undefined,
  { take, discard: refuse }: Answers<Content>,
): Offered | undefined =>
  left && {
    at: new Date(left.atMs).toISOString(),
    take: () => take(left),
    discard: () => refuse(left),
  };
