import { useEffect, useState } from 'preact/hooks';
import { useMe } from './domain.ts';

/**
 * The input of forms that was not sent yet, by user and address of the form. It may hold personal data: it ends
 * with the sign-in, with the tab, and when another user signs in.
 */
const PREFIX = 'annals.console.draft:';
const ofOwner = (owner: string): string => `${PREFIX}${owner}:`;

const keys = (): readonly string[] => {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
  } catch {
    // A browser that keeps nothing has no drafts.
    return [];
  }
};

const read = <Content>(key: string): Content | undefined => {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Content | null) ?? undefined;
  } catch {
    return undefined;
  }
};

const write = (key: string, content: unknown): void => {
  try {
    if (content === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(content));
  } catch {
    // Too large, or kept by no browser: the page has it as long as it is open.
  }
};

/** The open forms with input that was not sent. */
const unsent = new Set<string>();
export const hasUnsent = (): boolean => unsent.size > 0;

/** All of them, at the end of a sign-in, or those of other users. */
export const dropDrafts = (exceptOf?: string): void => {
  if (exceptOf === undefined) unsent.clear();
  for (const key of keys())
    if (exceptOf === undefined || !key.startsWith(ofOwner(exceptOf))) sessionStorage.removeItem(key);
};

/** Asks before the page is closed or left for another one. */
const askBefore = (event: BeforeUnloadEvent): void => {
  if (hasUnsent()) event.preventDefault();
};

export type Draft<Content> = {
  readonly content: Content;
  readonly set: (content: Content) => void;
  /** Whether it is from an earlier visit of this form. */
  readonly isRestored: boolean;
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
  const [key] = useState(() => ofOwner(owner) + location.pathname);
  const [kept] = useState(() => read<Content>(key));
  const [content, setContent] = useState<Content>(() => kept ?? initial());
  const [isRestored, setRestored] = useState(kept !== undefined);
  useEffect(() => {
    if (isChanged(content)) unsent.add(key);
    else unsent.delete(key);
    addEventListener('beforeunload', askBefore);
    return () => {
      unsent.delete(key);
      removeEventListener('beforeunload', askBefore);
    };
  }, [key, content]);
  const set = (next: Content) => {
    // At once, because the user may leave before the next drawing.
    write(key, isChanged(next) ? next : undefined);
    setContent(next);
  };
  const end = () => {
    unsent.delete(key);
    write(key, undefined);
  };
  return {
    content,
    set,
    isRestored,
    end,
    startAgain: () => {
      end();
      setRestored(false);
      setContent(initial());
    },
  };
};
