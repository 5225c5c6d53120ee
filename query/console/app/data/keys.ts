import { useEffect, useRef } from 'preact/hooks';
import { go } from '../router.ts';

/** A key does something, or leads to an address. */
type Keys = Readonly<Record<string, string | (() => void)>>;

/** Where somebody writes, letters are letters. */
const isWriting = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Single keys, as long as nobody writes and no dialogue is open. */
export const useKeys = (keys: Keys | undefined): void => {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = latest.current?.[event.key];
      if (act === undefined || isWriting(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      if (typeof act === 'string') go(act);
      else act();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
};
