import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { callAt } from '../test/engines/call-line.ts';

const call = (...args: readonly string[]) => callAt({}, args);

const { output: script } = await call('completion', 'bash');

const completed = (...words: readonly string[]): readonly string[] => {
  const typed = words.map((word) => `'${word}'`).join(' ');
  const asking = `${script}\nCOMP_WORDS=(annals ${typed}); COMP_CWORD=${words.length}; _annals; echo "\${COMPREPLY[*]}"`;
  return execFileSync('bash', ['-c', asking], { encoding: 'utf8' }).trim().split(' ');
};

test.each([
  [['lo'], ['log']],
  [['log', 's'], ['show']],
  [['help', 'log', 't'], ['tail']],
  [['help', 'lo'], ['log']],
  [['log', 'tail', '--fo'], ['--follow']],
  [['log', 'tail', '--from', '3', '--fo'], ['--follow']],
  [['timers', '--j'], ['--json']],
  [
    ['api', 'listArt'],
    ['listArticles', 'listArticlesOfUser', 'listArticleHistory'],
  ],
  [['api', 'createUser', '--em'], ['--email']],
  [['nothing', ''], ['']],
])('bash completes %j by %j', (words, expected) => {
  expect(completed(...words)).toEqual(expected);
});

test('it offers each first word, and each command of a word', async () => {
  expect(completed('')).toEqual(
    expect.arrayContaining(['help', 'log', 'audit', 'projection', 'demo', 'completion']),
  );
  expect(completed('projection', '')).toEqual([
    'status',
    'rebuild',
    'rollback',
    'parked',
    'retry',
    'release',
  ]);
});

test('zsh gets the script of bash, fish its own with each command’s summary, and any other shell an error', async () => {
  expect((await call('completion', 'zsh')).output).toBe(
    `autoload -U +X bashcompinit && bashcompinit\n${script}`,
  );
  const { output: fish } = await call('completion', 'fish');
  expect(fish).toContain(
    "complete -c annals -f -n '__fish_seen_subcommand_from log' -a tail -d 'Prints the last events of the log;",
  );
  expect(await call('completion', 'sh')).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining('<shell> must be bash, zsh, fish'),
  });
});
