import { expect, test } from 'vitest';
import { Problem } from './problem.ts';

const problem = (errors: Problem['errors']) =>
  new Problem({ code: 'invalid_request', status: 400, message: 'The request is invalid.', errors });

test('a problem has the first error of each field and parameter by its name', () => {
  const { fields } = problem([
    { pointer: '/title', detail: 'must not be empty' },
    { pointer: '/title', detail: 'must be a text' },
    { pointer: '/lines/0/amount', detail: 'must be positive' },
    { pointer: '/a~1b~0c', detail: 'is unknown' },
    { parameter: 'limit', detail: 'must be at most 100' },
    { pointer: '', detail: 'must be an object' },
    { detail: 'is wrong in another way' },
  ]);
  expect(fields).toEqual({
    title: 'must not be empty',
    'lines.0.amount': 'must be positive',
    'a/b~c': 'is unknown',
    limit: 'must be at most 100',
  });
});

test('a problem without errors has no fields, and a hostile name is only a name', () => {
  expect(problem([]).fields).toEqual({});
  const { fields } = problem([{ pointer: '/__proto__', detail: 'is unknown' }]);
  expect(Object.keys(fields)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
});
