import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useApi } from '../base/asking.ts';
import { useFormKeys } from '../base/form-key.ts';
import { html } from '../base/html.ts';
import { Problem } from '../base/parts.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';
import { DECLARATION, untilServed, usePreview } from './declaration.ts';

type BesideOptions = {
  /** The change, as the server takes it. */
  readonly change: object;
  readonly kind: string;
  readonly field?: string | undefined;
  readonly action: string;
  readonly children: VNode;
};

/** A form, with the file that it writes beside it. */
export const Beside = ({ change, kind, field, action, children }: BesideOptions) => {
  const api = useApi();
  const sendOnce = useFormKeys();
  const preview = usePreview(change);
  const [doing, setDoing] = useState('');
  const [problem, setProblem] = useState<ProblemFacts>();
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (doing !== '') return;
    setProblem(undefined);
    setDoing('The declaration is checked and written …');
    try {
      await sendOnce(change, (key) => api.post(DECLARATION, change, key));
      setDoing('It is written. The server restarts …');
      // The page reads the declaration when it is loaded.
      location.assign(`/console/data/${await untilServed(api, kind, field)}`);
    } catch (error) {
      setProblem(factsOf(error));
      setDoing('');
    }
  };
  const [file] = preview.written?.files ?? [];
  return html`<div class="beside">
    <form class="form" onSubmit=${onSubmit}>
      ${children}
      <div class="tools"><button class="primary" aria-disabled=${doing !== ''}>${action}</button></div>
      <p role="status">${doing}</p>
      ${problem && html`<${Problem} problem=${problem} />`}
    </form>
    <section aria-label="The file">
      <h2>${file ? html`<code>${file.path}</code>` : 'The file'}</h2>
      <p class=${preview.problem ? 'wrong' : 'soft'} role="status">${preview.problem ? (preview.problem.detail ?? preview.problem.title) : 'This is what will be written. Afterwards the file is yours: change it by hand as you like.'}</p>
      ${file && html`<pre tabindex="0" aria-label="Its text"><code>${file.text}</code></pre>`}
    </section>
  </div>`;
};
