import { expect, test } from 'vitest';
import { sectionsOf } from './sections.ts';

const PAGE = { path: '/docs/guides/changes', title: 'Changes' };

test('a page is split at its headings, each with its address and its text without markup', () => {
  const html = `<h1 id="changes">Following <em>changes</em></h1><p>Begin &amp; go on.</p>
<h2 id="resume">Resume <a class="anchor" href="#resume" aria-label="Link to “Resume”">#</a></h2><pre><code>curl &lt;url&gt;</code></pre>`;
  expect(sectionsOf(PAGE, html)).toMatchObject([
    {
      path: '/docs/guides/changes#changes',
      page: 'Changes',
      heading: 'Following changes',
      text: 'Begin & go on.',
    },
    {
      path: '/docs/guides/changes#resume',
      page: 'Changes',
      heading: 'Resume',
      text: 'curl <url>',
      start: 'curl <url>',
    },
  ]);
});

test('a heading without an address belongs to the part before, and long names are whole words', () => {
  const found = sectionsOf(
    PAGE,
    '<h1>GraphQL</h1><p>/articles/<wbr>{id}</p><h2 id="Query.me">me</h2>Yours.<h4>As it is</h4>Told.',
  );
  expect(found).toMatchObject([
    { path: '/docs/guides/changes', heading: 'GraphQL', text: '/articles/{id}' },
    { path: '/docs/guides/changes#Query.me', heading: 'me', text: 'Yours. As it is Told.' },
  ]);
  expect(new Set(found.map(({ id }) => id)).size).toBe(2);
});
