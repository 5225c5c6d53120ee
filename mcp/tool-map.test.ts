import { expect, test } from 'vitest';
import { expenses } from '../examples/expenses/domain/domain.ts';
import { toolMapOf } from './tool-map.ts';
import { toolsOf } from './tools.ts';

const url = 'https://annals.example';
const tools = toolsOf({ domain: expenses, publicUrl: url, issuerUrl: url, requireIfMatch: false });
const find = toolMapOf(tools);

test('each tool is found by its path, with the arguments in it', () => {
  expect(tools.length).toBeGreaterThan(20);
  for (const tool of tools) {
    const { method, path } = tool.operation;
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const asked = path.replaceAll(/\{\w+\}/g, '8001');
    for (const prefix of ['', '/api']) {
      const found = find(method, `${prefix}${asked}`);
      expect({ path, name: found?.tool.name }).toEqual({ path, name: tool.name });
      expect(Object.keys(found?.given ?? {})).toEqual(names);
    }
  }
});

test.each([
  ['GET', '/claims/'],
  ['GET', '/claims/%'],
  ['GET', '/claims/%ff'],
  ['GET', '/claims/7/'],
  ['GET', '/claims//items'],
  ['GET', '/api'],
  ['GET', ''],
  ['GET', 'claims'],
  ['TRACE', '/claims'],
  ['GET', '/__proto__'],
  ['GET', `/claims${'/7'.repeat(5_000)}`],
])('%s %s is no tool', (method, path) => {
  expect(find(method, path)).toBeUndefined();
});

test('a number is an argument of its type, unless it would not be exact', () => {
  expect(find('GET', '/claims/7')?.given).toEqual({ claimId: 7 });
  expect(find('GET', '/claims/9007199254740993')?.given).toEqual({ claimId: '9007199254740993' });
});
