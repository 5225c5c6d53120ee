import { useEffect, useState } from 'preact/hooks';
import { html } from '../base/html.ts';

type Parser = typeof import('./tree.ts');

/** Loaded by the first page that shows Markdown. */
let parser: Promise<Parser> | undefined;
let loaded: Parser | undefined;

const load = async (): Promise<Parser | undefined> => {
  parser ??= import('./tree.ts');
  try {
    loaded = await parser;
  } catch {
    // The text is shown as it was written; the next page tries once more.
    parser = undefined;
  }
  return loaded;
};

const useParser = (): Parser | undefined => {
  const [there, setThere] = useState(loaded);
  useEffect(() => {
    if (there !== undefined) return;
    let isHere = true;
    void load().then((found) => isHere && setThere(found));
    return () => {
      isHere = false;
    };
  }, [there]);
  return there;
};

/** A text in Markdown, as its author meant it. */
export const Markdown = ({ text }: { readonly text: string }) => {
  const there = useParser();
  const tree = there && rendered(there, text);
  return tree === undefined
    ? html`<span class="prose" dir="auto">${text}</span>`
    : html`<div class="prose markdown">${tree}</div>`;
};

const rendered = ({ treeOf }: Parser, text: string) => {
  try {
    return treeOf(text);
  } catch {
    return undefined;
  }
};
