import { expect, test } from 'vitest';
import { clientIdOrAddress } from './settings.ts';

const isTaken = (id: string): boolean => clientIdOrAddress.safeParse(id).success;

test('blocks the address of a document in the spelling of documents alone', () => {
  expect(isTaken('https://agent.example/client.json')).toBe(true);
  expect(isTaken('https://agent.example:8443/client.json')).toBe(true);
  expect(isTaken('reading-list')).toBe(true);
  // No document has such an id, so blocking it would stop nobody.
  for (const id of [
    'https://agent.example:443/client.json',
    'https://agent.example/a/../client.json',
    'https://AGENT.example/client.json',
    'http://agent.example/client.json',
    `https://agent.example/${'a'.repeat(128)}`,
  ])
    expect(isTaken(id), id).toBe(false);
});
