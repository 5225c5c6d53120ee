import type { VNode } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { html } from './html.ts';

type ComboboxOptions<Choice> = {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly choices: readonly Choice[];
  readonly choose: (choice: Choice) => void;
  readonly show: (choice: Choice) => VNode | string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isOpen?: boolean;
  /** True if more may be found for the text: Enter then waits for the first choice. */
  readonly isSearching?: boolean;
};

/** A text field with suggestions: the arrow keys move through them, and Enter takes one. */
export const Combobox = <Choice>({
  text,
  setText,
  choices,
  choose,
  show,
  attributes,
  isOpen = true,
  isSearching = false,
}: ComboboxOptions<Choice>) => {
  const [at, setAt] = useState(0);
  const [isEntered, setEntered] = useState(false);
  const list = useId();
  const chosen = Math.min(at, choices.length - 1);
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const choice = choices[chosen];
    if (!isOpen) return;
    if (choice === undefined) {
      if (!isSearching || event.key !== 'Enter') return;
      setEntered(true);
    } else if (step !== undefined) setAt((chosen + step + choices.length) % choices.length);
    else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) choose(choice);
    else return;
    event.preventDefault();
  };
  const write = (event: Event) => {
    setText((event.currentTarget as HTMLInputElement).value);
    setAt(0);
    setEntered(false);
  };
  const first = choices[0];
  useEffect(() => {
    if (!isEntered || (first === undefined && isSearching)) return;
    setEntered(false);
    if (isOpen && first !== undefined) choose(first);
  }, [isEntered, isSearching, first]);
  useEffect(
    () => document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: 'nearest' }),
    [list, chosen],
  );
  return html`<input type="text" role="combobox" aria-expanded=${isOpen} aria-controls=${list} aria-autocomplete="list"
      aria-activedescendant=${isOpen && chosen >= 0 ? `${list}-${chosen}` : null} autocomplete="off" spellcheck="false" dir="auto"
      ...${attributes} value=${text} onInput=${write} onKeyDown=${press} />
    <ul id=${list} class="found" role="listbox" aria-label="Found" hidden=${!isOpen || choices.length === 0}>${choices.map(
      // Pressing must not take the focus from the field, which would close the list.
      (choice, index) =>
        html`<li id=${`${list}-${index}`} role="option" aria-selected=${index === chosen} onMouseDown=${(event: Event) => event.preventDefault()} onClick=${() => choose(choice)}>${show(choice)}</li>`,
    )}</ul>`;
};
