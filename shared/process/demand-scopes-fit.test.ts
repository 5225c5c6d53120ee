import { expect, test } from 'vitest';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';
import { assemble } from '#kernel/registry/assemble.ts';
import { loadConfig } from './config.ts';
import { demandScopesFit } from './demand-scopes-fit.ts';

const domainOf = (aggregates: number) => {
  const base = domain({ name: 'large', roles: ['clerk'] });
  return assemble(
    base,
    Array.from({ length: aggregates }, (_, index) =>
      base.aggregate(`contractAmendment${index}`, {
        fields: { title: line(10) },
        events: { made: { creates: ['title'] } },
        commands: { make: { emits: 'made' } },
        rights: { read: { signedIn: true }, write: { clerk: true } },
      }),
    ),
  );
};
const { headerBytesMax } = loadConfig({}).limits;

test('by default, tokens of two hundred aggregates fit into a request', () => {
  expect(() => demandScopesFit(domainOf(200), headerBytesMax)).not.toThrow();
});

test('refuses to start if a token of all scopes does not fit into a request', () => {
  expect(() => demandScopesFit(domainOf(60), 4_096)).toThrow(
    /^HEADER_BYTES_MAX is 4096, but a request with a token of all 1\d\d scopes of large may have \d+ bytes/,
  );
});

test('refuses to start with more scopes than a token can have', () => {
  expect(() => demandScopesFit(domainOf(1_001), 1_000_000)).toThrow(
    /^large has 20\d\d scopes, but a token can have at most 2000/,
  );
});
