import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formTargetsOf } from './form-targets.ts';

test.each([
  ['an origin', 'https://app.example/cb?x=1', ['https://app.example']],
  ['a port', 'http://127.0.0.1:8123/cb', ['http://127.0.0.1:8123']],
  ['an IPv6 address, which a source cannot hold', 'http://[::1]:8123/cb', ['http:']],
  ["a native application's scheme", 'com.example.app:/cb', ['com.example.app:']],
  ['a host that would be another directive', 'https://a;script-src/cb', []],
  ['a host that would be a wildcard', 'https://*/cb', []],
  ['a script', 'javascript:alert(1)', []],
  ['data', 'data:text/html,x', []],
  ['no URL', 'x', []],
])('%s', (_what, uri, expected) => expect(formTargetsOf([uri])).toEqual(expected));

test('each target is named once, and their number is limited', () => {
  expect(formTargetsOf(['https://a.example/1', 'https://a.example/2'])).toEqual(['https://a.example']);
  expect(formTargetsOf(Array.from({ length: 100 }, (_, index) => `https://a${index}.example/`))).toHaveLength(
    20,
  );
});

test('no source can end the directive or the header', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.webUrl(),
        fc.string(),
        fc.string().map((text) => `https://${text}/`),
      ),
      (uri) => {
        for (const target of formTargetsOf([uri])) expect(target).toMatch(/^[a-z0-9+.:/-]+$/);
      },
    ),
  );
});
