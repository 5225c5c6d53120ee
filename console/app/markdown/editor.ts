import { useId, useRef, useState } from 'preact/hooks';
import { html } from '../base/html.ts';
import { Markdown } from './markdown.ts';
import { applied, type Edit, MARKS, type Mark } from './marks.ts';

type EditorOptions = {
  readonly value: string;
  readonly change: (value: string) => void;
  readonly attributes: Readonly<Record<string, unknown>>;
};

const ROWS_MIN = 8;
const ROWS_MAX = 24;

/** A text area with a toolbar and a preview. */
export const MarkdownEditor = ({ value, change, attributes }: EditorOptions) => {
  const area = useRef<HTMLTextAreaElement>(null);
  const [isPreviewed, setPreviewed] = useState(false);
  const mark = ({ edit }: Mark) => area.current && write(area.current, edit, change);
  const press = (event: KeyboardEvent) => {
    if ((!event.ctrlKey && !event.metaKey) || event.altKey || event.shiftKey) return;
    const pressed = MARKS.find(({ key }) => key === event.key.toLowerCase());
    if (pressed === undefined) return;
    event.preventDefault();
    mark(pressed);
  };
  const rows = Math.min(Math.max(value.split('\n').length + 1, ROWS_MIN), ROWS_MAX);
  return html`<div class="editor">
    <${Toolbar} of=${attributes.id} mark=${mark} isPreviewed=${isPreviewed} preview=${() => setPreviewed(!isPreviewed)} />
    <textarea ref=${area} ...${attributes} dir="auto" rows=${rows} value=${value} onInput=${(event: Event) => change((event.currentTarget as HTMLTextAreaElement).value)} onKeyDown=${press}></textarea>
    ${isPreviewed && html`<section class="preview" aria-label="Preview" tabindex="0"><h2 class="unseen">Preview</h2>${value.trim() === '' ? html`<p class="soft">There is nothing to show yet.</p>` : html`<${Markdown} text=${value} />`}</section>`}
  </div>`;
};

/** As typed, so that the browser can undo it. */
const write = (area: HTMLTextAreaElement, edit: Mark['edit'], change: (value: string) => void): void => {
  const selected = { text: area.value, start: area.selectionStart, end: area.selectionEnd };
  const done: Edit = edit(selected);
  area.focus();
  area.setSelectionRange(done.from, done.to);
  if (!document.execCommand('insertText', false, done.insert)) change(applied(selected, done));
  // After the next drawing, which may move the cursor.
  setTimeout(() => area.setSelectionRange(done.start, done.end));
};

type ToolbarOptions = {
  readonly of: unknown;
  readonly mark: (mark: Mark) => void;
  readonly isPreviewed: boolean;
  readonly preview: () => void;
};

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** One stop of the tab key; the arrow keys move within it. */
const Toolbar = ({ of, mark, isPreviewed, preview }: ToolbarOptions) => {
  const hint = useId();
  const [at, setAt] = useState(0);
  const bar = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const count = MARKS.length + 1;
    const next = (at + step + count) % count;
    setAt(next);
    bar.current?.querySelectorAll('button')[next]?.focus();
  };
  const stop = (index: number) => (index === at ? 0 : -1);
  return html`<div ref=${bar} class="toolbar" role="toolbar" aria-label="Format" aria-controls=${of} onKeyDown=${move}>
    ${MARKS.map(
      (each, index) =>
        html`<button key=${each.says} type="button" class="quiet" tabindex=${stop(index)} aria-label=${each.says} title=${each.key ? `${each.says} (Ctrl+${each.key.toUpperCase()})` : each.says} aria-keyshortcuts=${each.key ? `Control+${each.key.toUpperCase()}` : null} onFocus=${() => setAt(index)} onClick=${() => mark(each)}><span aria-hidden="true">${each.label}</span></button>`,
    )}
    <button type="button" class="quiet" tabindex=${stop(MARKS.length)} aria-pressed=${isPreviewed} aria-describedby=${hint} onFocus=${() => setAt(MARKS.length)} onClick=${preview}>Preview</button>
    <span id=${hint} class="unseen">Shows the text as readers see it.</span>
  </div>`;
};
