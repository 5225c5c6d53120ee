import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { go } from './router.ts';

/** An action of the page, by a key or through the palette. Help lists the same actions. */
export type Action = {
  readonly says: string;
  /** One key (`/`, `Control+k`), or one after another (`g o`). */
  readonly keys?: string | undefined;
  /** The address it opens, or the function it calls. */
  readonly to: string | (() => void);
  /** Not in the palette, because it depends on where the focus is. */
  readonly isKeyOnly?: boolean | undefined;
};

const registered = new Set<{ readonly current: readonly Action[] }>();

/** The actions of the page as it is now. */
export const actionsHere = (): readonly Action[] => [...registered].flatMap(({ current }) => current);

export const act = ({ to }: Action): void => {
  if (typeof to === 'string') go(to);
  else to();
};

/** Registers actions while the component is mounted. */
export const useActions = (actions: readonly Action[]): void => {
  const latest = useRef(actions);
  latest.current = actions;
  // As soon as the page shows them.
  useLayoutEffect(() => {
    registered.add(latest);
    return () => void registered.delete(latest);
  }, []);
};

const SEQUENCE_MS = 1_500;

/**
 * Handles the keys of all actions. Letters typed into a field stay letters, and an open dialogue has keys of
 * its own.
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

/** A letter for each name: its first, if no name before it has the same; else another one that is free. */
export const lettersOf = (names: readonly string[]): readonly (string | undefined)[] => {
  const taken = new Set<string>();
  const take = (letters: string): string | undefined => {
    const free = [...letters.toLowerCase()].find((each) => /^[a-z]$/.test(each) && !taken.has(each));
    if (free !== undefined) taken.add(free);
    return free;
  };
  const firsts = names.map((name) => take(name.slice(0, 1)));
  return names.map((name, index) => firsts[index] ?? take(name));
};
