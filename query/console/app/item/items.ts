import { useState } from 'preact/hooks';
import { html } from '../html.ts';
import { exampleOf, kinds } from '../kinds.ts';
import { pathOfSubject } from '../names.ts';
import { Heading } from '../parts.ts';
import { go } from '../router.ts';

/** Which item somebody wants to look at: as events name it. */
export const Items = () => {
  const [isWrong, setWrong] = useState(false);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get('item')).trim();
    const path = pathOfSubject(name);
    setWrong(path === undefined);
    if (path !== undefined) go(path);
  };
  return html`
    <${Heading} title="Items" />
    <p>The whole history of one item: who changed what, and what it was at any time. Items that you see in the <a href="/console/feed">feed</a> lead there too.</p>
    <form class="filters" onSubmit=${onSubmit}>
      <label>Item <input name="item" type="text" required placeholder=${exampleOf(kinds()[1])} spellcheck="false" autocapitalize="off" aria-describedby="item-hint" aria-invalid=${isWrong} /></label>
      <button class="primary">Show its history</button>
    </form>
    <p id="item-hint" class=${isWrong ? 'wrong' : 'soft'} role=${isWrong ? 'alert' : null}>By its kind and its number: ${kinds().map((kind, index) => html`${index > 0 && ', '}<code>${exampleOf(kind)}</code>`)}.</p>`;
};
