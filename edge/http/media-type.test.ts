import { expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { demandPreferredType, preferredType } from './media-type.ts';

const JSON_TYPE = 'application/json';
const HAL_TYPE = 'application/hal+json';
const HTML_TYPE = 'text/html';
const TYPES = [JSON_TYPE, HAL_TYPE, HTML_TYPE] as const;

test.each<[accept: string | undefined, preferred: string | undefined]>([
  [undefined, JSON_TYPE],
  ['', JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['application/json', JSON_TYPE],
  ['application/hal+json', HAL_TYPE],
  ['application/json; charset=utf-8', JSON_TYPE],
  ['application/json;charset="utf-8"', JSON_TYPE],
  ['Application/JSON ; q=0.5', JSON_TYPE],
  ['application/hal+json; profile="https://example.com/a,b;q=0"', HAL_TYPE],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', HTML_TYPE],
  ['application/json, application/hal+json', JSON_TYPE],
  ['application/hal+json, application/json', HAL_TYPE],
  ['application/*', JSON_TYPE],
  ['application/*, text/html', HTML_TYPE],
  ['application/json;q=0.1, application/hal+json;q=0.2', HAL_TYPE],
  ['application/json;q=0, */*', HAL_TYPE],
  ['application/json;level=1;q=0.1, application/json;q=0.9, text/html;q=0.5', JSON_TYPE],
  ['application/json;q=nonsense', JSON_TYPE],
  ['application/json;q=0', undefined],
  ['*/*;q=0', undefined],
  ['text/plain', undefined],
  ['nonsense', undefined],
  [',,;', undefined],
  ['"application/json"', undefined],
  ['text/*;q=0.1, nonsense', HTML_TYPE],
])('of %j, %s', (accept, preferred) => {
  expect(preferredType({ headers: { accept } }, TYPES)).toBe(preferred);
});

test('a request that accepts no offered type is refused', () => {
  const headers = { accept: 'text/plain' };
  expect(() => demandPreferredType({ headers }, TYPES)).toThrow(
    expect.objectContaining({ code: 'not_acceptable' }),
  );
});

test.each(['"', '"\\"', ',', ';', ';q='])('a header full of %s does not take long', (piece) => {
  const headers = { accept: `${piece.repeat(20_000)}\\` };
  const begun = performance.now();
  preferredType({ headers }, TYPES);
  expect(performance.now() - begun).toBeLessThan(scaled(500));
});
