import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html } from './html.ts';

test.each([
  ['text', html`<p>${'<script>alert(1)</script>'}</p>`, '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
  ['an attribute', html`<a title="${`" onload='x' &`}">`, '<a title="&quot; onload=&#39;x&#39; &amp;">'],
  [
    'what is made by the template',
    html`<ul>${['<1>', '2'].map((item) => html`<li>${item}</li>`)}</ul>`,
    '<ul><li>&lt;1&gt;</li><li>2</li></ul>',
  ],
  ['what is not there', html`${undefined}${null}${false}${0}${''}`, '0'],
  ['what was escaped before', html`${'&amp;'}`, '&amp;amp;'],
])('%s', (_what, made, expected) => expect(made.toString()).toBe(expected));

test('no text becomes markup', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(html`${text}`.toString()).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/);
    }),
  );
});

test('an object that looks like markup is escaped like any text', () => {
  const forged = { toString: () => '<b>' } as unknown as string;
  expect(() => html`${forged}`.toString()).toThrow();
});
