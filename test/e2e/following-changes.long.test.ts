import { execFileSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { type Example, startExample } from '../engines/example.ts';
import { commandOf, openFollowing } from '../engines/following.ts';
import { sharedTest } from '../engines/installation-fixture.ts';

/** Follows the instructions of docs/changes.md for programs. */

const test = sharedTest
  .extend('following', { scope: 'file' }, async ({ installation }, { onCleanup }) => {
    const following = await openFollowing(installation);
    onCleanup(() => following[Symbol.asyncDispose]());
    return following;
  })
  .extend('start', { scope: 'file' }, ({ following }) => (command: string, after: string): Example => {
    return startExample(`${commandOf(command)} ${after}`, following.environment);
  });

test('every example is on a page, by itself or by its folder', () => {
  const root = join(import.meta.dirname, '../..');
  const examples = readdirSync(join(root, 'docs/examples'));
  const pages = globSync('docs/*.md', { cwd: root })
    .map((page) => readFileSync(join(root, page), 'utf8'))
    .join('');
  expect(examples.length).toBeGreaterThan(5);
  expect(examples.filter((name) => !pages.includes(`](examples/${name}`))).toEqual([]);
});

const DEADLINE_MS = 60_000;

const untilPrinted = async (example: Example, count: number): Promise<void> => {
  await until(
    () => ({ printed: example.cursors().length, complaints: example.complaints() }),
    ({ printed }) => printed >= count,
    DEADLINE_MS,
  );
};

const hasPython = (): boolean => {
  try {
    return execFileSync('python3', ['--version']).length > 0;
  } catch {
    console.warn('docs/examples/follow.py is not run, because there is no python3.');
    return false;
  }
};

const COMMANDS = [
  'bash docs/examples/curl.sh',
  'node docs/examples/graphql-sse.js',
  'node docs/examples/apollo-client.js',
  ...(hasPython() ? ['python3 docs/examples/follow.py'] : []),
];

describe.each(COMMANDS)('%s', (command) => {
  test('prints published articles, resumes after an interruption, and, restarted, after the last one', async ({
    following,
    start,
  }) => {
    const { publishing, network, publishedAfter } = following;
    const from = await publishing.cursor();
    await publishing.publish('One');
    const example = start(command, from);
    let count = 1;
    try {
      await untilPrinted(example, count);
      for (const cut of [network.cut, () => network.cutWithin('article.published')]) {
        const complained = example.complaints().length;
        cut();
        await publishing.publish('Cut off');
        await until(network.isCut, Boolean);
        await publishing.publish('Meanwhile');
        await until(example.complaints, (text) => text.length > complained, DEADLINE_MS);
        network.mend();
        await publishing.publish('Afterwards');
        count += 3;
        await untilPrinted(example, count);
      }
    } finally {
      network.mend();
      await example.kill();
    }
    const received = example.cursors();
    expect(received).toEqual(await publishedAfter(from));
    await publishing.publish('Meanwhile');
    await using again = start(command, received.at(-1) ?? '');
    await publishing.publish('Last');
    await untilPrinted(again, 2);
    expect([...received, ...again.cursors()]).toEqual(await publishedAfter(from));
  });
});

test.for(COMMANDS.filter((command) => command.startsWith('node')))(
  '%s misses no event that happened before it received the first',
  async (command, { following, start }) => {
    const { publishing, network, publishedAfter } = following;
    await using example = start(command, '');
    const said = await until(example.complaints, (text) => text.endsWith('\n'), DEADLINE_MS);
    network.cut();
    try {
      await publishing.publish('Early');
      await until(example.complaints, (text) => text.length > said.length, DEADLINE_MS);
    } finally {
      network.mend();
    }
    await untilPrinted(example, 1);
    expect(example.cursors()).toEqual(await publishedAfter(said.trim().split(' ')[1] ?? ''));
  },
);

test('all of them get a new token when theirs has expired', async ({ following, start }) => {
  const { publishing, endTokens, publishedAfter } = following;
  const from = await publishing.cursor();
  await using running = new AsyncDisposableStack();
  const examples = COMMANDS.map((command) => running.use(start(command, from)));
  await publishing.publish('By the first token');
  for (const example of examples) await untilPrinted(example, 1);
  await endTokens();
  for (const example of examples)
    await until(example.complaints, (text) => text.includes('was revoked'), DEADLINE_MS);
  await publishing.publish('By the second');
  for (const example of examples) await untilPrinted(example, 2);
  const published = await publishedAfter(from);
  expect(examples.map((example) => example.cursors())).toEqual(examples.map(() => published));
});
