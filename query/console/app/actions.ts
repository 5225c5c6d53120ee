import { useEffect, useRef } from 'preact/hooks';
import { go } from './router.ts';

/** Something that people can do here: by a key, or out of the palette. Help lists the same. */
export type Action = {
  readonly says: string;
  /** One key (`/`, `Control+k`), or one after another (`g o`). */
  readonly keys?: string | undefined;
  /** Where it leads, or what it does. */
  readonly to: string | (() => void);
  /** Only by its key: it depends on where the focus is. */
  readonly isKeyOnly?: boolean | undefined;
};

const registered = new Set<{ readonly current: readonly Action[] }>();

/** What can be done in the page as it is. */
export const actionsHere = (): readonly Action[] => [...registered].flatMap(({ current }) => current);

export const act = ({ to }: Action): void => {
  if (typeof to === 'string') go(to);
  else to();
};

/** What can be done as long as this part of the page is there. */
export const useActions = (actions: readonly Action[]): void => {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    registered.add(latest);
    return () => void registered.delete(latest);
  }, []);
};

const SEQUENCE_MS = 1_500;

/**
 * The keys of all actions. While somebody writes, letters are letters; an open dialogue has keys of its own.
 */
export const useKeyboard = (): void => {
  useEffect(() => {
    let [before, pressedAtMs] = ['', 0];
    const press = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey;
      if (event.key === 'Shift' || event.altKey || (isWriting(event) && !isCommand)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const key = isCommand ? `Control+${event.key}` : event.key;
      const typed = before !== '' && event.timeStamp - pressedAtMs < SEQUENCE_MS ? `${before} ${key}` : key;
      const actions = actionsHere();
      const found = actions.findLast(({ keys }) => keys === typed);
      before = actions.some(({ keys }) => keys?.startsWith(`${typed} `)) ? typed : '';
      pressedAtMs = event.timeStamp;
      if (found === undefined) return;
      event.preventDefault();
      act(found);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
};

const isWriting = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** A letter for each name: its first, or the next one that is free. */
export const lettersOf = (names: readonly string[]): readonly (string | undefined)[] => {
  const taken = new Set<string>();
  return names.map((name) => {
    const letter = [...name.toLowerCase()].find((each) => /^[a-z]$/.test(each) && !taken.has(each));
    if (letter !== undefined) taken.add(letter);
    return letter;
  });
};
