import { expect, test } from 'vitest';
import * as z from 'zod';
import * as events from '#kernel/base/events/fields.ts';
import * as values from '#kernel/base/values.ts';
import * as fields from './fields.ts';

const UPLOAD = '/uploads/8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png';
const LINES = ['two\nlines', 'two\rlines', 'a\u2028b', 'a\u2029b', 'a\tb', 'a\u0085b'];
const TURNED = ['Ada \u202egnp.exe', 'a\u2066b', 'a\u202a'];
const UNSEEN = ['\u200b', '\u200b \u2060', '\u00ad', '\ufeff', '\u3164', '\u2800', '\u{e0041}'];
const WRITTEN_SO = [
  'Ada',
  'می\u200cخواهم',
  '👩\u200d💻',
  '🏴\u{e0067}\u{e0062}\u{e007f}',
  'שלום\u200e!',
  'co\u00adoperate',
];

/** Each as commands demand it, and as events do. */
const SCHEMAS = {
  name: [fields.name, events.name],
  title: [values.demandedLine(200), values.visibleText(200)],
  cover: [values.demandedPicture, values.picture],
} as const;

test.each<[keyof typeof SCHEMAS, readonly string[], readonly string[]]>([
  ['name', WRITTEN_SO, [...LINES, ...TURNED, ...UNSEEN]],
  ['title', WRITTEN_SO, [...LINES, ...TURNED, ...UNSEEN]],
  [
    'cover',
    [UPLOAD, 'https://example.com/a.png?w=1&h=%20#x', 'http://example.com:8080/(a)'],
    [
      '/uploads/nope.png',
      '/uploads/../token?x=1',
      `${UPLOAD}?x=1`,
      UPLOAD.replace('.png', '.svg'),
      'https://user:pw@evil.example/a.png',
      'https://user@evil.example/a.png',
      'https://evil.example/"onerror=alert(1)',
      "https://evil.example/'onerror=alert(1)",
      'https://evil.example/<script>',
      'https://evil.example/\\a',
      'https://[evil/a.png',
      'https://:99999/',
    ],
  ],
])('commands demand more of a %s than events, which must stay readable', (field, accepted, refused) => {
  const [ofCommands, ofEvents] = SCHEMAS[field];
  const accepts = (value: string) => ofCommands.safeParse(value).success;
  expect(accepted.filter((value) => !accepts(value))).toEqual([]);
  expect(refused.filter(accepts)).toEqual([]);
  expect(refused.filter((value) => /\S/.test(value) && !ofEvents.safeParse(value).success)).toEqual([]);
});

test('the described pattern of a cover is as strict as its check', () => {
  const { pattern = '' } = z.toJSONSchema(values.demandedPicture);
  const matches = (value: string) => new RegExp(pattern, 'u').test(value);
  expect([UPLOAD, 'https://example.com/a.png'].filter(matches)).toHaveLength(2);
  expect(['/uploads/nope.png', 'https://a/"b', 'https://a/b c', 'ftp://a'].filter(matches)).toEqual([]);
});
