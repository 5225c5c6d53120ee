import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { html } from '#shared/html.ts';
import { SCOPES } from '../../test/engines/policy.ts';
import { renderPage } from './page.ts';
import { inWords } from './scope-words.ts';

const page = renderPage({ title: '<Title>', main: html`<p>x</p>`, formTargets: ['https://app.example'] });

test('the policy forbids loading, running and framing, except the style by its digest', () => {
  const style = /<style>(.*)<\/style>/s.exec(page.body)?.[1] ?? '';
  const digest = createHash('sha256').update(style).digest('base64');
  expect(page.headers['Content-Security-Policy']).toBe(
    `default-src 'none'; style-src 'sha256-${digest}'; form-action 'self' https://app.example; base-uri 'none'; frame-ancestors 'none'`,
  );
});

test('a page has a language, a title, one main landmark, and no script', () => {
  expect(page.body).toMatch(/^<!doctype html>\n<html lang="en">/);
  expect(page.body).toContain('<title>&lt;Title&gt; · Annals</title>');
  expect(page.body.match(/<main>/g)).toHaveLength(1);
  expect(page.body).not.toMatch(/<script|\son\w+=|javascript:/i);
});

test('a page with a script runs only that one, by its absolute URL', () => {
  const { headers, body } = renderPage({
    title: 'x',
    main: html`<p>x</p>`,
    scriptUrl: 'https://annals.example/account/passkey.js?v=1',
  });
  expect(headers['Content-Security-Policy']).toContain(
    '; script-src https://annals.example/account/passkey.js; ',
  );
  expect(body.match(/<script/g)).toHaveLength(1);
});

test('a page is not cached and reveals its address to no other site', () => {
  expect(page.headers).toMatchObject({
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  });
});

test('every scope has a description, and scopes come in a fixed order without repetition', () => {
  for (const { scope, words } of inWords(publishing, SCOPES)) expect(words, scope).toMatch(/^[A-Z]/);
  expect(inWords(publishing, ['constructor'])).toEqual([{ scope: 'constructor', words: undefined }]);
  const asked = inWords(publishing, ['x', 'write:articles', 'openid', 'read:users', 'openid']);
  expect(asked.map(({ scope }) => scope)).toEqual(['openid', 'read:users', 'write:articles', 'x']);
  expect(asked[2]?.words).toBe('Write, change and delete articles of yours');
});
