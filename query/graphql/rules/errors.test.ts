import { GraphQLError } from 'graphql';
import { expect, it } from 'vitest';
import { Rejection } from '#kernel/base/rejection.ts';
import { captureLog } from '../../../test/serve.ts';
import { createFormatError } from './errors.ts';

const located = (originalError: Error): GraphQLError =>
  new GraphQLError(originalError.message, { path: ['users', 0], originalError });

it('an unexpected error is masked, and logged in full under the id that the client gets', () => {
  const { log, logged } = captureLog();
  const shown = createFormatError(log, { requestId: 'request-1' })(located(new Error('password is hunter2')));
  expect(shown).toEqual({
    message: 'Something went wrong on our side.',
    path: ['users', 0],
    extensions: { code: 'internal', requestId: 'request-1' },
  });
  expect(logged()).toContain('hunter2');
  expect(logged()).toContain('request-1');
});

it('refusals have the codes of REST and are not logged', () => {
  const { log, logged } = captureLog();
  const format = createFormatError(log, { requestId: 'request-1' });
  expect(format(located(new Rejection('version_mismatch', { version: 3 })))).toEqual({
    message: 'The item has changed since the version that the request names.',
    path: ['users', 0],
    extensions: { code: 'version_mismatch', details: { version: 3 } },
  });
  expect(
    format(
      located(new GraphQLError('Its own.', { extensions: { code: 'not_yet_visible', committed: true } })),
    ),
  ).toMatchObject({
    message: 'Its own.',
  });
  expect(logged()).toBe('');
});
