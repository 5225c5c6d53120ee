import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Html } from '#shared/html.ts';
import { textIn } from '../page/text-in.ts';
import { codeBlock, commandBlock, isHighlighted, outputBlock } from './block.ts';

const shownIn = (block: Html): string => textIn(block.toString());

test('code keeps its text, and markup in it is escaped', () => {
  const text = `const page = '<b>' + "&" + "it's";`;
  expect(shownIn(codeBlock(text, 'ts'))).toBe(text);
  expect(codeBlock(text, 'ts').toString()).not.toContain('<b>');
  expect(codeBlock(text, 'ts').toString()).toContain('<span class="hljs-keyword">const</span>');
  expect(codeBlock('<b>', 'no-such-language').toString()).toContain('<code>&lt;b&gt;</code>');
});

test('each command has a prompt, which is not part of its text', () => {
  const text = [
    'API=http://localhost:4000',
    'curl -s $API/articles \\',
    '  -d \'{"title":"One"}\'',
    '# A comment.',
    "cat > file <<'END'",
    'first',
    'END',
    "echo 'one",
    "two' | wc -l",
    '',
    'npm start',
  ].join('\n');
  const block = commandBlock(text);
  expect(shownIn(block)).toBe(text);
  const prompted = block
    .toString()
    .split('\n')
    .filter((line) => line.includes('class="prompt"'))
    .map(textIn);
  expect(prompted).toEqual([
    'API=http://localhost:4000',
    'curl -s $API/articles \\',
    "cat > file <<'END'",
    "echo 'one",
    'npm start',
  ]);
});

test.each([
  ['{"id":…}', 'hljs-'],
  ['HTTP/1.1 200 OK\nETag: "1-"', 'hljs-'],
  ['Proven, up to position …', 'Proven'],
])('the output %j is distinguished from commands', (text, part) => {
  const block = outputBlock(text);
  expect(shownIn(block)).toBe(text);
  expect(block.toString()).toMatch(/^<pre class="output"/);
  expect(block.toString()).toContain(part);
});

/** Plain text, and diagrams that GitHub draws. */
const PLAIN = ['text', 'mermaid'];

test('every block of code in docs/ names its language', () => {
  const docs = new URL('../../docs/', import.meta.url);
  const unknown = readdirSync(docs)
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => {
      const fences = [...readFileSync(new URL(name, docs), 'utf8').matchAll(/^ *```(.*)$/gm)].map(
        ([, info = '']) => info,
      );
      const languages = fences.filter((_, index) => index % 2 === 0).map((info) => info.split(' ')[0] ?? '');
      return languages
        .filter((each) => !PLAIN.includes(each) && !isHighlighted(each))
        .map((each) => `${name}: “${each}”`);
    });
  expect(unknown).toEqual([]);
});
