import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRange } from './address.ts';
import { checkUrl, type GuardRules } from './check-url.ts';

const STRICT: GuardRules = { allowed: [], ports: new Set([80, 443]) };
const AT_HOME: GuardRules = {
  allowed: ['127.0.0.0/8', '::1'].flatMap((text) => parseRange(text) ?? []),
  ports: 'any',
};

test.each([
  'https://example.com/hooks?a=b',
  'http://example.com',
  'http://example.com:80/',
  'https://example.com:443/',
  'http://example.com:443/',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://bücher.example/',
  'https://127.0.0.1.example.com/',
  'https://localhost.example.com/',
])('%s is allowed', (url) => {
  expect(checkUrl(url, STRICT)).toBeUndefined();
});

test.each([
  ['decimal', 'http://2130706433/'],
  ['octal', 'http://0177.0.0.1/'],
  ['octal, whole', 'http://017700000001/'],
  ['hexadecimal', 'http://0x7f000001/'],
  ['hexadecimal, in part', 'http://0x7f.0.0x0.1/'],
  ['short', 'http://127.1/'],
  ['shorter', 'http://0/'],
  ['encoded', 'http://%31%32%37.0.0.1/'],
  ['wide digits', 'http://１２７.０.０.１/'],
  ['circled digits', 'http://①②⑦.⓪.⓪.①/'],
  ['an ideographic full stop', 'http://127。0。0。1/'],
  ['a dot behind', 'http://127.0.0.1./'],
  ['a dot behind a decimal number', 'http://2130706433./'],
  ['backslashes', 'http:\\\\127.0.0.1\\'],
  ['no slashes', 'http:127.0.0.1'],
  ['mapped', 'http://[::ffff:127.0.0.1]/'],
  ['mapped, in hexadecimal', 'http://[::ffff:7f00:1]/'],
  ['compatible', 'http://[::7f00:1]/'],
  ['NAT64', 'http://[64:ff9b::7f00:1]/'],
  ['6to4', 'http://[2002:7f00:1::]/'],
  ['Teredo', 'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/'],
  ['the long form', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]/'],
  ['a metadata service', 'http://169.254.169.254/latest/meta-data/'],
  ['localhost', 'http://localhost/'],
  ['localhost in capitals', 'http://LOCALHOST/'],
  ['localhost with a dot', 'http://localhost./'],
  ['below localhost', 'http://a.b.localhost/'],
])('a private address is refused in any notation: %s', (_, url) => {
  expect(checkUrl(url, STRICT)).toMatch('not to a private one');
});

test.each([
  ['no URL', 'example.com'],
  ['nothing', ''],
  ['a zone', 'http://[fe80::1%25eth0]/'],
  ['a zone, not encoded', 'http://[fe80::1%eth0]/'],
  ['another scheme', 'ftp://example.com/'],
  ['a file', 'file:///etc/passwd'],
  ['gopher', 'gopher://example.com/'],
  ['data', 'data:text/plain,x'],
  ['a socket', 'unix:/var/run/docker.sock'],
  ['white space', 'https://example.com/ a'],
  ['a line break that the parser would leave out', 'https://exam\nple.com/'],
  ['a control character', 'https://example.com/\u0000'],
  ['an address that is too long', 'http://1.2.3.4.5/'],
  ['a number that is too large', 'http://4294967296/'],
])('%s is refused', (_, url) => {
  expect(checkUrl(url, STRICT)).toBe('Must be an http or https URL.');
});

test.each([
  'https://user@example.com/',
  'https://user:password@example.com/',
  'https://:password@example.com/',
])('%s is refused', (url) => {
  expect(checkUrl(url, STRICT)).toMatch('user name');
});

test.each([
  'http://example.com:8080/',
  'https://example.com:22/',
  'http://example.com:0/',
  'http://example.com:6379/',
])('another port is refused: %s', (url) => {
  expect(checkUrl(url, STRICT)).toMatch('80, 443');
  expect(checkUrl(url, AT_HOME)).toBeUndefined();
});

test.each([
  'http://127.0.0.1:8080/',
  'http://127.1/',
  'http://[::1]:8080/',
  'http://[::ffff:127.0.0.1]/',
  'http://localhost:8080/',
])('what the operator allows is allowed: %s', (url) => {
  expect(checkUrl(url, AT_HOME)).toBeUndefined();
});

test.each(['http://10.0.0.1/', 'http://[::7f00:1]/', 'http://[fe80::1]/', 'http://0.0.0.0/'])(
  'and no neighbouring one: %s',
  (url) => {
    expect(checkUrl(url, AT_HOME)).toMatch('not to a private one');
  },
);

test('the notation of an IPv4 address makes no difference', () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const write = [
    (n: number) => `${n}`,
    (n: number) => `0${n.toString(8)}`,
    (n: number) => `0x${n.toString(16)}`,
  ];
  const form = fc.constantFrom(...write);
  fc.assert(
    fc.property(
      fc.tuple(byte, byte, byte, byte),
      fc.tuple(form, form, form, form),
      fc.integer({ min: 1, max: 4 }),
      (bytes, forms, parts) => {
        // The last part stands for all bytes that are left.
        const last = bytes.slice(parts - 1).reduce((sum, each) => sum * 256 + each, 0);
        const numbers = [...bytes.slice(0, parts - 1), last];
        const host = numbers.map((number, index) => forms[index]?.(number)).join('.');
        expect(checkUrl(`http://${host}/`, STRICT)).toBe(checkUrl(`http://${bytes.join('.')}/`, STRICT));
      },
    ),
  );
});
