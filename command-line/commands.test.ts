import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { GROUPS, groupsOf, loadGroup } from './commands.ts';
import { REPLACED } from './replaced.ts';

test('each command has the words by which it is called, and a word belongs to one group', async () => {
  const groups = new Map<string, string>();
  for (const { name: group, commands } of GROUPS)
    for (const [name, { load }] of commands) {
      expect((await load()).name).toBe(name);
      const [word = ''] = name.split(' ');
      expect(groups.get(word) ?? group, `the group of ${word}`).toBe(group);
      groups.set(word, group);
    }
});

test('a group has a name of its own: that of a word of other commands would hide it', () => {
  expect(new Set(GROUPS.map(({ name }) => name)).size).toBe(GROUPS.length);
  for (const { name, commands } of GROUPS) {
    const others = GROUPS.filter((group) => group.commands !== commands);
    const words = others.flatMap((group) => [...group.commands.keys()].map((each) => each.split(' ')[0]));
    expect(words).not.toContain(name);
  }
});

test('a former command is none of today, and its successor is an operation', () => {
  const names = GROUPS.flatMap(({ commands }) => [...commands.keys()]);
  for (const [former, now] of REPLACED) {
    expect(names).not.toContain(former);
    expect(now).toMatch(/^api \w+/);
  }
});

test('texts are in the words of the domain', async () => {
  for (const group of groupsOf(publishing))
    for (const { summary, examples } of await loadGroup(group, publishing))
      expect([summary, ...examples].join(' ')).not.toMatch(/\{(?:kind|path|role|event)\}/);
});
