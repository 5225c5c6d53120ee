import type { Request } from 'express';
import { expect, test } from 'vitest';
import { demandMatch, versionsDemandedBy, versionsForbiddenBy } from './entity-tag.ts';

const requestWith = (name: string, value: string): Request =>
  ({ get: (asked: string) => (asked === name ? value : undefined) }) as unknown as Request;
const demanded = (value: string) => versionsDemandedBy(requestWith('If-Match', value));
const forbidden = (value: string) => versionsForbiddenBy(requestWith('If-None-Match', value));

test.each<[string, string, readonly number[] | undefined]>([
  ['a tag', '"2-aaaaaaaaaaaaaaaa"', [2]],
  ['a tag without a digest', '"2-"', [2]],
  ['a tag made weak by a proxy', 'W/"2-aaaaaaaaaaaaaaaa"', [2]],
  ['several tags', '"1-x", W/"99-y"', [1, 99]],
  ['a comma too many', ',"2-x" , ', [2]],
  ['a foreign tag, of no version', '"abc"', [-1]],
  ['the empty tag', '""', [-1]],
  ['any', ' * ', undefined],
])('If-Match may contain %s', (_, header, versions) => {
  expect(demanded(header)).toEqual(versions);
  expect(forbidden(header)).toEqual(versions ?? 'any');
});

test('without the header, nothing is demanded or forbidden', () => {
  expect([versionsDemandedBy(requestWith('', '')), versionsForbiddenBy(requestWith('', ''))]).toEqual([
    undefined,
    undefined,
  ]);
});

test.each(['abc', '"abc', '2', '"1-a" "2-b"', '"1-a", x', ',', '"a\tb"', '"1-a",'.repeat(101)])(
  '%s is malformed',
  (header) => {
    const malformed = expect.objectContaining({ code: 'malformed_request' });
    expect(() => demanded(header)).toThrow(malformed);
    expect(() => forbidden(header)).toThrow(malformed);
  },
);

test.each<[string, string | undefined, string | undefined]>([
  ['no header', undefined, undefined],
  ['any', '*', undefined],
  ['the tag', '"2-aaaaaaaaaaaaaaaa"', undefined],
  ['the tag, made weak by a proxy', 'W/"2-aaaaaaaaaaaaaaaa"', undefined],
  ['the tag of the write', '"2-"', undefined],
  ['another representation of the version', '"2-bbbbbbbbbbbbbbbb"', undefined],
  ['one of several tags', '"1-x", "2-"', undefined],
  ['another version', '"1-aaaaaaaaaaaaaaaa"', 'version_mismatch'],
  ['a foreign tag', '"abc"', 'version_mismatch'],
  ['no tag', 'abc', 'malformed_request'],
])('a read with %s in If-Match', (_, header, code) => {
  const read = () => demandMatch({ headers: { 'if-match': header } }, '"2-aaaaaaaaaaaaaaaa"', 2);
  if (code === undefined) expect(read).not.toThrow();
  else expect(read).toThrow(expect.objectContaining({ code }));
});

test('without a version, a read must name the whole tag', () => {
  const read = (header: string) => demandMatch({ headers: { 'if-match': header } }, '"0-aaaa"');
  expect(() => read('"0-aaaa"')).not.toThrow();
  expect(() => read('"0-bbbb"')).toThrow(expect.objectContaining({ code: 'version_mismatch' }));
});
