import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeAddress, treeOf } from './tree.ts';

type Element = { readonly type: unknown; readonly props: Readonly<Record<string, unknown>> };

/** The elements as text, with everything that a browser would escape. */
const written = (node: unknown): string => {
  if (node === null || node === undefined || typeof node === 'boolean') return '';
  if (Array.isArray(node)) return node.map(written).join('');
  if (typeof node !== 'object') return String(node).replaceAll('<', '&lt;');
  const { type, props } = node as Element;
  const { children, href } = props;
  return `<${String(type)}${href === undefined ? '' : ` href=${String(href)}`}>${written(children)}</${String(type)}>`;
};
const render = (text: string): string => written(treeOf(text));

/** Every element of a tree. */
const elementsOf = (node: unknown): readonly Element[] => {
  if (Array.isArray(node)) return node.flatMap(elementsOf);
  if (typeof node !== 'object' || node === null) return [];
  return [node as Element, ...elementsOf((node as Element).props.children)];
};

test.each([
  ['One **two** *three* `four`', '<p>One <strong>two</strong> <em>three</em> <code>four</code></p>'],
  ['# Engines', '<h3>Engines</h3>'],
  ['- one\n- two', '<ul><li>one</li><li>two</li></ul>'],
  ['2. one', '<ol><li>one</li></ol>'],
  ['> one', '<blockquote><p>one</p></blockquote>'],
  ['```ts\na < b && c\n```', '<pre><code>a &lt; b && c</code></pre>'],
  ['[a](https://a.example/x)', '<p><a href=https://a.example/x>a</a></p>'],
  ['https://a.example/x', '<p><a href=https://a.example/x>https://a.example/x</a></p>'],
  ['~~a~~  \nb', '<p><del>a</del><br></br>b</p>'],
  ['a &amp; b &lt; &#169; &unknown;', '<p>a & b &lt; © &unknown;</p>'],
  ['\\*a\\*', '<p>*a*</p>'],
  ['`a <b> &amp;`', '<p><code>a &lt;b> &amp;</code></p>'],
])('%j is shown as %j', (text, expected) => {
  expect(render(text)).toBe(expected);
});

test.each([
  ['<script>alert(1)</script>', '<p>&lt;script>alert(1)&lt;/script></p>'],
  ['a <img src=x onerror=alert(1)> b', '<p>a &lt;img src=x onerror=alert(1)> b</p>'],
  ['[a](javascript:alert(1))', '<p>a</p>'],
  ['[a](JaVaScRiPt:alert(1))', '<p>a</p>'],
  ['[a](&#106;avascript:alert(1))', '<p>a</p>'],
  ['[a](java\tscript:alert(1))', '<p>[a](java\tscript:alert(1))</p>'],
  ['<javascript:alert(1)>', '<p>javascript:alert(1)</p>'],
  ['[a](data:text/html,<b>)', '<p>a</p>'],
  ['[a](/console/users/7001)', '<p>a</p>'],
  ['[a](//evil.example)', '<p>a</p>'],
  ['![a](https://evil.example/pixel.png)', '<p><a href=https://evil.example/pixel.png>a</a></p>'],
  ['![a](data:image/svg+xml,<svg/onload=alert(1)>)', '<p>a</p>'],
])('%j runs and loads nothing', (text, expected) => {
  expect(render(text)).toBe(expected);
});

test('headings skip no level, wherever the author begins', () => {
  expect(render('### a\n\n##### b\n\n### c\n\n# d\n\n> ## e')).toBe(
    '<h3>a</h3><h4>b</h4><h3>c</h3><h3>d</h3><blockquote><h4>e</h4></blockquote>',
  );
});

test('links name their address, and give the page to nobody', () => {
  const [, link] = elementsOf(treeOf('[our bank](https://evil.example "Welcome")'));
  expect(link?.props).toMatchObject({
    rel: 'noopener noreferrer nofollow ugc',
    target: '_blank',
    title: 'Welcome (https://evil.example/)',
  });
});

test('only addresses of the web and of mail are linked', () => {
  expect(safeAddress('https://a.example')).toBe('https://a.example/');
  expect(safeAddress('mailto:ada@a.example')).toBe('mailto:ada@a.example');
  for (const href of [
    'javascript:a',
    ' javascript:a',
    'vbscript:a',
    'data:,',
    'blob:https://a',
    'file:///a',
    '/a',
    '',
  ])
    expect(safeAddress(href)).toBeUndefined();
});

test('deep nesting is shown as it was written, at some level', () => {
  const deep = '> '.repeat(200);
  expect(render(`${deep}a`)).toContain('a');
  expect(elementsOf(treeOf(`${deep}a`)).length).toBeLessThan(40);
});

test('long texts freeze no page: their signs and lines beyond a limit are shown as they were written', () => {
  const signs = 'a*'.repeat(50_000);
  expect(render(signs)).toBe(`<p>${signs}</p>`);
  expect(render(`*a*\n\n${signs}\n\n*b*`)).toBe(`<p><em>a</em></p><p>${signs}</p><p>*b*</p>`);
  const lines = '1. a\n'.repeat(20_000);
  expect(elementsOf(treeOf(lines)).filter(({ type }) => type === 'li')).toHaveLength(4_000);
  expect(render(lines)).toContain('<pre>1. a\n');
  // Each of its lines would have 20,000 cells.
  const wide = `${'a|'.repeat(20_000)}\n${'-|'.repeat(20_000)}\n${'a\n'.repeat(3_900)}`;
  expect(render(wide)).toBe(`<pre>${wide}</pre>`);
});

const PIECES = [
  '<',
  '>',
  '[',
  ']',
  '(',
  ')',
  '*',
  '_',
  '`',
  '#',
  '\n',
  ' ',
  '!',
  '&',
  ';',
  ':',
  'a',
  'javascript:',
  'onload=',
  '"',
  '|',
  '-',
];
const TAGS =
  /^(?:h[3-6]|p|blockquote|pre|code|hr|ul|ol|li|div|table|thead|tbody|tr|th|td|strong|em|del|br|a)$/;

test('any text has only known elements, with no handlers', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }), (pieces) => {
      for (const { type, props } of elementsOf(treeOf(pieces.join('')))) {
        expect(String(type)).toMatch(TAGS);
        expect(Object.keys(props).filter((name) => /^on|innerHTML|^style$|^src$/i.test(name))).toEqual([]);
      }
    }),
  );
});
