import { useRef, useState } from 'preact/hooks';
import { html } from '../base/html.ts';

type TagsOptions = {
  /** One word per line. */
  readonly value: string;
  readonly change: (value: string) => void;
  readonly attributes: Readonly<Record<string, unknown>>;
};

export const wordsOf = (value: string): readonly string[] =>
  value.split('\n').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]));

/** The words with others behind them, each once. */
export const withWords = (words: readonly string[], more: readonly string[]): readonly string[] => [
  ...new Set([...words, ...more]),
];

/**
 * A set of words as chips. A word that is still being typed belongs to the value already; it becomes no chip when the
 * user leaves the field, because the button that they are about to press would move.
 */
export const Tags = ({ value, change, attributes }: TagsOptions) => {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const [said, setSaid] = useState('');
  const words = wordsOf(value);
  // The value may have been replaced from outside, as by changes of others.
  const pending = typed.trim() !== '' && words.at(-1) === typed.trim() ? typed : '';
  const chips = pending === '' ? words : words.slice(0, -1);
  const put = (all: readonly string[], next = '') => {
    setTyped(next);
    const trimmed = next.trim();
    change([...all, ...(trimmed === '' ? [] : [trimmed])].join('\n'));
  };
  const add = (text: string) => {
    const more = wordsOf(text);
    if (more.length > 0) setSaid(`${more.join(', ')} added.`);
    put(withWords(chips, more));
  };
  const remove = (word: string) => {
    setSaid(`${word} removed.`);
    put(
      chips.filter((each) => each !== word),
      pending,
    );
    input.current?.focus();
  };
  const press = (event: KeyboardEvent) => {
    const last = chips.at(-1);
    if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey && pending !== '') add(pending);
    else if (event.key === 'Backspace' && pending === '' && last !== undefined) remove(last);
    else return;
    event.preventDefault();
  };
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (!/[\r\n]/.test(text.trim())) return;
    event.preventDefault();
    add(`${pending}\n${text.replaceAll('\r', '\n')}`);
  };
  return html`<div class="chips">
    ${chips.length > 0 && html`<ul>${chips.map((word) => html`<li key=${word} class="tag"><bdi>${word}</bdi><button type="button" class="quiet" aria-label=${`Remove ${word}`} onClick=${() => remove(word)}>×</button></li>`)}</ul>`}
    <input ref=${input} type="text" dir="auto" autocomplete="off" autocapitalize="off" spellcheck="false" ...${attributes} value=${pending}
      onInput=${(event: Event) => put(chips, (event.currentTarget as HTMLInputElement).value)} onKeyDown=${press} onPaste=${paste} />
    <span class="unseen" role="status">${said}</span>
  </div>`;
};
