import { describe, expect, test } from 'vitest';
import { loadConfig } from './load-config.ts';
import { ConfigError } from './read-settings.ts';

const google = {
  name: 'google',
  issuer: 'https://accounts.google.com',
  clientId: 'c',
  clientSecret: 'hunter2',
};

const given = (...entries: readonly unknown[]) =>
  loadConfig({ UPSTREAMS: JSON.stringify(entries) }).upstreams;

const problemOf = (text: string): string => {
  try {
    loadConfig({ UPSTREAMS: text });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join('\n');
    throw error;
  }
  return '';
};

describe('UPSTREAMS', () => {
  test('is empty by default, and fills in what an entry leaves out', () => {
    expect(loadConfig({}).upstreams).toEqual([]);
    expect(given(google, { ...google, name: 'github', kind: 'github', issuer: undefined })).toEqual([
      {
        ...google,
        kind: 'openid',
        label: 'google',
        scopes: ['openid', 'email', 'profile'],
        email: 'verified',
        linkByEmail: false,
        accounts: [],
      },
      expect.objectContaining({ issuer: 'https://github.com', api: 'https://api.github.com' }),
    ]);
  });

  test.each([
    ['a secret is missing', [{ ...google, clientSecret: undefined }], '“1.clientSecret” is wrong'],
    ['an issuer has no TLS', [{ ...google, issuer: 'http://id.example' }], '“1.issuer” is wrong'],
    ['a word is unknown', [{ ...google, linkByMail: true }], '“1” is wrong'],
    ['a rule has no condition', [{ ...google, accounts: [{ role: 'author' }] }], '“1.accounts.1” is wrong'],
    [
      'a rule makes administrators',
      [{ ...google, accounts: [{ role: 'admin', domains: 'any' }] }],
      '“1.accounts.1.role” is wrong',
    ],
    ['two have one name', [google, google], 'must be a JSON list'],
  ])('is refused if %s, without a value', (_why, entries, words) => {
    const problem = problemOf(JSON.stringify(entries));
    expect(problem).toContain('UPSTREAMS must be a JSON list');
    expect(problem).toContain('docs/identity-providers.md');
    expect(problem).toContain(words);
    expect(problem).not.toContain('hunter2');
  });

  test('is refused if it is no JSON, without the text', () => {
    expect(problemOf('hunter2')).toMatch(/^UPSTREAMS must be a JSON list[^2]*\.$/);
  });

  test('takes an issuer of this machine without TLS', () => {
    expect(given({ ...google, issuer: 'http://127.0.0.1:4000' })).toHaveLength(1);
  });
});
