import { useState } from 'preact/hooks';
import { html } from '../base/html.ts';
import { exampleOf, kinds } from '../base/kinds.ts';
import { pathOfSubject } from '../base/names.ts';
import { Heading } from '../base/parts.ts';
import { go } from '../base/router.ts';
import { pageOf, useDomain, useMe } from './domain.ts';
import { pageOfView, viewsFor } from './view.ts';

/** The lists of all kinds, and access to one item by its number. */
export const DataHome = () => {
  const domain = useDomain();
  const views = viewsFor(domain.views, useMe());
  return html`
    <${Heading} title="Data" />
    <ul class="kinds">${domain.kinds
      .filter(({ list }) => list.path !== undefined)
      .map(
        (kind) =>
          html`<li><a href=${pageOf(kind)}><strong>${kind.plural}</strong></a>${kind.says && html`<span class="soft">${kind.says}</span>`}</li>`,
      )}</ul>
    ${
      views.length > 0 &&
      html`<h2>Views</h2><ul class="kinds">${views.map(
        (view) =>
          html`<li><a href=${pageOfView(view)}><strong>${view.title}</strong></a>${view.says && html`<span class="soft">${view.says}</span>`}</li>`,
      )}</ul>`
    }
    <${ByNumber} />`;
};

/** Opens an item by its name in events. */
const ByNumber = () => {
  const [isWrong, setWrong] = useState(false);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get('item')).trim();
    const path = pathOfSubject(name);
    setWrong(path === undefined);
    if (path !== undefined) go(path);
  };
  return html`
    <h2>The history of one item</h2>
    <form class="filters" onSubmit=${onSubmit}>
      <label>Item <input name="item" type="text" required placeholder=${exampleOf(kinds()[1])} spellcheck="false" autocapitalize="off" aria-describedby="item-hint" aria-invalid=${isWrong} /></label>
      <button>Show its history</button>
    </form>
    <p id="item-hint" class=${isWrong ? 'wrong' : 'soft'} role=${isWrong ? 'alert' : null}>Kind and number, for example ${kinds().map((kind, index) => html`${index > 0 && ', '}<code>${exampleOf(kind)}</code>`)}.</p>`;
};
